import BridgeErrors
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// Answers to requests.
enum Answers {
  private struct Problem: Encodable {
    var error: String
  }

  static func json(
    _ value: some Encodable, _ status: HTTPResponse.Status = .ok
  ) -> Response {
    data(JSON.data(value), "application/json", status)
  }

  static func data(
    _ data: some Collection<UInt8>, _ type: String, _ status: HTTPResponse.Status = .ok
  ) -> Response {
    Response(
      status: status, headers: [.contentType: type],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
  }

  /// A refusal, with its sentence.
  static func refusal(_ refusal: RequestRefusal) -> Response {
    var response = json(
      Problem(error: refusal.message), HTTPResponse.Status(code: refusal.status))
    response.headers[.retryAfter] = refusal.retryAfter.map { "\($0)" }
    return response
  }

  /// What a call of ours threw.
  static func refusal(for error: AppError) -> RequestRefusal {
    let status =
      switch error {
      case .validationError: 422
      case .agentTakenOver: 409
      case .storeUnusable, .cancelled: 503
      default: 500
      }
    return RequestRefusal(status, error.shownMessage())
  }
}

extension Request {
  /// The body as a value; at most `limit` bytes are read.
  func value<Value: Decodable>(
    of type: Value.Type, limit: Int
  ) async throws -> Value {
    if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
      throw RequestRefusal(413, "The body has more than \(limit) bytes.")
    }
    var data: [UInt8] = []
    do {
      for try await part in body where data.count <= limit { data += part.readableBytesView }
    } catch {
      throw RequestRefusal(400, "The body has ended early.")
    }
    if data.count > limit { throw RequestRefusal(413, "The body has more than \(limit) bytes.") }
    do {
      return try JSONDecoder().decode(type, from: Data(data))
    } catch {
      throw RequestRefusal(400, "The body is no JSON of the form that this request takes.")
    }
  }
}
