import BridgeErrors
import BridgeTransport

/// What people type and C would cut at a NUL byte, or a log would obey: refused before anything
/// is dialed or sent, without repeating any of it.
enum SSHInput {
  private static let longestName = 1024

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
    for credential in credentials {
      guard let problem = credential.givenPassword?.problem else { continue }
      throw .validationError(field: "password", message: problem)
    }
  }

  /// Answers that go into one packet; none of them when they do not.
  static func sendable(_ answers: [Secret]) -> [Secret] {
    let total = answers.reduce(0) { sum, answer in sum + answer.reveal { $0.count } }
    return total <= Secret.longest && answers.allSatisfy { $0.problem == nil } ? answers : []
  }

  /// - Throws: `validationError`.
  static func check(_ terminal: PseudoTerminal?) throws(AppError) {
    guard let terminal else { return }
    try check(terminal.type, field: "terminal")
    // channel.c has no space for more.
    guard terminal.type.utf8.count < 256 else {
      throw .validationError(field: "terminal", message: "Its type is longer than 255 bytes.")
    }
    guard terminal.modes.count.isMultiple(of: 5), terminal.modes.count <= 250 else {
      throw .validationError(field: "terminal", message: "Its modes are no list of RFC 4254.")
    }
  }

  /// More does not go into one packet with the rest of a request.
  private static let longestVariable = 32_000

  /// - Throws: `validationError`.
  static func check(_ environment: [EnvironmentVariable]) throws(AppError) {
    for variable in environment {
      let bytes = variable.assignment.utf8
      guard !variable.name.isEmpty, !variable.name.utf8.contains(UInt8(ascii: "=")),
        !bytes.contains(0), bytes.count <= longestVariable
      else {
        let name = PeerText.escaped(variable.name, limit: 64)
        throw .validationError(
          field: "environment", message: "\"\(name)\" cannot be sent as a variable.")
      }
    }
  }

  private static func check(_ text: String, field: String) throws(AppError) {
    guard !text.isEmpty else { throw .validationError(field: field, message: "It is empty.") }
    guard text.utf8.count <= longestName else {
      throw .validationError(field: field, message: "It is longer than \(longestName) bytes.")
    }
    let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isPlain else {
      throw .validationError(field: field, message: "It contains a control character.")
    }
  }
}

extension SSHCredential {
  /// The password that need not be asked for; nil for every other credential.
  var givenPassword: Secret? {
    switch self {
    case .password(let secret): secret
    case .passwordByAnyMethod(let secret): secret
    case .keyFile, .certificateFile, .agent, .keyboardInteractive: nil
    }
  }
}

extension Secret {
  /// More does not go into one packet with the rest of a request (libssh2: 35,000 bytes).
  fileprivate static let longest = 16 << 10

  /// Why it cannot be sent; nil when it can. A NUL byte would cut it, here or at the server.
  var problem: String? {
    reveal { bytes in
      if bytes.count > Self.longest { return "It is longer than \(Self.longest) bytes." }
      return bytes.contains(0) ? "It contains a NUL byte." : nil
    }
  }
}
