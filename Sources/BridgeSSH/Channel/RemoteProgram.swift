package import BridgeErrors

/// What a session channel starts (RFC 4254, 6.5).
package struct RemoteProgram: Sendable, Equatable {
  /// The request that starts it, as RFC 4254 names it.
  package enum Request: String, Sendable {
    case shell
    case exec
    case subsystem
  }

  /// The request that starts it.
  package let request: Request
  /// The command, or the name of the subsystem; empty for a shell.
  package let bytes: [UInt8]

  /// The user's login shell.
  package static let shell = RemoteProgram(.shell, bytes: [])

  /// The longest command that libssh2 1.10 can send in its one packet.
  private static let limit = 32_000

  private init(_ request: Request, bytes: [UInt8]) {
    self.request = request
    self.bytes = bytes
  }

  /// A line for the user's login shell, of any bytes but zero.
  ///
  /// - Throws: `validationError` for a NUL byte, and for more than 32,000 bytes.
  package init(command bytes: [UInt8]) throws(AppError) {
    try Self.check(bytes, of: "command", remedy: "send it as input to a shell.")
    self.init(.exec, bytes: bytes)
  }

  /// A subsystem of the server by its name.
  ///
  /// - Throws: as for a command.
  package init(subsystem name: [UInt8]) throws(AppError) {
    try Self.check(name, of: "subsystem", remedy: "it is no name.")
    self.init(.subsystem, bytes: name)
  }

  /// The command or the name as text; nil for a shell.
  package var text: String? {
    request == .shell ? nil : String(decoding: bytes, as: UTF8.self)
  }

  private static func check(
    _ bytes: [UInt8], of field: String, remedy: String
  ) throws(AppError) {
    guard !bytes.contains(0) else {
      throw .validationError(field: field, message: "It contains a NUL byte.")
    }
    guard bytes.count <= limit else {
      throw .validationError(
        field: field, message: "It is longer than \(limit) bytes; \(remedy)")
    }
  }
}
