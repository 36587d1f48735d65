import BridgeErrors
import Foundation
import Testing

/// One row of the failure table: what was seen, and all that follows from it.
struct SSHRow: Sendable {
  let failure: SSHFailure
  let kind: FailureKind
  let caseName: String
  let retry: RetryClass
  let exit: Int32

  init(
    _ code: SSHFailure.Code, _ phase: ConnectionPhase, _ kind: FailureKind,
    _ caseName: String, _ retry: RetryClass, _ exit: Int32, message: String = "",
    seen: SSHFailure.Observation? = nil, socket: SocketCondition = .open, reason: Int? = nil,
    preBanner: String = ""
  ) {
    failure = SSHFailure(
      code: code, message: message, phase: phase, host: "build.example", port: 22,
      observation: seen, socket: socket, disconnectReason: reason, preBanner: preBanner,
      method: "publickey", timeout: 15)
    self.kind = kind
    self.caseName = caseName
    self.retry = retry
    self.exit = exit
  }
}

private let fin = SocketCondition.endOfFile
private func dead(_ errno: Int32) -> SocketCondition { .failed(errno: errno) }

private let nameAndDial: [SSHRow] = [
  SSHRow(0, .resolve, .nameUnknown, "dnsError", .reconnect, 68, seen: .nameUnknown),
  SSHRow(0, .resolve, .nameTimeout, "dnsError", .reconnect, 68, seen: .nameTimeout),
  SSHRow(0, .resolve, .nameTimeout, "dnsError", .reconnect, 68, seen: .deadline),
  SSHRow(0, .resolve, .nameTimeout, "dnsError", .reconnect, 68),
  SSHRow(0, .dial, .offline, "networkUnavailable", .awaitNetwork, 69, seen: .offline),
  SSHRow(0, .dial, .offline, "networkUnavailable", .awaitNetwork, 69, socket: dead(ENETDOWN)),
  SSHRow(0, .dial, .refused, "sshConnectionFailed", .reconnectSoon, 69, socket: dead(ECONNREFUSED)),
  SSHRow(
    0, .dial, .unreachable, "sshConnectionFailed", .reconnectSoon, 69, socket: dead(EHOSTUNREACH)),
  SSHRow(
    0, .dial, .unreachable, "sshConnectionFailed", .reconnectSoon, 69, socket: dead(ENETUNREACH)),
  SSHRow(0, .dial, .dropped, "sshConnectionFailed", .reconnect, 69, socket: dead(ECONNRESET)),
  SSHRow(0, .dial, .dialTimeout, "sshTimeout", .reconnect, 124, socket: dead(ETIMEDOUT)),
  SSHRow(0, .dial, .dialTimeout, "sshTimeout", .reconnect, 124, seen: .deadline),
  SSHRow(0, .dial, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin),
]

private let localResources: [SSHRow] =
  [EMFILE, ENFILE, ENOMEM, EADDRNOTAVAIL].flatMap { errno in
    ConnectionPhase.allCases.map { phase in
      SSHRow(
        -43, phase, .localResource, "sshConnectionFailed", .reconnect, 75, socket: dead(errno))
    }
  } + [SSHRow(-6, .keyExchange, .localResource, "sshConnectionFailed", .reconnect, 75)]

private let beforeTheSession: [SSHRow] =
  [ConnectionPhase.banner, .keyExchange, .authenticate].flatMap { phase in
    [
      SSHRow(0, phase, .silent, "sshTimeout", .reconnect, 124, seen: .deadline),
      SSHRow(-9, phase, .silent, "sshTimeout", .reconnect, 124),
      SSHRow(-30, phase, .silent, "sshTimeout", .reconnect, 124),
      SSHRow(0, phase, .throttled, "sshServerBusy", .reconnectLater, 75, socket: fin, reason: 12),
      SSHRow(
        -43, phase, .throttled, "sshServerBusy", .reconnectLater, 75, socket: dead(ECONNRESET),
        preBanner: "Exceeded MaxStartups\r\n"),
      SSHRow(
        0, phase, .throttled, "sshServerBusy", .reconnectLater, 75,
        seen: .notSSH(seen: "Not allowed at this time", location: nil)),
      SSHRow(-13, phase, .dropped, "sshConnectionFailed", .reconnect, 69),
      SSHRow(-43, phase, .dropped, "sshConnectionFailed", .reconnect, 69),
      SSHRow(-7, phase, .dropped, "sshConnectionFailed", .reconnect, 69),
      SSHRow(-3, phase, .dropped, "sshConnectionFailed", .reconnect, 69),
      SSHRow(-1, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin),
      SSHRow(-8, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin),
      SSHRow(-18, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin),
      SSHRow(
        -19, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: dead(ECONNRESET)),
      SSHRow(0, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin, reason: 10),
      SSHRow(0, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin, reason: 11),
      SSHRow(0, phase, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin, reason: 7),
      // This machine gave up.
      SSHRow(-8, phase, .silent, "sshTimeout", .reconnect, 124, socket: dead(ETIMEDOUT)),
      SSHRow(-43, phase, .silent, "sshTimeout", .reconnect, 124, socket: dead(ETIMEDOUT)),
      SSHRow(
        -43, phase, .unreachable, "sshConnectionFailed", .reconnectSoon, 69,
        socket: dead(EHOSTUNREACH)),
      SSHRow(
        -43, phase, .offline, "networkUnavailable", .awaitNetwork, 69, socket: dead(ENETDOWN)),
    ]
  }

private let protocols: [SSHRow] =
  [-4, -12, -14, -24, -25, -38, -41, -8, -20, -29, -40].flatMap { code in
    ConnectionPhase.allCases.map { phase in
      SSHRow(
        .init(rawValue: code), phase, .corrupted, "sshProtocolError", .reconnectOnce, 76)
    }
  }
  + [2, 3, 5, 9].map { reason in
    SSHRow(
      -8, .keyExchange, .rejected, "sshProtocolError", .never, 76, message: "bad packet",
      socket: fin, reason: reason)
  }
  + [1, 8].map { reason in
    SSHRow(0, .banner, .rejected, "sshProtocolError", .never, 76, socket: fin, reason: reason)
  } + [
    SSHRow(
      -8, .keyExchange, .dropped, "sshConnectionFailed", .reconnect, 69, socket: fin, reason: 2),
    SSHRow(-1, .keyExchange, .corrupted, "sshProtocolError", .reconnectOnce, 76),
    SSHRow(
      0, .banner, .notTheProtocol, "sshProtocolError", .reconnectLater, 76,
      seen: .notSSH(seen: "HTTP/1.1 400 Bad Request", location: nil)),
    SSHRow(
      0, .banner, .notTheProtocol, "sshProtocolError", .reconnectLater, 76,
      seen: .notSSH(seen: "HTTP/1.1 302 Found", location: "http://portal.example/login")),
    SSHRow(
      -2, .banner, .notTheProtocol, "sshProtocolError", .reconnectLater, 76,
      preBanner: "HTTP/1.1 400 Bad Request\r\nx: y"),
    SSHRow(-2, .banner, .dropped, "sshConnectionFailed", .reconnect, 69),
    SSHRow(
      0, .keyExchange, .algorithmMismatch, "sshAlgorithmMismatch", .never, 76,
      seen: .algorithmMismatch(detail: "ciphers: ours aes128-ctr, theirs 3des-cbc")),
    SSHRow(-5, .keyExchange, .algorithmMismatch, "sshAlgorithmMismatch", .never, 76),
    SSHRow(
      -5, .keyExchange, .algorithmMismatch, "sshAlgorithmMismatch", .never, 76,
      message: "no match", socket: fin, reason: 3),
    SSHRow(
      0, .banner, .versionLineTooLong, "sshProtocolError", .needsPerson, 76,
      seen: .versionLineTooLong(line: "SSH-2.0-OpenSSH_9.2p1 Debian")),
  ]

private let identity: [SSHRow] = [
  SSHRow(-10, .keyExchange, .hostKeyProof, "sshHostKeyMismatch", .needsPerson, 79),
  SSHRow(-11, .keyExchange, .hostKeyProof, "sshHostKeyMismatch", .needsPerson, 79),
  SSHRow(
    0, .hostKey, .hostKeyUnknown, "sshHostKeyUnknown", .needsPerson, 79,
    seen: .hostKeyUnknown(fingerprint: "SHA256:abc")),
  SSHRow(
    0, .hostKey, .hostKeyChanged, "sshHostKeyMismatch", .needsPerson, 79,
    seen: .hostKeyChanged(detail: "ssh-ed25519 differs")),
  SSHRow(
    0, .hostKey, .hostKeyRevoked, "sshHostKeyMismatch", .needsPerson, 79,
    seen: .hostKeyRevoked(detail: "revoked in k:3")),
  SSHRow(
    0, .hostKey, .hostKeyNewType, "sshHostKeyUnknown", .needsPerson, 79,
    seen: .hostKeyNewType(fingerprint: "SHA256:abc", detail: "known by RSA only")),
]

private let credentials: [SSHRow] =
  [ConnectionPhase.authenticate, .stream].flatMap { phase in
    [
      SSHRow(-18, phase, .authenticationRefused, "sshAuthenticationFailed", .needsPerson, 77),
      SSHRow(-19, phase, .authenticationRefused, "sshAuthenticationFailed", .needsPerson, 77),
      SSHRow(-15, phase, .authenticationRefused, "sshAuthenticationFailed", .needsPerson, 77),
      SSHRow(
        -19, phase, .keyUnusable, "sshKeyInvalid", .needsPerson, 65,
        message: "Callback returned error"),
      SSHRow(-16, phase, .keyUnusable, "sshKeyInvalid", .needsPerson, 65),
      SSHRow(-17, phase, .keyUnusable, "sshKeyInvalid", .needsPerson, 65),
      SSHRow(-48, phase, .keyUnusable, "sshKeyInvalid", .needsPerson, 65),
      SSHRow(-42, phase, .agentUnavailable, "sshKeyInvalid", .needsPerson, 65),
      SSHRow(-33, phase, .agentUnavailable, "sshKeyInvalid", .needsPerson, 65),
    ]
  }
  + [13, 14, 15].map { reason in
    SSHRow(
      0, .authenticate, .authenticationRefused, "sshAuthenticationFailed", .needsPerson, 77,
      socket: fin, reason: reason)
  } + [
    SSHRow(
      -43, .authenticate, .authenticationRefused, "sshAuthenticationFailed", .needsPerson, 77,
      message: "Too many authentication failures", socket: fin, reason: 2),
    SSHRow(
      0, .authenticate, .keyUnusable, "sshKeyInvalid", .needsPerson, 65,
      seen: .keyUnusable(reason: "RSA needs libssh2 1.11, this is 1.10.0")),
    SSHRow(
      0, .authenticate, .agentUnavailable, "sshKeyInvalid", .needsPerson, 65,
      seen: .agentUnavailable(reason: "SSH_AUTH_SOCK is not set")),
  ]

private let channels: [SSHRow] = [
  SSHRow(
    0, .openChannel, .channelDenied, "sshConnectionFailed", .never, 76,
    seen: .channelRefused(reason: 1)),
  SSHRow(
    0, .openChannel, .channelDenied, "sshConnectionFailed", .never, 76,
    seen: .channelRefused(reason: 3)),
  SSHRow(
    0, .openChannel, .targetRefused, "sshConnectionFailed", .reconnectSoon, 69,
    seen: .channelRefused(reason: 2)),
  SSHRow(
    0, .openChannel, .throttled, "sshServerBusy", .reconnectLater, 75,
    seen: .channelRefused(reason: 4)),
  SSHRow(-22, .execute, .channelDenied, "sshConnectionFailed", .never, 76),
  SSHRow(-21, .openChannel, .channelDenied, "sshConnectionFailed", .never, 76),
  SSHRow(-32, .stream, .channelDenied, "sshConnectionFailed", .never, 76),
  SSHRow(
    0, .execute, .outcomeUnknown, "sshOutcomeUnknown", .reconnect, 74,
    seen: .noExitStatus(command: "make")),
  SSHRow(
    0, .stream, .noStatus, "sshOutcomeUnknown", .never, 74,
    seen: .closedWithoutStatus(command: "make")),
  SSHRow(-43, .execute, .outcomeUnknown, "sshOutcomeUnknown", .reconnect, 74, socket: fin),
  SSHRow(
    0, .stream, .outputLost, "sshProtocolError", .never, 76,
    seen: .outputLost(detail: "5 bytes are lost")),
]

private let sessions: [SSHRow] = [
  SSHRow(-43, .stream, .linkLost, "sshConnectionFailed", .reconnect, 69, socket: fin),
  SSHRow(-13, .openChannel, .linkLost, "sshConnectionFailed", .reconnect, 69),
  SSHRow(-7, .stream, .linkLost, "sshConnectionFailed", .reconnect, 69, socket: dead(EPIPE)),
  SSHRow(0, .stream, .linkLost, "sshConnectionFailed", .reconnect, 69, reason: 11),
  SSHRow(0, .stream, .linkLost, "sshConnectionFailed", .reconnect, 69, reason: 12),
  SSHRow(0, .openChannel, .linkLost, "sshConnectionFailed", .reconnect, 69, reason: 2),
  SSHRow(0, .execute, .outcomeUnknown, "sshOutcomeUnknown", .reconnect, 74, reason: 2),
  SSHRow(0, .execute, .outcomeUnknown, "sshOutcomeUnknown", .reconnect, 74, reason: 14),
  SSHRow(0, .close, .linkLost, "sshConnectionFailed", .reconnect, 69, socket: fin),
  SSHRow(-77, .stream, .linkLost, "sshConnectionFailed", .reconnect, 69),
  SSHRow(0, .stream, .linkSilent, "sshTimeout", .reconnect, 124, seen: .silent(seconds: 15)),
  SSHRow(-9, .stream, .linkSilent, "sshTimeout", .reconnect, 124),
  SSHRow(-9, .dial, .dialTimeout, "sshTimeout", .reconnect, 124),
  SSHRow(-9, .close, .silent, "sshTimeout", .reconnect, 124),
]

private let faultsOfOurs: [SSHRow] =
  [-34, -39, -35, -36, -23, -26, -27, -37, -47, -44, -45, -46, -49].map { code in
    SSHRow(
      .init(rawValue: code), .stream, .internalFault, "internalError", .reconnectOnce, 70)
  }

private let cancellation: [SSHRow] = ConnectionPhase.allCases.map { phase in
  SSHRow(0, phase, .cancelled, "cancelled", .never, 130, seen: .cancelled, socket: fin)
}

private let table =
  nameAndDial + localResources + beforeTheSession + protocols + identity + credentials
  + channels + sessions + faultsOfOurs + cancellation

@Suite("An SSH failure becomes what the failure table says")
struct SSHFailureKindTests {
  @Test(arguments: table)
  func everyRow(_ row: SSHRow) {
    let (error, context) = (row.failure.typed.error, FailureContext(sshFailure: row.failure))
    #expect(context.kind == row.kind)
    #expect(error.caseName == row.caseName)
    #expect(error.retryClass(in: context) == row.retry)
    #expect(error.exitCode(in: context).rawValue == row.exit)
    #expect(AppError(sshError: row.failure, host: "other.example") == error)
    #expect(AppError(wrapping: row.failure) == error)
    #expect(context.phase == row.failure.phase)
    #expect(context.host == "build.example")
    #expect(context.port == 22)
    #expect(context.disconnectReason == row.failure.disconnectReason)
    #expect(context.native?.socket == row.failure.socket)
  }

  @Test func aNameThatDoesNotExistIsNotRetriedOnTheFirstDial() {
    let failure = SSHRow(
      0, .resolve, .nameUnknown, "dnsError", .never, 68, seen: .nameUnknown
    ).failure.typed
    #expect(failure.retryClass(isFirstDial: true) == .never)
    #expect(failure.retryClass() == .reconnect)
  }

  @Test func aLostShellEndsWithOutcomeUnknown() {
    for row in sessions where row.kind == .linkLost || row.kind == .linkSilent {
      let (error, context) = (row.failure.typed.error, FailureContext(sshFailure: row.failure))
      #expect(error.exitCode(in: context, endsSession: true) == .outcomeUnknown)
    }
  }
}
