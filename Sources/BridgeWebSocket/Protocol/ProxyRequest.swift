import BridgeErrors
package import BridgeTransport

/// The request for a tunnel (RFC 9110, 9.3.6).
package enum ProxyRequest {
  /// The longest `user:password`, in bytes.
  static let longestCredentials = 2048

  /// CONNECT to `target`, with the credentials of `proxy`.
  package static func bytes(to target: Endpoint, by proxy: WebSocketProxy) -> [UInt8] {
    var lines = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n".utf8)
    if let credentials = proxy.credentials {
      lines += "Proxy-Authorization: Basic ".utf8
      credentials.reveal { lines += base64($0) }
      lines += "\r\n".utf8
    }
    return lines + "\r\n".utf8
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// RFC 4648, 4.
  private static func base64(_ bytes: [UInt8]) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: 3).flatMap { start in
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
      return (0..<4).map { index in
        index > group.count ? UInt8(ascii: "=") : alphabet[bits >> (18 - 6 * index) & 63]
      }
    }
  }

  /// - Throws: `validationError` for credentials that are longer than a proxy would read.
  static func check(_ proxy: WebSocketProxy) throws(AppError) {
    guard proxy.credentials?.reveal({ $0.count <= longestCredentials }) == false else { return }
    throw .validationError(
      field: proxy.source.map { PeerText.escaped($0, limit: 64) } ?? "proxy",
      message: "The proxy's credentials are longer than 2 KiB.")
  }
}
