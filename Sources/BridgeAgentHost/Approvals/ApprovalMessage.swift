import FoundationEssentials

/// A JSON-RPC message with a method: its parts, as they were written.
struct ApprovalMessage: Sendable {
  /// What a request asks, in the words of no protocol.
  struct Question {
    var scope = ""
    var title: String
    var options: [ApprovalOption]
    var form: ApprovalForm?
  }

  /// Why its parameters are not those of its method.
  struct Unreadable: Error {
    var detail: String
  }

  let method: String
  let hasVersion: Bool
  let parameters: ArraySlice<UInt8>?
  private let id: ArraySlice<UInt8>?
  /// A member that is there twice: another reader of the line could take the other one.
  private let doubled: String?

  /// The message of these members; nil where they have no method.
  init?(of members: [JSONText.Member]) {
    func value(_ name: String) -> ArraySlice<UInt8>? { members.first { $0.name == name }?.value }
    guard let method = value("method").flatMap({ JSONText.string($0) }) else { return nil }
    self.method = method
    hasVersion = value("jsonrpc") != nil
    parameters = value("params")
    id = value("id")
    doubled = ["id", "method", "params"].first { name in
      members.count(where: { $0.name == name }) > 1
    }
  }

  /// The id of the request, byte for byte.
  func requestID() throws(ApprovalAdapter.Problem) -> String {
    if let doubled { throw problem("\(doubled): there twice") }
    guard let id else { throw problem("id: missing") }
    return try Self.id(id, orElse: problem("id: neither a string nor a number"))
  }

  /// The id of the request that a cancellation is about, byte for byte.
  func canceledID() throws(ApprovalAdapter.Problem) -> String {
    let members = parameters.flatMap { try? JSONText.members(of: $0) } ?? []
    let ids = members.filter { $0.name == "requestId" }
    guard let id = ids.first?.value, ids.count == 1 else { throw problem("requestId: missing") }
    return try Self.id(id, orElse: problem("requestId: neither a string nor a number"))
  }

  private static func id(
    _ bytes: ArraySlice<UInt8>, orElse problem: ApprovalAdapter.Problem
  ) throws(ApprovalAdapter.Problem) -> String {
    guard JSONText.isID(bytes), let text = String(validating: bytes, as: UTF8.self) else {
      throw problem
    }
    return text
  }

  private func problem(_ detail: String) -> ApprovalAdapter.Problem {
    ApprovalAdapter.Problem(type: method, detail: detail)
  }

  /// Its parameters as a value.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let parameters else { throw Unreadable(detail: "params: missing") }
    return try JSONDecoder().decode(type, from: Data(parameters))
  }

  /// Why an error of `decode` came about.
  static func words(of error: any Error) -> String {
    if let error = error as? Unreadable { return error.detail }
    guard let error = error as? DecodingError else { return "params: no JSON" }
    let (path, reason): ([any CodingKey], String)
    switch error {
    case .keyNotFound(let key, let context):
      (path, reason) = (context.codingPath + [key], "missing")
    case .valueNotFound(_, let context): (path, reason) = (context.codingPath, "missing")
    case .typeMismatch(_, let context): (path, reason) = (context.codingPath, "of another type")
    case .dataCorrupted(let context): (path, reason) = (context.codingPath, "no such value")
    @unknown default: (path, reason) = ([], "unreadable")
    }
    return "\((["params"] + path.map(\.stringValue)).joined(separator: ".")): \(reason)"
  }
}
