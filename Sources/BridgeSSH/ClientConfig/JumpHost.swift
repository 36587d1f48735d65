import BridgeErrors

/// One hop of ProxyJump as it is written: `[user@]host[:port]` or `ssh://[user@]host[:port]`.
package struct JumpHost: Sendable, Equatable {
  /// The user; nil where it is not said.
  package let user: String?
  /// A name or an address, without brackets.
  package let host: String
  /// The port; nil where it is not said.
  package let port: Int?

  /// How many hops one ProxyJump, or the whole chain to a host, may have.
  package static let limit = 16

  /// A hop.
  package init(user: String? = nil, host: String, port: Int? = nil) {
    self.user = user
    self.host = host
    self.port = port
  }

  /// The hops in `text`, separated by commas: the first is dialed first.
  static func list(
    _ text: String, _ refuse: (String) -> AppError
  ) throws(AppError) -> [JumpHost] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= limit else { throw refuse("more than \(limit) hops") }
    var hops: [JumpHost] = []
    for part in parts { hops.append(try JumpHost(part, refuse)) }
    return hops
  }

  init(_ text: Substring, _ refuse: (String) -> AppError) throws(AppError) {
    var rest = text
    if rest.lowercased().hasPrefix("ssh://") {
      rest = rest.dropFirst(6)
      if rest.hasSuffix("/") { rest.removeLast() }
    }
    var user: String?
    if let at = rest.lastIndex(of: "@") {
      user = String(rest[..<at])
      rest = rest[rest.index(after: at)...]
    }
    if let user, user.isEmpty || user.hasPrefix("-") || !user.utf8.allSatisfy({ $0 > 32 }) {
      throw refuse("\(Self.shown(text)) has no usable user name")
    }
    var port: Substring?
    if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
      let behind = rest[rest.index(after: end)...]
      guard behind.isEmpty || behind.hasPrefix(":") else {
        throw refuse("\(Self.shown(text)) has something behind its bracket")
      }
      port = behind.isEmpty ? nil : behind.dropFirst()
      rest = rest[rest.index(after: rest.startIndex)..<end]
    } else if let colon = rest.firstIndex(of: ":"), colon == rest.lastIndex(of: ":") {
      port = rest[rest.index(after: colon)...]
      rest = rest[..<colon]
    }
    let host = String(rest)
    if let problem = ConfigValue.hostProblem(host) { throw refuse(problem) }
    self.user = user
    self.host = host
    self.port = nil == port ? nil : try ConfigValue.port(String(port ?? ""), refuse)
  }

  private static func shown(_ text: Substring) -> String {
    "\"\(PeerText.escaped(text, limit: 128))\""
  }
}
