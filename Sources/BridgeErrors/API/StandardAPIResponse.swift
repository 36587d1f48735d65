#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The answer of every route of the contract: an envelope or a `T`, never a guess.
public struct StandardAPIResponse<T: Decodable>: APIResponse {
  /// What a good answer holds.
  public typealias SuccessType = T

  /// The success, or the server's error by case (S4-16).
  public static func decode(
    from data: Data, statusCode: Int
  ) throws(DecodingError) -> Result<T, APIError> {
    try decodeDetailed(from: data, statusCode: statusCode).mapError(\.error)
  }

  /// The success, or the server's error with all it said.
  ///
  /// Outside 200…299 this is always a failure, whatever the body holds (G-30); inside, an envelope
  /// still is one (S4-11).
  public static func decodeDetailed(
    from data: Data, statusCode: Int
  ) throws(DecodingError) -> Result<T, APIFailure> {
    if let failure = failure(in: data, statusCode: statusCode) { return .failure(failure) }
    return .success(try success(in: data))
  }

  /// What the server reported, nil where it reported none: the first two steps of the order.
  public static func failure(in data: Data, statusCode: Int) -> APIFailure? {
    let isSuccess = (200...299).contains(statusCode)
    let looksForEnvelope = !(isSuccess && T.self is any HasOwnErrorField.Type)
    if looksForEnvelope,
      let response = try? JSONDecoder.apiDecoder.decode(ErrorResponse.self, from: data)
    {
      return APIFailure(response: response, statusCode: statusCode)
    }
    return isSuccess ? nil : APIFailure(statusCode: statusCode, body: data)
  }

  /// The success in `data`: the last step, for a body in which `failure(in:statusCode:)` found
  /// nothing. An empty body is a `NoContent`.
  public static func success(in data: Data) throws(DecodingError) -> T {
    if data.isEmpty, let empty = NoContent() as? T { return empty }
    do {
      return try JSONDecoder.apiDecoder.decode(T.self, from: data)
    } catch let error as DecodingError {
      throw error
    } catch {
      throw .dataCorrupted(
        .init(codingPath: [], debugDescription: "The body was refused.", underlyingError: error))
    }
  }
}
