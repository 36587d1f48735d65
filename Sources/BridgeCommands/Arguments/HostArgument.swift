package import BridgeErrors
import BridgeWebSocket

/// HOST as the user typed it: `[user@]host[:port]`, `[v6]:port`, `ssh://…`, `ws://…` or `wss://…`.
package struct HostArgument: Sendable, Equatable {
  /// How the host is spoken to.
  package enum Scheme: String, Sendable, CaseIterable {
    case ssh
    case ws
    case wss
  }

  /// The way to speak to it.
  package let scheme: Scheme
  /// The user; nil where HOST names none.
  package let user: String?
  /// A name or an address, without brackets.
  package let host: String
  /// The port; nil where HOST does not say.
  package let port: Int?
  /// The path of a WebSocket address: empty, or from the slash on.
  package let path: String

  private static let limit = 1024

  /// Parses `text`.
  ///
  /// - Throws: `invalidURL` for a WebSocket address that is none, else `validationError` that names
  ///   what is wrong.
  package init(_ text: String) throws(AppError) {
    if text.lowercased().hasPrefix("ws://") || text.lowercased().hasPrefix("wss://") {
      _ = try WebSocketEndpoint(text)
    }
    try Self.check(text, isOf: "HOST")
    var rest = text[...]
    scheme = try Self.takeScheme(&rest)
    path = try Self.takePath(&rest, scheme: scheme)
    let isURI = rest.startIndex != text.startIndex && scheme == .ssh
    user = try Self.takeUser(&rest, isCoded: isURI)
    (host, port) = try Self.split(rest)
    guard !host.isEmpty else { throw Self.refused("the host is missing") }
    guard !host.hasPrefix("-") else { throw Self.refused("the host starts with a hyphen") }
  }

  /// The host with exactly this name or address; brackets may stand around it.
  ///
  /// - Throws: `validationError` for a name that cannot be one.
  package init(name: String) throws(AppError) {
    try Self.check(name, isOf: "HOST")
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    (scheme, user, port, path) = (.ssh, nil, nil, "")
    host = isBracketed ? String(name.dropFirst().dropLast()) : name
    guard !host.isEmpty else { throw Self.refused("the host is missing") }
    guard !host.hasPrefix("-") else { throw Self.refused("the host starts with a hyphen") }
  }

  /// The port, by HOST and by `-p`.
  ///
  /// - Throws: `validationError` when they contradict each other.
  package func port(or flag: Int?) throws(AppError) -> Int? {
    guard let port, let flag, port != flag else { return port ?? flag }
    throw .validationError(
      field: "-p", message: "HOST names port \(port), but -p names \(flag).")
  }

  /// The user, by HOST and by `-l`.
  ///
  /// - Throws: `validationError` when they contradict each other, or the name cannot be one.
  package func user(or flag: String?) throws(AppError) -> String? {
    if let flag { try Self.check(user: flag, field: "-l") }
    guard let user, let flag, user != flag else { return user ?? flag }
    throw .validationError(
      field: "-l",
      message: "HOST names the user \(Self.shown(user)), but -l names \(Self.shown(flag)).")
  }

  private static func takeScheme(_ rest: inout Substring) throws(AppError) -> Scheme {
    guard let mark = rest.range(ofText: "://") else { return .ssh }
    let name = rest[..<mark.lowerBound].lowercased()
    guard let scheme = Scheme(rawValue: name) else {
      throw refused("\(shown(name)):// is not one of ssh://, ws://, wss://")
    }
    rest = rest[mark.upperBound...]
    return scheme
  }

  private static func takePath(
    _ rest: inout Substring, scheme: Scheme
  ) throws(AppError) -> String {
    guard let slash = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "" }
    let path = String(rest[slash...])
    switch scheme {
    case .ws, .wss:
      rest = rest[..<slash]
      return path
    case .ssh where path == "/":
      rest = rest[..<slash]
      return ""
    case .ssh: throw refused("an SSH host has no path (\(shown(path)))")
    }
  }

  private static func takeUser(
    _ rest: inout Substring, isCoded: Bool
  ) throws(AppError) -> String? {
    guard let at = rest.lastIndex(of: "@") else { return nil }
    let written = rest[..<at]
    guard let user = isCoded ? PercentCoding.decoded(written) : String(written) else {
      throw refused("a % in \(shown(written)) is not followed by the digits of a byte")
    }
    rest = rest[rest.index(after: at)...]
    try check(user: user, field: "HOST")
    return user
  }

  private static func split(_ text: Substring) throws(AppError) -> (String, Int?) {
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw refused("a bracket is not closed") }
      let host = String(text[text.index(after: text.startIndex)..<end])
      let rest = text[text.index(after: end)...]
      if rest.isEmpty { return (host, nil) }
      guard rest.hasPrefix(":") else { throw refused("no port follows the bracket") }
      return (host, try port(rest.dropFirst(), field: "HOST"))
    }
    // More than one colon: an IPv6 address as it is.
    guard let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") else {
      return (String(text), nil)
    }
    return (
      String(text[..<colon]), try port(text[text.index(after: colon)...], field: "HOST")
    )
  }

  /// The port in `text`.
  ///
  /// - Throws: `validationError` for what is not a whole number from 1 to 65535.
  package static func port(
    _ text: some StringProtocol, field: String
  ) throws(AppError) -> Int {
    guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }),
      let port = Int(text), (1...65_535).contains(port)
    else {
      throw .validationError(
        field: field, message: "\(shown(text)) is not a port (1 to 65535).")
    }
    return port
  }

  private static func check(user: String, field: String) throws(AppError) {
    try check(user, isOf: field)
    guard !user.isEmpty, !user.hasPrefix("-") else {
      throw .validationError(
        field: field, message: "\(shown(user)) is not a user name: it is empty or an option.")
    }
  }

  private static func check(_ text: String, isOf field: String) throws(AppError) {
    guard text.utf8.count <= limit else {
      throw .validationError(field: field, message: "It is longer than \(limit) bytes.")
    }
    guard text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
      throw .validationError(
        field: field, message: "\(shown(text)) contains a space or a control character.")
    }
  }

  private static func refused(_ reason: String) -> AppError {
    .validationError(
      field: "HOST",
      message: "\(reason.prefix(1).uppercased())\(reason.dropFirst()). "
        + "HOST is [user@]host[:port], [v6]:port or ssh://….")
  }

  private static func shown(_ text: some StringProtocol) -> String {
    "\"\(PeerText.escaped(text, limit: 128))\""
  }
}

extension Substring {
  /// The first range of `text` in this one.
  fileprivate func range(ofText text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) {
        return start..<index(start, offsetBy: text.count)
      }
      start = index(after: start)
    }
    return nil
  }
}
