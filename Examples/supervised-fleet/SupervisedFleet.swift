import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import Foundation
import Narration

/// Twenty SSH and twenty WebSocket links under random faults for half a minute: resets, black
/// holes, partitions, closed ports, slow lines, cuts in the middle of a message. On a terminal a
/// table shows what each link is doing.
@main
enum SupervisedFleet {
  static func main() async {
    await Story.tell("supervised-fleet", within: .seconds(300)) { story in
      let server = try await SSHServer()
      let peer = try await ScriptedWebSocketPeer(.echo)
      do { try await tell(story, server, peer) } catch {
        await server.stop()
        await peer.stop()
        throw error
      }
      await server.stop()
      await peer.stop()
    }
  }

  private static func tell(
    _ story: Story, _ server: SSHServer, _ peer: ScriptedWebSocketPeer
  ) async throws {
    let seed = story.options.seed
    let proxies = [
      try await FaultProxy(to: server.port, seed: seed),
      try await FaultProxy(to: peer.port, seed: seed &+ 1),
    ]
    let fleet = try await DemoFleet(20, server, over: proxies[0], sockets: proxies[1], seed: seed)
    async let counted = fleet.countErrors()
    try await fleet.untilAllAreUp()
    await story.say(.recovery, "\(fleet.ids.count) links are up")
    let descriptors = openDescriptors

    let time = Duration.seconds(story.options.seconds ?? 30)
    await story.say(.fault, "random faults for \(time.told)")
    for (number, proxy) in proxies.enumerated() {
      await proxy.play(Storm.timeline(over: time, seed: seed &+ UInt64(number)))
    }
    try await watch(fleet, for: time, story)
    for proxy in proxies { try await proxy.heal() }
    let calm = ContinuousClock.now
    await story.say(.scene, "the storm is over")
    try await fleet.untilAllAreUp()
    await story.say(.recovery, "all are up again after \(calm.duration(to: .now).told)")

    await story.hold("within a minute", calm.duration(to: .now) < .seconds(60))
    await story.hold("every link answers", try await fleet.answering() == fleet.ids.count)
    try await settle(descriptors)
    await story.hold("no descriptor is left behind", openDescriptors <= descriptors)
    var injected = 0
    for proxy in proxies { injected += await proxy.log.count { $0.kind.isInjection } }
    await fleet.supervisor.shutDown()
    for proxy in proxies { await proxy.stop() }
    let errors = await counted
    await story.say(.proof, "\(injected) faults; errors: \(errors.told)")
    await story.hold("every error has a type", errors.keys.allSatisfy(DemoFleet.isTyped))
  }

  /// Shows the fleet while the storm lasts: a table on a terminal, a line now and then elsewhere.
  private static func watch(_ fleet: DemoFleet, for time: Duration, _ story: Story) async throws {
    let isLive = isatty(1) == 1 && !story.options.isJSON
    let start = ContinuousClock.now
    var table = FleetTable()
    var lines = 0
    while start.duration(to: .now) < time {
      try await ContinuousClock().sleep(for: .milliseconds(250))
      let states = await fleet.states()
      if isLive {
        print(table.frame(states), terminator: "")
        fflush(nil)
      } else if start.duration(to: .now) >= .seconds(5) * (lines + 1) {
        lines += 1
        await story.say(.recovery, "\(states.count { $0.isUp }) of \(states.count) links are up")
      }
    }
  }

  /// Generations that have just ended may still be closing theirs.
  private static func settle(_ descriptors: Int) async throws {
    for _ in 0..<100 where openDescriptors > descriptors {
      try await ContinuousClock().sleep(for: .milliseconds(50))
    }
  }

  /// Those of links are sockets. What a reactor opens once, with its first WebSocket, stays.
  private static var openDescriptors: Int {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
      return target?.hasPrefix("socket:") == true
    }
  }
}

/// The faults of the storm.
private enum Storm {
  static let faults: [any Fault] = [
    Reset.reset, Freeze.freeze(), Freeze.freeze([.toClient]), Freeze.freeze(for: .seconds(1)),
    Partition.partition(for: .seconds(1)), Refuse.refuse(for: .milliseconds(500)),
    Silence.silence(for: .milliseconds(300)), Cut.cut(after: 700),
    Cut.cut(after: 2_000, by: .finish), Slice.slice(7),
    Latency.latency(.milliseconds(20), jitter: .milliseconds(10)), HalfClose.halfClose(.both),
    Bandwidth.bandwidth(200_000), Lift.lift,
  ]

  /// About one fault a second, none in the last tenth.
  static func timeline(over time: Duration, seed: UInt64) -> Timeline {
    let count = max(3, Int(time / .seconds(1)))
    return Timeline.drawn(count, of: faults, over: time * 0.9, seed: seed)
  }
}

extension FaultEvent.Kind {
  fileprivate var isInjection: Bool { if case .injected = self { true } else { false } }
}

extension [String: Int] {
  fileprivate var told: String {
    isEmpty
      ? "none"
      : sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
  }
}
