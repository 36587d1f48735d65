import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket
import Narration

/// Every way a server can end a WebSocket, and what follows: some ends are final, some are worth
/// one more try, most are only a reason to come back.
@main
enum CloseCodes {
  static func main() async {
    await Story.tell("websocket-close-codes", within: .seconds(60)) { story in
      let supervisor = Supervisor(clock: ContinuousClock(), seed: story.options.seed)
      var watch = Watch(supervisor.events(), in: story)
      for ending in Ending.all {
        await story.say(.fault, ending.name)
        let outcome = try await outcome(of: ending, supervisor, &watch)
        await story.hold("\(ending.name): \(ending.expected.rawValue)", outcome == ending.expected)
      }
      await supervisor.shutDown()
    }
  }

  private static func outcome<Events>(
    of ending: Ending, _ supervisor: Supervisor<ContinuousClock>, _ watch: inout Watch<Events>
  ) async throws -> Ending.Outcome {
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript([.awaitMessages(1)] + ending.steps), .echo,
    ])
    let id = ConnectionID(ending.name)
    let link = try await supervisor.add(id, toWebSocketAt: peer.port)
    try await watch.untilUp()
    try await link.connection.send(text: "go")
    let seen = try await watch.until("an outcome") {
      switch $0 {
      case .recovered, .gaveUp: true
      default: false
      }
    }
    if case .gaveUp = seen.last?.step {
      await link.close()
      await peer.stop()
      return .ends
    }
    _ = try await link.connection.probe(within: .seconds(60))
    await link.close()
    await peer.stop()
    return .comesBack
  }
}

/// One way to end it.
private struct Ending: Sendable {
  /// What the runtime makes of it.
  enum Outcome: String, Sendable {
    case comesBack = "it comes back"
    case ends = "it is not tried again by itself"
  }

  var name: String
  var steps: [WebSocketStep]
  var expected: Outcome

  /// RFC 6455, 7.4.1, and the ends that have no code.
  static let all = [
    Ending(name: "1000, done", steps: [.close(1000, "done")], expected: .ends),
    Ending(name: "1001, going away", steps: [.close(1001)], expected: .comesBack),
    Ending(name: "1003, cannot accept", steps: [.close(1003)], expected: .ends),
    Ending(name: "1008, against the rules", steps: [.close(1008, "no")], expected: .ends),
    Ending(name: "1009, too big", steps: [.close(1009)], expected: .ends),
    Ending(name: "1011, internal error", steps: [.close(1011)], expected: .comesBack),
    Ending(name: "1012, restart", steps: [.close(1012)], expected: .comesBack),
    Ending(name: "1013, try again later", steps: [.close(1013)], expected: .comesBack),
    Ending(name: "4000, of its own", steps: [.close(4000)], expected: .comesBack),
    Ending(name: "a close frame without a code", steps: [.close(nil)], expected: .comesBack),
    Ending(name: "FIN without a close frame", steps: [.finish], expected: .comesBack),
    Ending(name: "RST", steps: [.reset], expected: .comesBack),
    Ending(
      name: "a frame with reserved bits",
      steps: [.raw(RawFrame([]).with { $0.reserved = 7 }.bytes)], expected: .comesBack),
    Ending(
      name: "text that is no UTF-8", steps: [.raw(RawFrame([0xC3, 0x28]).bytes)],
      expected: .comesBack),
  ]
}
