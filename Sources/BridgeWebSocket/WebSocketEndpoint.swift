public import BridgeErrors
public import BridgeTransport

/// The address of a WebSocket connection: a parsed `ws` or `wss` URL (RFC 6455, 3).
public struct WebSocketEndpoint: Sendable, Hashable, CustomStringConvertible {
  /// libwebsockets composes the request in fixed fields: a longer host would be cut in the Host
  /// header and in the check of the certificate's name, a longer target in the request line.
  static let limits = (host: 112, target: 1900)

  /// The host, as it was named, and the port.
  public let endpoint: Endpoint
  /// Whether TLS is spoken (`wss`).
  public let isSecure: Bool
  /// Path and query, for instance `/chat?room=1`; begins with a slash.
  public let target: String

  /// Parses `url`.
  ///
  /// - Throws: `invalidURL` for another scheme, credentials, a fragment, blanks, control or
  ///   non-ASCII characters, an empty or overlong host, a port outside 1…65535. The text of a URL
  ///   with credentials is not repeated.
  public init(_ url: String) throws(AppError) {
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw Self.invalid(url) }
    let scheme = url.prefix { $0 != ":" }
    switch scheme.lowercased() {
    case "ws": isSecure = false
    case "wss": isSecure = true
    default: throw Self.invalid(url)
    }
    var rest = url.dropFirst(scheme.count)
    guard rest.hasPrefix("://"), !rest.contains("#"), !rest.contains("\\") else {
      throw Self.invalid(url)
    }
    rest = rest.dropFirst(3)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else { throw .invalidURL(string: "\(scheme)://[credentials]") }
    let path = String(rest.dropFirst(authority.count))
    target = path.hasPrefix("/") ? path : "/" + path
    guard let (host, port) = Self.split(authority, isSecure: isSecure),
      target.utf8.count <= Self.limits.target
    else { throw Self.invalid(url) }
    endpoint = Endpoint(host: host, port: port)
  }

  private static func invalid(_ url: String) -> AppError {
    // The part before an `@` may be a password.
    let shown = url.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    return .invalidURL(
      string: shown.count > 1 ? "[credentials]" : PeerText.escaped(url, limit: 256))
  }

  private static func split(_ authority: Substring, isSecure: Bool) -> (String, Int)? {
    let host: Substring
    var rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[..<end].dropFirst()
      rest = authority[end...].dropFirst()
      guard host.contains(":"), host.utf8.allSatisfy(isAddressByte) else { return nil }
    } else {
      host = authority.prefix { $0 != ":" }
      rest = authority.dropFirst(host.count)
      guard !host.isEmpty, !host.hasPrefix("-"), host.utf8.allSatisfy(isNameByte) else {
        return nil
      }
    }
    guard host.utf8.count <= limits.host else { return nil }
    if rest.isEmpty { return (String(host), isSecure ? 443 : 80) }
    guard rest.first == ":" else { return nil }
    rest = rest.dropFirst()
    guard !rest.isEmpty, rest.utf8.count <= 5, rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = Int(rest), (1...65535).contains(port)
    else { return nil }
    return (String(host), port)
  }

  /// What a registered name may be made of (RFC 3986, 3.2.2), without what only credentials or
  /// mischief need.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Hexadecimal, colons, a dotted tail, a zone after `%` (RFC 6874).
  private static func isAddressByte(_ byte: UInt8) -> Bool {
    isNameByte(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "%")
  }

  /// The Host header: the port only where it is not the scheme's own (RFC 9110, 7.2).
  var hostHeader: String { hostHeader(of: endpoint.host) }

  /// Likewise, for a server of another name; the port of the URL is not its own then.
  func hostHeader(named name: String?) -> String { name.map(Self.bracketed) ?? hostHeader }

  private func hostHeader(of host: String) -> String {
    let name = Self.bracketed(host)
    return endpoint.port == (isSecure ? 443 : 80) ? name : "\(name):\(endpoint.port)"
  }

  private static func bracketed(_ host: String) -> String {
    host.contains(":") ? "[\(host)]" : host
  }

  /// Refuses what is no name or address of a host.
  ///
  /// - Throws: `validationError`.
  static func check(serverName name: String?) throws(AppError) {
    guard let name else { return }
    let isAddress =
      name.count { $0 == ":" } > 1 && name.utf8.allSatisfy(isAddressByte)
    let isName = !name.isEmpty && !name.hasPrefix("-") && name.utf8.allSatisfy(isNameByte)
    guard isAddress || isName, name.utf8.count <= limits.host else {
      throw .validationError(
        field: "serverName", message: "It is no name of a host of at most 112 bytes.")
    }
  }

  /// The URL without its query, which may carry a token.
  public var description: String {
    "\(isSecure ? "wss" : "ws")://\(hostHeader)\(path)"
  }

  /// The target without its query.
  var path: String { String(target.prefix { $0 != "?" }) }
}
