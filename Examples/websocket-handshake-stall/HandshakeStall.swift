import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket
import Narration

/// A server that accepts connections and does not upgrade them: it is silent, it stops in the
/// middle of its answer, it is busy. A handshake without a deadline of its own would hang forever.
@main
enum HandshakeStall {
  static let deadline = Duration.seconds(5)
  static let busyFor = Duration.seconds(1)

  static func main() async {
    await Story.tell("websocket-handshake-stall", within: .seconds(60)) { story in
      let peer = try await ScriptedWebSocketPeer([
        .stalledHandshake,
        WebSocketScript(upgrade: .raw(Array("HTTP/1.1 101 Switching Pro".utf8))),
        .refusing(503, ["Retry-After": "1"], body: "warming up"),
        .echo,
      ])
      await story.say(.fault, "the first dial: no answer to the upgrade request")
      await story.say(.fault, "the second: half an answer")
      await story.say(.fault, "the third: 503, Retry-After: 1")
      do { try await tell(story, peer) } catch {
        await peer.stop()
        throw error
      }
      await peer.stop()
    }
  }

  private static func tell(_ story: Story, _ peer: ScriptedWebSocketPeer) async throws {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: story.options.seed)
    var watch = Watch(supervisor.events(), in: story)
    var configuration = WebSocketConfiguration()
    configuration.timeouts.upgrade = deadline
    let link = try await supervisor.add(
      "chat", toWebSocketAt: peer.port, configuration: configuration)
    let seen = try await watch.untilUp()

    let requests = await peer.log.count { $0.kind.isRequest }
    await story.hold("it took four dials, and no more", requests == 4)
    let (dials, ends) = (seen.dialTimes, seen.failureTimes)
    guard dials.count == 4, ends.count == 3 else {
      return await story.hold("it failed thrice", false)
    }
    await story.hold("silence had its time", ends[0] - dials[0] >= deadline)
    await story.hold("half an answer had it too", ends[1] - dials[1] >= deadline)
    await story.hold("the busy server was left alone", dials[3] - ends[2] >= busyFor)
    await story.hold(
      "silence is a timeout, busy is a status",
      seen.errors.map(\.caseName) == ["timeout", "timeout", "serverError"])
    await story.hold("nothing is left half open", await peer.openConnections == 1)
    let probe = try await link.connection.probe(within: .seconds(60))
    await story.hold("the link answers a ping", probe > .zero)
    await supervisor.shutDown()
  }
}

extension WebSocketPeerEvent.Kind {
  fileprivate var isRequest: Bool { if case .requested = self { true } else { false } }
}
