import BridgeFaults
import Foundation

/// One thing that users do, in any world.
enum Story: String, CaseIterable, Sendable {
  case command = "command"
  case commandThroughOutage = "command, outage"
  case shell = "shell"
  case shellThroughOutage = "shell, outage"
  case leave = "leave, return"
  case leaveThroughOutage = "leave, outage"
  case copy = "copy"
  case copyThroughOutage = "copy, outage"
  case forward = "forward"
  case forwardThroughOutage = "forward, outage"
  case messages = "WebSocket"
  case messagesThroughOutage = "WebSocket, outage"

  /// Whether the world makes a difference to it: an SSH server makes none to a WebSocket.
  func concerns(_ world: World) -> Bool {
    guard self == .messages || self == .messagesThroughOutage else { return true }
    guard world.network.discipline == nil else { return false }
    return world.name == "sshd"
      || (World.networks + World.machines).contains { $0.name == world.name }
  }

  /// Tells it.
  func run(_ client: FieldClient) async throws -> Finding {
    switch self {
    case .command: try await client.command()
    case .commandThroughOutage: try await client.commandThroughOutage()
    case .shell: try await client.shell()
    case .shellThroughOutage: try await client.shellThroughOutage()
    case .leave: try await client.leaveAndReturn()
    case .leaveThroughOutage: try await client.leaveThroughOutage()
    case .copy: try await client.copy()
    case .copyThroughOutage: try await client.copyThroughOutage()
    case .forward: try await client.forward()
    case .forwardThroughOutage: try await client.forwardThroughOutage()
    case .messages: try await client.messages()
    case .messagesThroughOutage: try await client.messagesThroughOutage()
    }
  }

  /// Tells it in a world of its own. A story that takes longer than the limit hangs.
  func finding(in world: World, limit: Duration) async -> Finding {
    if let reason = await world.missing() { return .skipped(reason) }
    do {
      let running = try await RunningWorld(world, host: FieldClient.host)
      let finding = await Self.limited(to: limit) {
        try await run(FieldClient(running))
      }
      await running.stop()
      return finding
    } catch {
      return .wrong("the world did not start: \(error)")
    }
  }

  private static func limited(
    to limit: Duration, _ tell: @escaping @Sendable () async throws -> Finding
  ) async -> Finding {
    await withTaskGroup(of: Finding?.self) { group in
      group.addTask {
        do {
          return try await tell()
        } catch {
          return .wrong("\(error)")
        }
      }
      group.addTask {
        try? await ContinuousClock().sleep(for: limit)
        return nil
      }
      let first = await group.next()
      group.cancelAll()
      if case .some(.some(let finding)) = first { return finding }
      // It ends what it started, and says where it was.
      guard case .some(.some(let last)) = await group.next() else { return .wrong("hangs") }
      return .wrong("hangs: not over after \(limit); \(last.remark)")
    }
  }
}
