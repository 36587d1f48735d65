import BridgeErrors
import CLibWebSockets
import FoundationEssentials

/// The server's answer to the upgrade request, read before the library evaluates and forgets it.
extension WebSocketCallback {
  /// The limit on a refusal's body, in bytes.
  private static let bodyLimit = 64 << 10
  /// The limit on its shown text, in bytes.
  private static let lineLimit = 512
  /// So many reads in a row may bring nothing of a body: one may end with the size of a chunk.
  private static let emptyReads = 3

  func readAnswer() {
    let status = Int(unsafe lws_http_client_http_response(connection))
    var answer = WebSocketFacts.Answer(status: status)
    answer.subprotocol = header(WSI_TOKEN_PROTOCOL)
    // In any other answer it says where something was made (RFC 9110, 10.2.2).
    if (300..<400).contains(status) { answer.location = header(WSI_TOKEN_HTTP_LOCATION) }
    answer.retryAfter = header(WSI_TOKEN_HTTP_RETRY_AFTER)
      .flatMap { RetryAfter.secondsFromNow($0) }
    if status != 101 {
      // The library forgets the headers with the end of the body.
      let isPlain =
        header(WSI_TOKEN_HTTP_CONTENT_TYPE)?.lowercased().hasPrefix("text/plain") == true
      drainBody()
      answer.message =
        Self.message(in: webSocket.body, status: status) ?? (isPlain ? firstLine : nil)
    }
    webSocket.answered(answer)
  }

  func readBody() {
    let space = Self.bodyLimit - webSocket.body.count
    unsafe webSocket.body.append(contentsOf: input.prefix(max(0, space)))
  }

  /// Takes what has come of the body, and waits for nothing: the library drops the connection when
  /// this returns, and every other connection of the reactor stands still until then.
  private func drainBody() {
    let expected = header(WSI_TOKEN_HTTP_CONTENT_LENGTH).flatMap { Int($0) }
    let wanted = min(expected ?? Self.bodyLimit, Self.bodyLimit)
    var empty = 0
    while !webSocket.isBodyComplete, webSocket.body.count < wanted, empty < Self.emptyReads {
      let before = webSocket.body.count
      var buffer: UnsafeMutablePointer<CChar>?
      var count: Int32 = 0
      guard unsafe lws_http_client_read(connection, &buffer, &count) == 0 else { return }
      empty = webSocket.body.count > before ? 0 : empty + 1
    }
  }

  private func header(_ token: lws_token_indexes) -> String? {
    let length = Int(unsafe lws_hdr_total_length(connection, token))
    guard length > 0 else { return nil }
    var text = [CChar](repeating: 0, count: length + 1)
    guard unsafe lws_hdr_copy(connection, &text, Int32(text.count), token) > 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The first line of a body in plain text: many a server says there what it misses.
  private var firstLine: String? {
    let text = String(decoding: webSocket.body.prefix(Self.lineLimit), as: UTF8.self)
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    return line.isEmpty ? nil : line
  }

  /// What an error envelope in `body` says; nil where there is none.
  private static func message(in body: [UInt8], status: Int) -> String? {
    let data = Data(body)
    guard let failure = StandardAPIResponse<NoContent>.failure(in: data, statusCode: status),
      let message = failure.message
    else { return nil }
    let code = failure.code.map { " [\($0)]" } ?? ""
    let id = failure.correlationId.map { " (correlation id \($0))" } ?? ""
    return message + code + id
  }
}
