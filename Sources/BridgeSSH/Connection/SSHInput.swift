import BridgeErrors
import BridgeTransport

/// What people type and C would cut at a NUL byte, or a log would obey: refused before anything
/// is dialled or sent, with no word of it repeated.
enum SSHInput {
  /// - Throws: `validationError`.
  static func check(_ endpoint: Endpoint, user: String) throws(AppError) {
    try check(endpoint.host, field: "host")
    try check(user, field: "user")
    guard (1...65_535).contains(endpoint.port) else {
      throw .validationError(field: "port", message: "It is not in 1…65535.")
    }
  }

  /// - Throws: `validationError`.
  static func check(_ credentials: [SSHCredential]) throws(AppError) {
    for case .password(let secret?) in credentials where secret.hasNUL {
      throw .validationError(field: "password", message: "It contains a NUL byte.")
    }
  }

  /// - Throws: `validationError`.
  static func check(_ terminal: PseudoTerminal?) throws(AppError) {
    if let terminal { try check(terminal.type, field: "terminal") }
  }

  private static func check(_ text: String, field: String) throws(AppError) {
    guard !text.isEmpty else { throw .validationError(field: field, message: "It is empty.") }
    let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain else {
      throw .validationError(field: field, message: "It contains a control character.")
    }
  }
}

extension Secret {
  /// Whether C, here or at the server, would cut it.
  var hasNUL: Bool { reveal { $0.contains(0) } }
}
