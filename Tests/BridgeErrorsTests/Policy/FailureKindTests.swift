import BridgeErrors
import Testing

/// Every kind of failure with what follows from it alone.
let kindTable: [(FailureKind, String, RetryClass, Int32)] = [
  (.nameUnknown, "nameUnknown", .reconnect, 68),
  (.nameTimeout, "nameTimeout", .reconnect, 68),
  (.offline, "offline", .awaitNetwork, 69),
  (.refused, "refused", .reconnectSoon, 69),
  (.unreachable, "unreachable", .reconnectSoon, 69),
  (.dialTimeout, "dialTimeout", .reconnect, 124),
  (.localResource, "localResource", .reconnect, 75),
  (.silent, "silent", .reconnect, 124),
  (.throttled, "throttled", .reconnectLater, 75),
  (.dropped, "dropped", .reconnect, 69),
  (.notTheProtocol, "notTheProtocol", .reconnectLater, 76),
  (.algorithmMismatch, "algorithmMismatch", .never, 76),
  (.corrupted, "corrupted", .reconnectOnce, 76),
  (.outputLost, "outputLost", .never, 76),
  (.versionLineTooLong, "versionLineTooLong", .needsPerson, 76),
  (.hostKeyProof, "hostKeyProof", .needsPerson, 79),
  (.rejected, "rejected", .never, 76),
  (.hostKeyUnknown, "hostKeyUnknown", .needsPerson, 79),
  (.hostKeyChanged, "hostKeyChanged", .needsPerson, 79),
  (.hostKeyRevoked, "hostKeyRevoked", .needsPerson, 79),
  (.hostKeyNewType, "hostKeyNewType", .needsPerson, 79),
  (.authenticationRefused, "authenticationRefused", .needsPerson, 77),
  (.keyUnusable, "keyUnusable", .needsPerson, 65),
  (.agentUnavailable, "agentUnavailable", .needsPerson, 65),
  (.channelDenied, "channelDenied", .never, 76),
  (.targetRefused, "targetRefused", .reconnectSoon, 69),
  (.outcomeUnknown, "outcomeUnknown", .reconnect, 74),
  (.noStatus, "noStatus", .never, 74),
  (.linkLost, "linkLost", .reconnect, 69),
  (.linkSilent, "linkSilent", .reconnect, 124),
  (.internalFault, "internalFault", .reconnectOnce, 70),
  (.tls(.unknownIssuer), "tls.unknownIssuer", .needsPerson, 79),
  (.tls(.selfSigned), "tls.selfSigned", .needsPerson, 79),
  (.tls(.expired), "tls.expired", .needsPerson, 79),
  (.tls(.notYetValid), "tls.notYetValid", .needsPerson, 79),
  (.tls(.wrongName), "tls.wrongName", .needsPerson, 79),
  (.tls(.notTLS), "tls.notTLS", .needsPerson, 76),
  (.tls(.pinMismatch), "tls.pinMismatch", .needsPerson, 79),
  (.tls(.badSignature), "tls.badSignature", .needsPerson, 79),
  (.tls(.weakKey), "tls.weakKey", .needsPerson, 79),
  (.tls(.weakDigest), "tls.weakDigest", .needsPerson, 79),
  (.tls(.revoked), "tls.revoked", .needsPerson, 79),
  (.tls(.invalidCertificate), "tls.invalidCertificate", .needsPerson, 79),
  (.tls(.identityRequired), "tls.identityRequired", .needsPerson, 79),
  (.tls(.identityRefused), "tls.identityRefused", .needsPerson, 79),
  (.refusedUpgrade(status: 400), "refusedUpgrade.400", .reconnectLater, 76),
  (.refusedUpgrade(status: 401), "refusedUpgrade.401", .reconnectOnce, 77),
  (.refusedUpgrade(status: 403), "refusedUpgrade.403", .reconnectOnce, 77),
  (.refusedUpgrade(status: 404), "refusedUpgrade.404", .reconnectLater, 69),
  (.refusedUpgrade(status: 408), "refusedUpgrade.408", .reconnect, 75),
  (.refusedUpgrade(status: 409), "refusedUpgrade.409", .reconnectLater, 75),
  (.refusedUpgrade(status: 429), "refusedUpgrade.429", .reconnectLater, 75),
  (.refusedUpgrade(status: 503), "refusedUpgrade.503", .reconnect, 75),
  (.proxyRefused(status: 403), "proxyRefused.403", .needsPerson, 77),
  (.proxyRefused(status: 407), "proxyRefused.407", .needsPerson, 77),
  (.proxyRefused(status: 429), "proxyRefused.429", .reconnectLater, 75),
  (.proxyRefused(status: 502), "proxyRefused.502", .reconnect, 69),
  (.secureOnly, "secureOnly", .reconnectLater, 76),
  (.overLimit, "overLimit", .needsPerson, 78),
  (.closedByPeer, "closedByPeer", .never, 0),
  (.closedByApplication, "closedByApplication", .reconnect, 69),
  (.cancelled, "cancelled", .never, 130),
]

@Suite("What follows from the kind of a failure")
struct FailureKindTests {
  @Test func everyKind() {
    for (kind, name, retry, exit) in kindTable {
      #expect(kind.description == name)
      #expect(kind.retryClass() == retry, "\(kind)")
      #expect(kind.exitCode().rawValue == exit, "\(kind)")
      let first = kind.retryClass(isFirstDial: true)
      let onFirst: [FailureKind: RetryClass] = [
        .nameUnknown: .never, .notTheProtocol: .needsPerson, .secureOnly: .needsPerson,
        // Before a first connection the request itself is at fault, later what is behind a gateway.
        .refusedUpgrade(status: 400): .needsPerson, .refusedUpgrade(status: 401): .needsPerson,
        .refusedUpgrade(status: 403): .needsPerson, .refusedUpgrade(status: 404): .never,
        .refusedUpgrade(status: 409): .needsPerson,
      ]
      #expect(first == onFirst[kind] ?? retry, "\(kind)")
      let ending = kind.exitCode(endsSession: true).rawValue
      #expect(ending == (kind == .linkLost || kind == .linkSilent ? 74 : exit), "\(kind)")
      #expect(kind.stops == (Self.ofHost.contains(kind) ? .host : .connection))
    }
  }

  private static let ofHost: Set<FailureKind> = [.hostKeyChanged, .hostKeyRevoked]

  @Test(arguments: RetryClass.allCases)
  func everyClassIsExplained(_ retry: RetryClass) {
    #expect(!retry.explanation.isEmpty)
    #expect(retry.isAutomatic == (retry != .needsPerson && retry != .never))
  }

  /// A script that takes 124 for "not started" would start it again.
  @Test(arguments: FailureKind.allCases)
  func anOutcomeThatIsNotKnownStaysSoWhateverTheContextSays(kind: FailureKind) {
    let context = FailureContext(kind: kind, phase: .execute, host: "h")
    for error in [
      AppError.sshOutcomeUnknown(command: "make"),
      .durableSessionOutcomeUnknown(host: "h", reason: "lost"),
    ] {
      #expect(error.exitCode(in: context) == .outcomeUnknown)
      #expect(error.exitCode(in: context, endsSession: true) == .outcomeUnknown)
    }
  }

  @Test func whatWentSilentAfterTheLoginIsNotAnotherProgramOnThePort() {
    let late = FailureContext(kind: .silent, phase: .execute, host: "h")
    let early = FailureContext(kind: .silent, phase: .banner, host: "h")
    let error = AppError.sshTimeout(seconds: 15)
    #expect(error.hint(in: late)?.contains("listens on that port") == false)
    #expect(error.hint(in: early)?.contains("listens on that port") == true)
  }

  @Test func aCancellationStaysOneWhateverTheContextSays() {
    let context = FailureContext(kind: .linkLost, phase: .stream, host: "h")
    #expect(AppError.cancelled.retryClass(in: context) == .never)
    #expect(AppError.cancelled.exitCode(in: context) == .interrupted)
    #expect(AppError.cancelled.hint(in: context) == AppError.cancelled.hint)
  }

  /// What the peer never saw costs nothing; a host that ended a dial itself keeps nothing of it.
  @Test func everyDialHasItsCost() {
    let costs: [DialCost: [FailureKind]] = [
      .neverSent: [
        .nameUnknown, .nameTimeout, .offline, .refused, .unreachable, .localResource,
        .targetRefused,
      ],
      .throttled: [.throttled], .ended: [.dropped],
    ]
    for (kind, _, _, _) in kindTable {
      #expect(kind.dialCost == costs.first { $0.value.contains(kind) }?.key ?? .spent, "\(kind)")
    }
  }

  @Test func whatMayNotBeRetriedIsNot() {
    let never: [FailureKind] = [
      .authenticationRefused, .hostKeyUnknown, .hostKeyChanged, .hostKeyRevoked, .hostKeyNewType,
      .hostKeyProof,
      .keyUnusable, .tls(.selfSigned), .cancelled,
    ]
    #expect(never.allSatisfy { !$0.retryClass().isAutomatic })
  }
}

@Suite("Hints")
struct HintTests {
  @Test func everyKindHasAHintThatIsOneParagraph() throws {
    for (kind, _, _, _) in kindTable {
      let context = FailureContext(kind: kind, phase: .banner, host: "h")
      let hint = try #require(AppError.sshTimeout(seconds: 1).hint(in: context))
      #expect(hint.hasPrefix("h did not answer for 1 second. "))
      #expect(hint.hasSuffix(".") && !hint.contains("\n") && !hint.contains("  "), "\(hint)")
    }
  }

  @Test func theContextSharpensTheHint() throws {
    let error = AppError.sshConnectionFailed(host: "h", reason: "Connection refused.")
    let refused = FailureContext(kind: .refused, phase: .dial, host: "h")
    let hint = try #require(error.hint(in: refused))
    #expect(hint.contains("nothing listens on that port"))
    #expect(error.hint(in: nil) == error.hint)
    // A kind that knows nothing better leaves the row's hint.
    let offline = FailureContext(kind: .offline, phase: .dial, host: "h")
    #expect(error.hint(in: offline) == error.hint)
  }

  @Test(arguments: [400, 403, 418])
  func aRefusedRequestDoesNotAskToTryLater(status: Int) {
    let context = FailureContext(kind: .refusedUpgrade(status: status), phase: .upgrade, host: "h")
    let refused = AppError.serverError(status: status, message: nil)
    #expect(
      refused.shownMessage(in: context)
        == "The server refused the upgrade to WebSocket (HTTP status \(status)).")
    let down = FailureContext(kind: .refusedUpgrade(status: 503), phase: .upgrade, host: "h")
    #expect(
      AppError.serverError(status: 503, message: nil).shownMessage(in: down).contains("later"))
  }

  @Test(arguments: [400, 418])
  func aRefusedRequestIsNotBlamedOnTheServersHealth(status: Int) throws {
    let context = FailureContext(kind: .refusedUpgrade(status: status), phase: .upgrade, host: "h")
    let hint = try #require(AppError.serverError(status: status, message: nil).hint(in: context))
    #expect(hint.hasPrefix("The server refused it: check the address"))
    for down in [0, 408, 425, 500, 503] {
      let hint = AppError.serverError(status: down, message: nil).hint
      #expect(try #require(hint).hasPrefix("The problem is on the server"))
    }
  }

  @Test func aRedirectAndAKeyAreNamed() throws {
    let portal = FailureContext(
      kind: .notTheProtocol, phase: .banner, host: "h", detail: "http://portal/\u{1B}[2J")
    let error = AppError.sshProtocolError(host: "h", detail: "d")
    #expect(try #require(error.hint(in: portal)).contains("leads to http://portal/\\x1b[2J: open"))
    let changed = FailureContext(
      kind: .hostKeyChanged, phase: .hostKey, host: "h", detail: "line 3")
    let mismatch = try #require(AppError.sshHostKeyMismatch(host: "h").hint(in: changed))
    #expect(mismatch.contains("not the one on record. line 3. Do not continue"))
  }

  @Test func aCommandStandsInTheHintBelowTheMessage() throws {
    var context = FailureContext(kind: .hostKeyChanged, phase: .hostKey, host: "h")
    context.command = "ssh-keygen -R h"
    let changed = ConnectionError(.sshHostKeyMismatch(host: "h"), context: context)
    let hint = try #require(changed.hintBelowMessage)
    #expect(hint.hasPrefix("Do not continue: ") && hint.hasSuffix(" `ssh-keygen -R h`"))
    let invalid = AppError.validationError(field: "f", message: "It is empty.")
    #expect(ConnectionError(invalid).hintBelowMessage == nil)
  }

  @Test func aKeyOfANewTypeHasItsOwnWords() throws {
    let seen = SSHFailure.Observation.hostKeyNewType(
      fingerprint: "SHA256:a", detail: "It shows the ED25519 key SHA256:a\u{1B}, known by RSA (k:1)"
    )
    let failure = SSHFailure(code: 0, message: "", phase: .hostKey, host: "h", observation: seen)
    let (error, context) = (failure.typed.error, FailureContext(sshFailure: failure))
    let shown = error.shownMessage(in: context)
    #expect(shown == "It shows the ED25519 key SHA256:a\\x1b, known by RSA (k:1).")
    let hint = try #require(error.hintBelowMessage(in: context))
    #expect(hint.contains("No credential was sent") && hint.contains("connect from a terminal"))
    // Without the detail the message of the catalogue stands.
    #expect(error.shownMessage() == error.userMessage)
  }

  @Test func dropsInARowAreToldWithThePhase() throws {
    let error = AppError.sshConnectionFailed(host: "h", reason: "r")
    func hint(_ repeats: Int?) throws -> String {
      let context = FailureContext(
        kind: .dropped, phase: .keyExchange, host: "h", repeats: repeats)
      return try #require(error.hint(in: context))
    }
    for few in [nil, 1, 2] { #expect(try !hint(few).contains("in a row")) }
    #expect(
      try hint(3).contains("The server drops us during key exchange, 3 times in a row"))
  }

  @Test func aCodeOfAnApplicationThatComesAgainAndAgainAsksForALogin() throws {
    func hint(_ repeats: Int?) throws -> String {
      let context = FailureContext(
        kind: .closedByApplication, phase: .stream, host: "h", repeats: repeats)
      return try #require(
        AppError.webSocketDisconnected(code: 4_401, reason: nil).hint(in: context))
    }
    for few in [nil, 2] { #expect(try !hint(few).contains("login")) }
    #expect(try hint(3).contains("with this code 3 times in a row"))
  }

  @Test func anExpiredPasswordIsNoWrongOne() throws {
    let failure = SSHFailure(
      code: .passwordExpired, message: "", phase: .authenticate, host: "h", method: "password")
    let hint = AppError(sshError: failure).hint(in: FailureContext(sshFailure: failure))
    #expect(try #require(hint).hasPrefix("The password has expired:"))
  }

  @Test(arguments: [
    (1000, "ended the connection"), (1001, "is going away"),
    (1002, "a restart, an overload or a protocol error"),
    (1003, "does not accept this kind"), (1007, "could not read"), (1008, "violated the server's"),
    (1009, "too big"), (1010, "extension"), (1011, "failed"), (1012, "restarting"),
    (1013, "too busy"), (1014, "an upstream server"), (4000, "ended the connection"),
  ])
  func aCloseCodeIsTold(code: Int, words: String) {
    let told = AppError.webSocketDisconnected(code: code, reason: nil).shownMessage()
    #expect(told.contains("\(words)") && told.contains("(close code \(code))"), "\(told)")
    let given = AppError.webSocketDisconnected(code: code, reason: "log in again")
    #expect(given.shownMessage() == "log in again (close code \(code))")
    #expect(given.userMessage == "log in again")
  }

  @Test(arguments: [(50, "\"?\""), (51, "\"? …\"")])
  func aCommandThatIsTooLongForASentenceIsCutWithAMark(length: Int, quoted: String) {
    let error = AppError.sshOutcomeUnknown(command: String(repeating: "x", count: length))
    let start = String(repeating: "x", count: 50)
    #expect(error.userMessage.contains(quoted.replacing("?", with: start)))
  }

  @Test(arguments: [nil, 1000, 1003, 1009, 3999] as [Int?])
  func aCloseWithoutAReasonPromisesNothing(code: Int?) {
    let error = AppError.webSocketDisconnected(code: code, reason: nil)
    #expect(error.userMessage == "The connection was lost. Reconnecting...")
    #expect(!error.shownMessage().contains("Reconnecting"))
    #expect(error.shownMessage().contains(code.map { "(close code \($0))" } ?? "was lost."))
  }
}
