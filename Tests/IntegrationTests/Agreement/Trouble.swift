import BridgeErrors
import BridgeRecovery
import BridgeTransport
import Testing

/// Something that happens to a link, whatever the link is made of.
enum Move: Sendable {
  /// The network resets it.
  case reset
  /// The next dial is dropped during key exchange.
  case dropNext
  /// No listener any more, and open connections are reset.
  case goDown
  /// Everything is as it was, or what took its place is there.
  case comeBack
  /// The open link carries nothing any more; new ones work.
  case freeze
  /// The user's key is not accepted any more.
  case revoke
  /// The host comes back with another key.
  case swapKeys
}

/// Trouble with one link, and how it goes.
struct Trouble: Sendable, CustomTestStringConvertible {
  /// The steps, each after the event before it.
  enum Step: Sendable {
    case move(Move)
    case until(String)
  }

  var name: String
  var steps: [Step]
  /// All events, in order.
  var outcome: [String]
  /// Long, but where silence is the trouble: on a busy machine a probe may take seconds.
  var keepalive = Duration.seconds(30)

  var testDescription: String { name }

  static let all = [
    Trouble(
      name: "a reset", steps: [.move(.reset), .until("back")],
      outcome: ["connected", "failed linkLost", "back"]),
    Trouble(
      name: "a reset, and one during the reconnect",
      steps: [.move(.dropNext), .move(.reset), .until("failed dropped"), .until("back")],
      outcome: ["connected", "failed linkLost", "failed dropped", "back"]),
    Trouble(
      name: "no listener for a while",
      steps: [.move(.goDown), .until("failed refused"), .move(.comeBack), .until("back")],
      outcome: ["connected", "failed linkLost", "failed refused", "back"]),
    Trouble(
      name: "a link that freezes", steps: [.move(.freeze), .until("back")],
      outcome: ["connected", "failed linkSilent", "back"], keepalive: .seconds(1)),
    Trouble(
      name: "the key is revoked",
      steps: [.move(.revoke), .move(.reset), .until("gave up sshAuthenticationFailed")],
      outcome: [
        "connected", "failed linkLost", "failed authenticationRefused",
        "gave up sshAuthenticationFailed",
      ]),
    Trouble(
      name: "the host is another one",
      steps: [
        .move(.goDown), .until("failed refused"), .move(.swapKeys), .move(.comeBack),
        .until("gave up sshHostKeyMismatch"),
      ],
      outcome: [
        "connected", "failed linkLost", "failed refused", "failed hostKeyChanged",
        "gave up sshHostKeyMismatch",
      ]),
  ]

  /// The timeout is so long that a busy machine does not declare a link dead by mistake.
  var liveness: LivenessPolicy {
    LivenessPolicy(keepalive: keepalive, switching: .costly, deadAfter: .seconds(5))
  }

  /// Lets it happen, and returns the events. Repeated words are one: how often it was tried in
  /// vain is a matter of chance.
  func told<Events: AsyncSequence<RecoveryEvent, Never>>(
    by events: Events, _ make: (Move) async throws -> Void
  ) async throws -> [String] {
    var reader = events.makeAsyncIterator()
    var told: [String] = []
    func read(until word: String) async {
      while told.last != word, let event = await reader.next(isolation: #isolation) {
        guard let next = Self.word(for: event.step), next != told.last else { continue }
        told.append(next)
      }
    }
    await read(until: "connected")
    for step in steps {
      switch step {
      case .move(let move): try await make(move)
      case .until(let word): await read(until: word)
      }
    }
    return told
  }

  private static func word(for step: RecoveryEvent.Step) -> String? {
    switch step {
    case .recovered(_, _, let isFirst): isFirst ? "connected" : "back"
    case .failed(let failure): failure.kind.map { "failed \($0)" }
    case .gaveUp(let failure, _): "gave up \(failure.error.caseName)"
    case .attempted, .entered, .becameHealthy, .classified, .waiting, .suspended, .resumed,
      .suspected, .cleared, .switched, .surfaced, .withdrawn, .lingered, .changed, .closed, .missed:
      nil
    }
  }
}
