import BridgeErrors
import Foundation
import Testing

/// An error of another library, of which only the text is known.
private struct ForeignError: LocalizedError {
  let errorDescription: String?

  init(_ text: String) { errorDescription = text }
}

@Suite("SSH errors: foreign texts, payloads, and what passes through")
struct SSHErrorMappingTests {
  static let host = "auth.example"

  static let foreign: [(String, AppError)] = [
    ("Authentication failed", .sshAuthenticationFailed(method: "password")),
    ("auth rejected", .sshAuthenticationFailed(method: "password")),
    ("Connection timeout", .sshTimeout(seconds: 30)),
    ("Timeout waiting", .sshTimeout(seconds: 30)),
    ("operation timed out", .sshTimeout(seconds: 30)),
    ("Authentication timeout", .sshTimeout(seconds: 30)),
    ("host key mismatch", .sshHostKeyMismatch(host: host)),
    ("Host key verification failed.", .sshHostKeyMismatch(host: host)),
    ("Host key authentication failed", .sshHostKeyMismatch(host: host)),
    ("bad hostkey", .sshHostKeyMismatch(host: host)),
    ("Connection refused", .sshConnectionFailed(host: host, reason: "Connection refused")),
    // The host by itself says nothing; as a part of a word it is not the host.
    (
      "auth.example closed the link",
      .sshConnectionFailed(host: host, reason: "auth.example closed the link")
    ),
    (
      "no route to auth.example",
      .sshConnectionFailed(host: host, reason: "no route to auth.example")
    ),
    ("auth.examples refused auth", .sshAuthenticationFailed(method: "password")),
    ("xauth.example", .sshAuthenticationFailed(method: "password")),
  ]

  @Test func aForeignErrorIsReadByItsText() {
    for (text, expected) in Self.foreign {
      #expect(AppError(sshError: ForeignError(text), host: Self.host) == expected, "\(text)")
    }
  }

  @Test func aShortHostDoesNotEatLetters() {
    let error = AppError(sshError: ForeignError("auth failed"), host: "h")
    #expect(error == .sshAuthenticationFailed(method: "password"))
    let empty = AppError(sshError: ForeignError("auth failed"), host: "")
    #expect(empty == .sshAuthenticationFailed(method: "password"))
  }

  @Test func theMethodAndTheTimeoutAreTheCallers() {
    let method = AppError(sshError: ForeignError("auth"), host: "h", method: "publickey")
    #expect(method == .sshAuthenticationFailed(method: "publickey"))
    let seconds = AppError(sshError: POSIXError(.ETIMEDOUT), host: "h", timeout: 5)
    #expect(seconds == .sshTimeout(seconds: 5))
  }

  @Test func whatIsTypedPassesThrough() {
    #expect(AppError(sshError: AppError.agentBusy, host: "h") == .agentBusy)
    #expect(AppError(sshError: CancellationError(), host: "h") == .cancelled)
  }

  @Test func anSSHFailureWithoutAHostTakesTheCallers() {
    let refused = SSHFailure(code: -18, message: "")
    #expect(
      AppError(sshError: refused, host: "h", method: "publickey")
        == .sshAuthenticationFailed(method: "publickey"))
    let silent = SSHFailure(code: -9, message: "", phase: .banner)
    #expect(AppError(sshError: silent, host: "h", timeout: 3) == .sshTimeout(seconds: 3))
    let own = SSHFailure(code: -9, message: "", phase: .banner, host: "own", timeout: 9)
    #expect(AppError(sshError: own, host: "h", timeout: 3) == .sshTimeout(seconds: 9))
  }

  /// What libssh2 1.10 said to a real sshd and to listeners that misbehave (measured).
  static let measured: [(SSHFailure.Code, ConnectionPhase, String, AppError)] = [
    (
      -18, .authenticate, "Authentication failed (username/password)",
      .sshAuthenticationFailed(method: "password")
    ),
    (
      -18, .authenticate, "Username/PublicKey combination invalid",
      .sshAuthenticationFailed(method: "password")
    ),
    (
      -16, .authenticate,
      "Unable to extract public key from private key file: Unable to open private key file",
      .sshKeyInvalid(
        reason:
          "Unable to extract public key from private key file: Unable to open private key file"
      )
    ),
    (
      -16, .authenticate, "Unable to open public key file",
      .sshKeyInvalid(reason: "Unable to open public key file")
    ),
    (
      -16, .authenticate, "Invalid public key data",
      .sshKeyInvalid(reason: "Invalid public key data")
    ),
    (
      -7, .authenticate, "Unable to send userauth-password request",
      .sshConnectionFailed(
        host: "h",
        reason: "The server closed the connection during authentication"
          + " (Unable to send userauth-password request).")
    ),
    (-9, .banner, "Timed out waiting on socket", .sshTimeout(seconds: 30)),
    (-9, .keyExchange, "Timed out waiting on socket", .sshTimeout(seconds: 30)),
    (
      -43, .banner, "Failed getting banner",
      .sshConnectionFailed(
        host: "h",
        reason: "The server closed the connection before it sent its version"
          + " (Failed getting banner).")
    ),
  ]

  @Test func whatTheLibrarySaysIsMapped() {
    for (code, phase, text, expected) in Self.measured {
      let failure = SSHFailure(code: code, message: text, phase: phase)
      #expect(AppError(sshError: failure, host: "h") == expected, "\(text)")
    }
  }

  static let payloads: [(SSHFailure, AppError)] = [
    (
      failure(.dial, socket: .failed(errno: ECONNREFUSED)),
      connection("Connection refused: nothing listens on port 2222.")
    ),
    (failure(.dial, socket: .failed(errno: EHOSTUNREACH)), connection("No route to the host.")),
    (
      failure(.dial, socket: .failed(errno: ENODEV)),
      connection("This machine has no such address or interface to connect from.")
    ),
    (
      failure(.dial, socket: .failed(errno: EAFNOSUPPORT)),
      connection("The host has no address of the family that is asked for.")
    ),
    (
      failure(.dial, socket: .failed(errno: EMFILE)),
      connection("This machine has no file descriptors left.")
    ),
    (
      failure(.dial, socket: .failed(errno: EADDRNOTAVAIL)),
      connection("This machine has no local port left for the connection.")
    ),
    (
      failure(.dial, socket: .failed(errno: ENOMEM)), connection("This machine is out of memory.")
    ),
    (failure(.stream, socket: .endOfFile), connection("The connection was lost.")),
    (failure(.stream, seen: .silent(seconds: 15)), .sshTimeout(seconds: 15)),
    (
      failure(.execute, seen: .channelRefused(reason: 1)),
      connection("The server refused to run the command.")
    ),
    (
      failure(.openChannel, seen: .channelRefused(reason: 3), message: " no "),
      connection("The server refused to open a channel (no).")
    ),
    (
      failure(.openChannel, seen: .channelRefused(reason: 2)),
      connection("The server could not reach the other end of the tunnel.")
    ),
    (
      failure(.banner, seen: .notSSH(seen: "HTTP/1.1 400", location: nil)),
      .sshProtocolError(host: "h", detail: "the first line was \"HTTP/1.1 400\"")
    ),
    (
      failure(.banner, seen: .notSSH(seen: "HTTP/1.1 302", location: "http://p/?session=abc#x")),
      .sshProtocolError(host: "h", detail: "it redirects to http://p/?…")
    ),
    (
      failure(
        .openChannel, seen: .channelRefused(reason: 3), message: "no, password=hunter2 is wrong"),
      connection("The server refused to open a channel (no, password=[redacted] is wrong).")
    ),
    (
      failure(.banner, seen: .notSSH(seen: "HTTP/1.1 302", location: "http://portal/")),
      .sshProtocolError(host: "h", detail: "it redirects to http://portal/")
    ),
    (
      SSHFailure(
        code: -2, message: "", phase: .banner, host: "h", preBanner: "220 ftp\r\nsecond"),
      .sshProtocolError(host: "h", detail: "the first line was \"220 ftp\"")
    ),
    (
      failure(.keyExchange, seen: .algorithmMismatch(detail: "ciphers")),
      .sshAlgorithmMismatch(host: "h", detail: "ciphers")
    ),
    (
      SSHFailure(code: -5, message: "", phase: .keyExchange, host: "h"),
      .sshAlgorithmMismatch(
        host: "h", detail: "libssh2 reported KEX_FAILURE during key exchange")
    ),
    (
      failure(.hostKey, seen: .hostKeyUnknown(fingerprint: "SHA256:a")),
      .sshHostKeyUnknown(host: "h", fingerprint: "SHA256:a")
    ),
    (
      failure(.hostKey, seen: .hostKeyNewType(fingerprint: "SHA256:a", detail: "d")),
      .sshHostKeyUnknown(host: "h", fingerprint: "SHA256:a")
    ),
    (
      failure(.execute, seen: .noExitStatus(command: "make")), .sshOutcomeUnknown(command: "make")
    ),
    (failure(.execute, socket: .endOfFile), .sshOutcomeUnknown(command: "")),
    (
      SSHFailure(code: -39, message: "", phase: .stream, host: "h"),
      .internalError(detail: "libssh2 reported BAD_USE in the middle of the session")
    ),
    (
      failure(.authenticate, seen: .agentUnavailable(reason: "none")),
      .sshKeyInvalid(reason: "none")
    ),
  ]

  @Test func thePayloadSaysWhatHappened() {
    for (failure, expected) in Self.payloads {
      #expect(AppError(sshError: failure) == expected)
    }
  }

  @Test(arguments: ConnectionPhase.allCases)
  func aDropNamesThePhase(_ phase: ConnectionPhase) {
    let failure = Self.failure(phase, socket: .endOfFile)
    guard failure.kind == .dropped, case .sshConnectionFailed(_, let reason) = failure.typed.error
    else { return #expect([.resolve, .execute, .openChannel, .stream, .close].contains(phase)) }
    #expect(reason.hasPrefix("The server closed the connection "))
    #expect(reason.hasSuffix("."))
  }

  @Test func everyPhaseHasItsWords() {
    let details = ConnectionPhase.allCases.map { phase in
      AppError(sshError: SSHFailure(code: -14, message: "", phase: phase, host: "h")).userMessage
    }
    #expect(Set(details).count == ConnectionPhase.allCases.count)
  }

  private static func failure(
    _ phase: ConnectionPhase, seen: SSHFailure.Observation? = nil,
    socket: SocketCondition = .open, message: String = ""
  ) -> SSHFailure {
    SSHFailure(
      code: 0, message: message, phase: phase, host: "h", port: 2222, observation: seen,
      socket: socket)
  }

  private static func connection(_ reason: String) -> AppError {
    .sshConnectionFailed(host: "h", reason: reason)
  }
}
