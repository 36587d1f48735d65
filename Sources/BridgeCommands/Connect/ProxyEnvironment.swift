package import BridgeErrors
import BridgeReactor
import BridgeTransport
package import BridgeWebSocket

/// The proxy that the environment names for a WebSocket, read as curl(1) reads it (ENVIRONMENT,
/// and `-x`).
///
/// `wss` goes by `https_proxy` or `HTTPS_PROXY`, `ws` by `http_proxy` in lower case only, since
/// a web server sets HTTP_PROXY to what its client sends (httpoxy); both by `all_proxy` or
/// `ALL_PROXY` else. Lower case comes first, and an empty variable is none.
package struct ProxyEnvironment: Sendable {
  /// The port of a proxy without one (curl(1), `-x`).
  static let defaultPort = 1080
  private static let longestValue = 4096

  private let variables: [String: String]

  /// The proxies of `variables`.
  package init(_ variables: [String: String]) { self.variables = variables }

  /// The proxy to go through to `url`; nil where there is none, or NO_PROXY excludes the host.
  ///
  /// - Throws: `validationError` of the variable; a password is in none.
  package func proxy(for url: WebSocketEndpoint) throws(AppError) -> WebSocketProxy? {
    let names = url.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
    guard let (name, value) = first(of: names + ["all_proxy", "ALL_PROXY"]) else { return nil }
    if let (_, list) = first(of: ["no_proxy", "NO_PROXY"]),
      ProxyExclusions(list).contain(url.endpoint.host)
    {
      return nil
    }
    return try Self.proxy(value, named: name)
  }

  private func first(of names: [String]) -> (name: String, value: String)? {
    for name in names {
      if let value = variables[name], !value.isEmpty { return (name, value) }
    }
    return nil
  }

  /// `[scheme://][user[:password]@]host[:port]`; a path is ignored, as by curl.
  private static func proxy(_ value: String, named name: String) throws(AppError) -> WebSocketProxy
  {
    let refusal = Refusal(name: name, value: value)
    guard value.utf8.count <= longestValue, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw refusal.because("is too long, or holds blanks or other than ASCII characters") }
    var rest = value[...]
    if let mark = rest.firstRange(of: "://") {
      try check(scheme: rest[..<mark.lowerBound].lowercased(), refusal)
      rest = rest[mark.upperBound...]
    }
    var authority = rest.prefix { !"/?#".contains($0) }
    // A password with one of these characters in it would be taken for a host.
    guard !rest.dropFirst(authority.count).contains("@") else {
      throw refusal.because("has a /, ? or # before its @, which is written as a % code")
    }
    var credentials: Secret?
    if let mark = authority.lastIndex(of: "@") {
      guard let user = credential(authority[..<mark]) else {
        throw refusal.because("has a user name or a password with a malformed % code")
      }
      credentials = user
      authority = authority[authority.index(after: mark)...]
    }
    guard let endpoint = endpoint(authority) else {
      throw refusal.because("is not [http://][USER[:PASSWORD]@]HOST[:PORT]", showsValue: false)
    }
    return WebSocketProxy(at: endpoint, credentials: credentials, source: name)
  }

  private static func check(scheme: String, _ refusal: Refusal) throws(AppError) {
    switch scheme {
    case "http": return
    case "https":
      throw refusal.because("names a proxy to be reached over TLS, which is not supported")
    case "socks", "socks4", "socks4a", "socks5", "socks5h":
      throw refusal.because("names a SOCKS proxy, which is not supported")
    default: throw refusal.because("names a proxy of an unknown kind")
    }
  }

  /// `user:password` without % codes; nil where one is malformed, or cannot be sent.
  private static func credential(_ text: Substring) -> Secret? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    var bytes: [UInt8] = []
    for (index, part) in parts.enumerated() {
      guard let plain = decoded(part) else { return nil }
      // A colon in the name would move the border (RFC 7617, 2).
      if index == 0, plain.contains(UInt8(ascii: ":")) { return nil }
      if index > 0 { bytes.append(UInt8(ascii: ":")) }
      bytes += plain
    }
    if parts.count == 1 { bytes.append(UInt8(ascii: ":")) }
    return Secret(bytes)
  }

  private static func decoded(_ text: Substring) -> [UInt8]? {
    var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], text.utf8)
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2, digits.allSatisfy({ isHexadecimal($0) }),
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
        code >= 0x20, code != 0x7F
      else { return nil }
      bytes.append(code)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }

  /// A name or an address, IPv6 in brackets, as in the URL of a WebSocket, with a port.
  private static func endpoint(_ text: Substring) -> Endpoint? {
    // The parser of URLs knows which hosts there are; it has a default port of its own.
    let end = text.hasPrefix("[") ? text.firstIndex(of: "]").map(text.index(after:)) : nil
    let host = end.map { text[..<$0] } ?? text.prefix { $0 != ":" }
    let port = text.dropFirst(host.count)
    let url = port.isEmpty ? "ws://\(host):\(defaultPort)" : "ws://\(text)"
    guard port != ":", let parsed = try? WebSocketEndpoint(url) else { return nil }
    return parsed.endpoint
  }

  /// An error about the value of a variable.
  private struct Refusal {
    let name: String
    let value: String

    /// Without the value where it may be a password without its host.
    func because(_ reason: String, showsValue: Bool = true) -> AppError {
      // What stands before the last @ may be a password, wherever it was meant to end.
      let shown = value.lastIndex(of: "@").map { "[credentials]" + value[$0...] } ?? value
      let words = showsValue ? " \"\(PeerText.escaped(shown, limit: 256))\"" : ""
      return .validationError(
        field: name,
        message: """
          Its value\(words) \(reason). Name an HTTP proxy \
          (http://HOST:PORT), unset \(name), or list the host in NO_PROXY.
          """)
    }
  }
}

/// The list of NO_PROXY.
///
/// Hosts by name with all below them, addresses, and blocks of addresses (`10.0.0.0/8`, as curl
/// 7.86 and later), with commas or blanks between; `*` is every host. A port is part of no entry.
package struct ProxyExclusions: Sendable {
  private let entries: [Substring]

  /// The entries of `list`.
  package init(_ list: String) {
    entries = list.split { $0 == "," || $0 == " " || $0 == "\t" }
  }

  /// Whether `host`, a name or an address without brackets, is excluded.
  package func contain(_ host: String) -> Bool {
    if entries.contains("*") { return true }
    if let address = Self.address(host[...]) {
      return entries.contains { Self.covers($0, address) }
    }
    let name = Self.name(host[...])
    return entries.contains { entry in
      // A leading dot says the same as none.
      let wanted = Self.name(entry.hasPrefix(".") ? entry.dropFirst() : entry)
      return !wanted.isEmpty && (name == wanted || name.hasSuffix("." + wanted))
    }
  }

  private static func name(_ text: Substring) -> String {
    (text.hasSuffix(".") ? text.dropLast() : text).lowercased()
  }

  /// An interface (`fe80::1%eth0`) is not compared.
  private static func address(_ text: Substring) -> NetworkAddress? {
    let plain = text.prefix { $0 != "%" }
    let isNumeric = plain.contains(":") || plain.split(separator: ".").count == 4
    return isNumeric ? NetworkAddress(numeric: String(plain)) : nil
  }

  private static func covers(_ entry: Substring, _ address: NetworkAddress) -> Bool {
    let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    var network = parts[0]
    if network.hasPrefix("["), network.hasSuffix("]") { network = network.dropFirst().dropLast() }
    guard self.address(network) != nil else { return false }
    let text = ([network.prefix { $0 != "%" }] + parts.dropFirst()).joined(separator: "/")
    return NetworkPrefix(text, isExact: false)?.contains(address) == true
  }
}
