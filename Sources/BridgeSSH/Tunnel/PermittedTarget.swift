import BridgeTransport

/// A target that PermitRemoteOpen names: HOST:PORT, each of them exactly, or `*` for any.
package struct PermittedTarget: Sendable, Equatable, CustomStringConvertible {
  private let host: String
  private let port: Int?

  /// Nil for a text that is not HOST:PORT.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    var host = text[..<colon]
    let end = text[text.index(after: colon)...]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    let number = Int(end).flatMap { (1...65_535).contains($0) ? $0 : nil }
    guard !host.isEmpty, end == "*" || (number != nil && end.utf8.allSatisfy { $0 < 58 }) else {
      return nil
    }
    (self.host, port) = (String(host), number)
  }

  /// As it is written.
  package var description: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(name):\(port.map { "\($0)" } ?? "*")"
  }

  /// Whether a client may name `target`.
  func fits(_ target: TunnelTarget) -> Bool {
    guard case .port(let endpoint) = target else { return false }
    return (host == "*" || host == endpoint.host) && (port ?? endpoint.port) == endpoint.port
  }
}
