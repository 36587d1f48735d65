import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import Narration

/// One link, four ways to lose it: a reset, a black hole, a partition, a closed port. Each is
/// noticed, healed and proved with a command on the new link.
@main
enum NetworkDrop {
  static func main() async {
    await Story.tell("ssh-network-drop", within: .seconds(60)) { story in
      let server = try await SSHServer()
      do { try await tell(story, server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  private static func tell(_ story: Story, _ server: SSHServer) async throws {
    let proxy = try await FaultProxy(to: server.port, seed: story.options.seed)
    let supervisor = Supervisor(clock: ContinuousClock(), seed: story.options.seed)
    var watch = Watch(supervisor.events(), in: story)
    let configuration = SSHConfiguration(for: server)
    let endpoint = Endpoint(host: "127.0.0.1", port: proxy.port)
    // Short silences, so that the story is: a link like this one would wait five seconds.
    let liveness = LivenessPolicy(keepalive: .milliseconds(400), switching: .free)
    let options = LinkOptions(liveness: liveness)
    let link = try await supervisor.add("workshop", to: endpoint, options) { endpoint in
      SSHConnection(to: endpoint, configuration: configuration)
    }
    try await watch.untilUp()

    for act in Act.allCases {
      await story.say(.fault, act.rawValue)
      try await act.begin(proxy)
      let seen = try await watch.untilUp()
      let answer = try await link.connection.answer(to: "echo \(act)")
      await story.hold("a command runs on the new link", answer == "\(act)")
      await story.hold("every error has a type", seen.errors.allSatisfy(\.isTyped))
    }
    let accepted = await proxy.log.count { if case .accepted = $0.kind { true } else { false } }
    await story.hold("no dial storm", accepted <= 3 * (Act.allCases.count + 1))
    await supervisor.shutDown()
    await proxy.stop()
  }
}

/// What happens to the link.
private enum Act: String, CaseIterable {
  case reset = "the network resets the connection"
  case blackHole = "a black hole: the socket stays open and nothing passes"
  case partition = "a partition of 1.5 s: old links are dead, new ones wait"
  case closedPort = "a reset, and no listener for 1 s"

  func begin(_ proxy: FaultProxy) async throws(FaultError) {
    switch self {
    case .reset: try await proxy.inject(.reset)
    case .blackHole: try await proxy.inject(.freeze())
    case .partition: try await proxy.inject(.partition(for: .milliseconds(1_500)))
    case .closedPort:
      try await proxy.inject(.refuse(for: .seconds(1)))
      try await proxy.inject(.reset)
    }
  }
}

extension AppError {
  fileprivate var isTyped: Bool {
    switch self {
    case .unknown, .internalError: false
    default: true
    }
  }
}
