public import Foundation

/// An answer that is looked at in the order status, error, success (S4-06…S4-08, S4-15).
public protocol APIResponse {
  /// What a good answer holds.
  associatedtype SuccessType: Decodable
  /// The success, or the error the server reported. Throws the `DecodingError` of a success body
  /// that is not a `SuccessType`.
  static func decode(
    from data: Data, statusCode: Int
  ) throws -> Result<SuccessType, APIError>
}

/// Marks a success type that has an `error` object of its own: in a 2xx answer it is not taken for
/// an envelope (G-35).
public protocol HasOwnErrorField {}

/// A success whose content does not matter: any object, or no body at all.
public struct NoContent: Codable, Sendable, Equatable {
  /// Nothing.
  public init() {}
}

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
