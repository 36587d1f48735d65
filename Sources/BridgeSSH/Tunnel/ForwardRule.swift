package import BridgeErrors
import BridgeTransport

/// An address and what its connections are carried to: `-L`, `-D` and `-R`, LocalForward,
/// DynamicForward and RemoteForward.
public struct ForwardRule: Sendable, Hashable, CustomStringConvertible {
  /// The machine on which connections are taken.
  public enum Side: String, Sendable, Hashable {
    /// This one; the host dials the targets.
    case local
    /// The host; this machine dials the targets.
    case remote
  }

  /// Where connections are taken.
  public enum Source: Sendable, Hashable {
    /// A TCP port; `address` nil for loopback, `*` for every address. Port 0 is any free one. On
    /// the host, its GatewayPorts decides what of the address counts.
    case port(address: String?, Int)
    /// A unix socket, made where nothing is. On this machine only: libssh2 takes no connections
    /// from one on the host.
    case socket(path: String)
  }

  /// Where they lead.
  public enum Destination: Sendable, Hashable {
    /// To one place.
    case fixed(TunnelTarget)
    /// To the target that each requests by SOCKS 4, 4a or 5.
    case dynamic
  }

  /// The machine on which connections are taken.
  public var side: Side
  /// Where connections are taken.
  public var source: Source
  /// Where they lead.
  public var destination: Destination

  /// A rule.
  public init(from source: Source, to destination: Destination, on side: Side = .local) {
    self.side = side
    self.source = source
    self.destination = destination
  }

  /// As it is written after `-L`, `-D` or `-R`.
  public var description: String {
    let from =
      switch source {
      case .port(let address?, let port): "\(Self.bracketed(address)):\(port)"
      case .port(nil, let port): "\(port)"
      case .socket(let path): path
      }
    switch destination {
    case .fixed(let target): return "\(from):\(target)"
    case .dynamic: return from
    }
  }

  /// With the option, for messages.
  package var name: String {
    switch (side, destination) {
    case (.remote, _): "-R \(self)"
    case (.local, .fixed): "-L \(self)"
    case (.local, .dynamic): "-D \(self)"
    }
  }

  /// With a local port without an address on every one (GatewayPorts).
  package var opened: ForwardRule {
    guard side == .local, case .port(address: nil, let port) = source else { return self }
    return ForwardRule(from: .port(address: "*", port), to: destination)
  }

  /// Whether any free port will do.
  package var isForAnyPort: Bool {
    if case .port(_, 0) = source { true } else { false }
  }

  /// With each path of a unix socket as `expand` returns it.
  func mapPaths(
    _ expand: (String) throws(AppError) -> String
  ) throws(AppError) -> ForwardRule {
    var rule = self
    if case .socket(let path) = source { rule.source = .socket(path: try expand(path)) }
    if case .fixed(.socket(let path)) = destination {
      rule.destination = .fixed(.socket(path: try expand(path)))
    }
    return rule
  }

  /// The address as it is asked of the host, as with OpenSSH (RFC 4254, 7.1).
  var remoteAddress: String {
    switch source {
    case .port(address: nil, _), .socket: "localhost"
    case .port(address: "*"?, _): ""
    case .port(let address?, _): address
    }
  }

  private static func bracketed(_ address: String) -> String {
    address.contains(":") ? "[\(address)]" : address
  }
}

extension ForwardRule {
  /// The rule in `[ADDRESS:]PORT:HOST:HOSTPORT`, where each pair may be the path of a unix socket.
  ///
  /// - Throws: `validationError` of `field`; as with OpenSSH, for port 0 too.
  package init(local text: String, field: String) throws(AppError) {
    try self.init(text, field, lowest: 1)
  }

  private init(_ text: String, _ field: String, lowest: Int) throws(AppError) {
    let fields = try Self.fields(text, field)
    let bad = Self.refusal(text, field, "[ADDRESS:]PORT:HOST:HOSTPORT")
    // From the end: a path is a target by itself.
    let targetCount = fields.last.map(Self.isPath) == true ? 1 : 2
    guard fields.count > targetCount, fields.count <= targetCount + 2 else { throw bad }
    let own = Array(fields.dropLast(targetCount))
    let far = Array(fields.suffix(targetCount))
    side = .local
    source = try Self.source(own, lowest: lowest, bad)
    destination = .fixed(try Self.target(far, bad))
  }

  /// The rule in `[ADDRESS:]PORT:HOST:HOSTPORT` for a port of the host, where HOST:HOSTPORT may be
  /// the path of a unix socket; without a target, each connection says it (SOCKS).
  ///
  /// - Throws: `validationError` of `field`.
  package init(remote text: String, field: String) throws(AppError) {
    let fields = try Self.fields(text, field)
    let isDynamic = fields.count == 1 || (fields.count == 2 && !Self.isPath(fields[1]))
    self =
      try isDynamic
      ? ForwardRule(dynamic: text, field, lowest: 0) : ForwardRule(text, field, lowest: 0)
    side = .remote
    guard remoteAddress.utf8.count <= 255, remoteAddress.utf8.allSatisfy({ $0 > 32 && $0 != 127 })
    else { throw Self.refusal(text, field, "[ADDRESS:]PORT:HOST:HOSTPORT") }
  }

  /// The rule in `[ADDRESS:]PORT`, or a path.
  ///
  /// - Throws: `validationError` of `field`.
  package init(dynamic text: String, field: String) throws(AppError) {
    try self.init(dynamic: text, field, lowest: 1)
  }

  private init(dynamic text: String, _ field: String, lowest: Int) throws(AppError) {
    side = .local
    source = try Self.source(
      Self.fields(text, field), lowest: lowest, Self.refusal(text, field, "[ADDRESS:]PORT"))
    destination = .dynamic
  }

  /// The target in `HOST:PORT`, or a path.
  ///
  /// - Throws: `validationError` of `field`.
  package static func target(_ text: String, field: String) throws(AppError) -> TunnelTarget {
    try target(fields(text, field), refusal(text, field, "HOST:PORT"))
  }

  private static func source(
    _ fields: [String], lowest: Int, _ bad: AppError
  ) throws(AppError) -> Source {
    switch fields.count {
    case 1 where isPath(fields[0]): return .socket(path: fields[0])
    case 1: return .port(address: nil, try port(fields[0], lowest: lowest, bad))
    case 2:
      // As with OpenSSH, an empty address is every one.
      let address = fields[0].isEmpty ? "*" : fields[0]
      return .port(address: address, try port(fields[1], lowest: lowest, bad))
    default: throw bad
    }
  }

  private static func target(_ fields: [String], _ bad: AppError) throws(AppError) -> TunnelTarget {
    if fields.count == 1, isPath(fields[0]) { return .socket(path: fields[0]) }
    guard fields.count == 2, !fields[0].isEmpty, fields[0].utf8.count <= 1024,
      fields[0].utf8.allSatisfy({ $0 > 32 && $0 != 127 })
    else { throw bad }
    return .port(Endpoint(host: fields[0], port: try port(fields[1], lowest: 1, bad)))
  }

  /// As with OpenSSH: `${HOME}/socket` is one, too.
  private static func isPath(_ field: String) -> Bool {
    field.contains("/") && field.utf8.count < 1024
  }

  private static func port(_ text: String, lowest: Int, _ bad: AppError) throws(AppError) -> Int {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = Int(text), (lowest...65_535).contains(port)
    else { throw bad }
    return port
  }

  /// The parts between colons; an address in brackets is one of them.
  private static func fields(_ text: String, _ field: String) throws(AppError) -> [String] {
    let bad = refusal(text, field, "an address in brackets")
    var fields: [String] = []
    var rest = text[...]
    while true {
      if rest.hasPrefix("[") {
        guard let end = rest.firstIndex(of: "]") else { throw bad }
        fields.append(String(rest[rest.index(after: rest.startIndex)..<end]))
        rest = rest[rest.index(after: end)...]
      } else {
        let end = rest.firstIndex(of: ":") ?? rest.endIndex
        fields.append(String(rest[..<end]))
        rest = rest[end...]
      }
      guard !rest.isEmpty else { return fields }
      guard rest.hasPrefix(":"), fields.count < 8 else { throw bad }
      rest = rest.dropFirst()
    }
  }

  private static func refusal(_ text: String, _ field: String, _ form: String) -> AppError {
    .validationError(
      field: field, message: "\"\(PeerText.escaped(text, limit: 256))\" is not \(form).")
  }
}
