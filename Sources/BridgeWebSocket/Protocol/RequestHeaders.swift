import BridgeErrors

/// The header fields that a configuration adds to the upgrade request, as bytes.
enum RequestHeaders {
  /// Fields of the handshake itself (RFC 6455, 4.1), and those that would change how the answer is
  /// framed.
  private static let reserved: Set = [
    "host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version",
    "sec-websocket-protocol", "sec-websocket-extensions", "sec-websocket-accept",
    "content-length", "transfer-encoding",
  ]

  /// All added fields, each with its line end.
  static func lines(for configuration: WebSocketConfiguration) -> [UInt8] {
    var lines: [UInt8] = []
    for header in configuration.headers {
      lines += header.name.utf8
      lines += ": ".utf8
      header.value.reveal { lines += $0 }
      lines += "\r\n".utf8
    }
    guard let bearer = configuration.bearer else { return lines }
    lines += "Authorization: Bearer ".utf8
    bearer.reveal { lines += $0 }
    return lines + "\r\n".utf8
  }

  /// Refuses what would break out of its line, or the request.
  ///
  /// - Throws: `validationError` that names the field, never its value.
  static func check(_ configuration: WebSocketConfiguration) throws(AppError) {
    for header in configuration.headers {
      guard isToken(header.name), !reserved.contains(header.name.lowercased()) else {
        throw refused(header.name, "is not a header field that can be set")
      }
      guard header.value.reveal(isFieldValue) else {
        throw refused(header.name, "holds characters that no header field may hold")
      }
    }
    if let bearer = configuration.bearer, !bearer.reveal(isFieldValue) {
      throw refused("Authorization", "holds characters that no header field may hold")
    }
    for name in configuration.subprotocols where !isToken(name) {
      throw refused("Sec-WebSocket-Protocol", "has an invalid name")
    }
    let size = configuration.headers.reduce(0) {
      $0 + $1.name.utf8.count + $1.value.reveal(\.count) + 4
    }
    let names = configuration.subprotocols.reduce(0) { $0 + $1.utf8.count + 2 }
    guard size + (configuration.bearer?.reveal(\.count) ?? 0) <= 8 << 10, names <= 1 << 10 else {
      throw refused("The header", "is longer than 8 KiB")
    }
  }

  private static func refused(_ name: String, _ why: String) -> AppError {
    .validationError(field: PeerText.escaped(name, limit: 64), message: "It \(why).")
  }

  /// RFC 9110, 5.6.2.
  private static func isToken(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: Array("!#$%&'*+-.^_`|~".utf8).contains(byte)
        }
      }
  }

  /// RFC 9110, 5.5: visible characters, blanks and tabs; no line end, no NUL.
  private static func isFieldValue(_ value: [UInt8]) -> Bool {
    value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}
