extension CatalogueRow {
  static func webSocketConnectionFailed(_ reason: String) -> Self {
    Self(
      "webSocketConnectionFailed", .webSocket,
      cause: "Nothing answered as a WebSocket server at that address.",
      remedy: "Check the address, its port and scheme (ws or wss), and that the server runs.",
      title: "Connection Lost",
      message: "Couldn't connect to the server. \(Payload.exact(reason))",
      icon: "antenna.radiowaves.left.and.right.slash", options: [.reconnect, .checkSettings],
      exit: .unreachable, tool: .network)
  }

  static func webSocketDisconnected(_ code: Int?, _ reason: String?) -> Self {
    Self(
      "webSocketDisconnected", .webSocket,
      cause: "The link was cut, or the server closed it.",
      remedy: """
        Where reconnecting can help, it happens by itself. If the connection is lost again and \
        again, check the server's log and any proxies in between.
        """,
      title: "Connection Lost",
      message: reason.map(Payload.exact) ?? "The connection was lost. Reconnecting...",
      shown: closeWords(code, reason),
      icon: "antenna.radiowaves.left.and.right.slash", options: [.reconnect, .checkSettings],
      severity: .warning, exit: exit(closeCode: code), tool: .network)
  }

  static func webSocketMessageInvalid(_ detail: String) -> Self {
    Self(
      "webSocketMessageInvalid", .webSocket,
      cause: "The peer broke the protocol, or sent invalid UTF-8.",
      remedy: """
        A new connection is tried once. If it happens again, the peer or a proxy in between is \
        faulty: tell its administrator.
        """,
      fact: "The peer sent no valid WebSocket message: \(Payload.sentence(detail))",
      exit: .protocolBroken, tool: .parse)
  }

  static func webSocketPingTimeout() -> Self {
    Self(
      "webSocketPingTimeout", .webSocket,
      cause: "The peer did not answer a ping in time: the link is dead, or very slow.",
      remedy: """
        It reconnects by itself. If it keeps happening, check the network in between, or allow \
        more time before a link is declared dead.
        """,
      fact: "The peer stopped answering; the link is probably dead.",
      exit: .timedOut, tool: .network)
  }

  /// What a close says: its reason, and its code, by which the server's documentation names it.
  private static func closeWords(_ code: Int?, _ reason: String?) -> String? {
    guard let reason else { return closeWords(code) }
    return code.map { "\(Payload.exact(reason)) (close code \($0))" }
  }

  /// What a close code says (RFC 6455, 7.4.1, and the IANA registry for 1012 to 1014).
  /// libwebsockets 4.1 knows none of the latter and reports 1002 for them.
  private static func closeWords(_ code: Int?) -> String {
    guard let code else { return "The connection was lost." }
    let words =
      switch code {
      case 1001: "The server is going away"
      case 1002: "The server reported a restart, an overload or a protocol error"
      case 1003: "The server does not accept this kind of message"
      case 1007: "The server could not read a message"
      case 1008: "A message violated the server's policy"
      case 1009: "A message was too big for the server"
      case 1010: "A requested extension is missing"
      case 1011: "The server failed"
      case 1012: "The server is restarting"
      case 1013: "The server is too busy"
      case 1014: "The server received an invalid answer from an upstream server"
      default: "The server ended the connection"
      }
    return "\(words) (close code \(code))."
  }

  /// RFC 6455, 7.4.1.
  private static func exit(closeCode: Int?) -> ExitCode {
    switch closeCode {
    case 1000: .success
    case 1003, 1007, 1008, 1009, 1010: .protocolBroken
    default: .unreachable
    }
  }
}
