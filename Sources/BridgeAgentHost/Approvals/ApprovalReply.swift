/// The answer to a request that was canceled, for a protocol that requires one.
public enum ApprovalReply: Sendable, Hashable, Codable {
  /// A result, a JSON value.
  case result(String)
  /// A JSON-RPC error.
  case error(code: Int, message: String)
}
