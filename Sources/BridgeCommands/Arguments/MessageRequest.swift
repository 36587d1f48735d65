import BridgeErrors
package import BridgeWebSocket
import FoundationEssentials

/// The checked command line of `bridgectl connect ws://…`.
package struct MessageRequest: Sendable, Equatable {
  /// The URL, with the port of `-p` where it has none.
  package let url: WebSocketEndpoint
  /// Header fields, in order.
  package let headers: [[String]]
  /// The descriptor of the bearer token.
  package let bearerDescriptor: Int32?
  /// Subprotocols, best first.
  package let subprotocols: [String]
  /// The PEM file of the authorities.
  package let authorityFile: String?
  /// The SHA-256 of the server's public key.
  package let pin: [UInt8]?
  /// Whether messages have their length before them.
  package let isBinary: Bool

  /// Nil for SSH.
  ///
  /// - Throws: `validationError` for an option of the other transport or a bad value;
  ///   `invalidURL`.
  init?(_ options: ConnectOptions, host: HostArgument, port: Int?) throws(AppError) {
    let own = options.messages
    switch host.scheme {
    case .ssh:
      let given = [
        ("-H", !own.header.isEmpty), ("--bearer-fd", own.bearerFd != nil),
        ("--subprotocol", !own.subprotocol.isEmpty), ("--ca", own.ca != nil),
        ("--pin", own.pin != nil), ("--binary", own.binary),
      ]
      try Self.refuse(given, "It applies to ws:// and wss:// only.")
      return nil
    case .ws, .wss:
      try Self.refuse(Self.foreign(options), "It applies to SSH only.")
    }
    guard host.user == nil else { throw .invalidURL(string: "[credentials]") }
    let name = host.host.contains(":") ? "[\(host.host)]" : host.host
    let place = name + (port.map { ":\($0)" } ?? "")
    url = try WebSocketEndpoint("\(host.scheme.rawValue)://\(place)\(host.path)")
    headers = try Self.headers(own.header)
    bearerDescriptor = try ConnectRequest.map(own.bearerFd) { (text) throws(AppError) in
      try ConnectRequest.descriptor(text, field: "--bearer-fd", lowest: 0)
    }
    subprotocols = own.subprotocol
    authorityFile = try ConnectRequest.paths(own.ca.map { [$0] } ?? [], field: "--ca").first
    pin = try ConnectRequest.map(own.pin) { (text) throws(AppError) in try Self.digest(text) }
    guard authorityFile == nil || pin == nil else {
      throw .validationError(field: "--pin", message: "--ca and --pin cannot be combined.")
    }
    isBinary = own.binary
  }

  private static func foreign(_ options: ConnectOptions) -> [(String, Bool)] {
    [
      ("COMMAND", !options.command.isEmpty), ("-l", options.login != nil),
      ("-i", !options.identity.isEmpty), ("-F", options.config != nil),
      ("-o", !options.option.isEmpty), ("-t", options.terminal > 0), ("-N", options.nothing),
      ("--host-key", options.hostKey != nil), ("--known-hosts", options.knownHosts != nil),
      ("--password-fd", options.passwordFd != nil), ("--durable", options.durable != nil),
      ("--name", options.start.name != nil), ("--when-full", options.start.whenFull != nil),
      ("--cap", options.start.cap != nil), ("--keep", options.start.keep != nil),
      ("-J", options.jump != nil), ("-W", options.tunnels.carried != nil),
      ("-L", !options.tunnels.local.isEmpty), ("-D", !options.tunnels.dynamic.isEmpty),
      ("-R", !options.tunnels.remote.isEmpty), ("-g", options.tunnels.isGateway),
      ("-f", options.tunnels.goesToBackground), ("-4", options.onlyIPv4), ("-6", options.onlyIPv6),
    ]
  }

  private static func refuse(_ given: [(String, Bool)], _ reason: String) throws(AppError) {
    if let first = given.first(where: \.1) {
      throw .validationError(field: first.0, message: reason)
    }
  }

  private static func headers(_ lines: [String]) throws(AppError) -> [[String]] {
    var headers: [[String]] = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
        throw .validationError(field: "-H", message: "A header field is NAME: VALUE.")
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers.append([String(line[..<colon]), String(value)])
    }
    return headers
  }

  private static func digest(_ text: String) throws(AppError) -> [UInt8] {
    let plain = text.hasPrefix("sha256//") ? String(text.dropFirst(8)) : text
    let hexadecimal = plain.filter { $0 != ":" }
    if hexadecimal.utf8.count == 64 {
      let bytes = stride(from: 0, to: 64, by: 2).compactMap { index -> UInt8? in
        let start = hexadecimal.utf8.index(hexadecimal.startIndex, offsetBy: index)
        let end = hexadecimal.utf8.index(start, offsetBy: 2)
        return UInt8(hexadecimal[start..<end], radix: 16)
      }
      if bytes.count == 32 { return bytes }
    }
    guard let data = Data(base64Encoded: plain), data.count == 32 else {
      throw .validationError(
        field: "--pin", message: "A SHA-256 is 64 hexadecimal digits, or base64 of 32 bytes.")
    }
    return Array(data)
  }
}
