import BridgeErrors
import BridgeTestKit
import BridgeWaiting
import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import BridgeConsole

@Suite("Events for browsers come by a stream", .timeLimit(.minutes(2))) struct StreamTests {
  /// What a stream has said once it says `word`.
  private func read(
    _ world: ConsoleWorld, _ fields: [String], until word: String
  ) async throws -> [[String: String]] {
    let run = try world.stream(fields)
    try await eventually { run.text.contains(word) && run.text.hasSuffix("\n\n") }
    await run.stop()
    return run.text.components(separatedBy: "\n\n").map { block in
      let pairs = block.split(separator: "\n").map {
        $0.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      }
      return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
    }
  }

  private func show(_ name: String, _ world: ConsoleWorld) {
    world.console.board.show(
      ConsoleState.Link(id: name, name: name, state: .up, since: 1))
  }

  private func id(_ number: UInt64, _ world: ConsoleWorld) -> String {
    "Last-Event-ID: \(world.console.board.epoch)-\(number)"
  }

  @Test func itBeginsWithTheStateAndGoesOnWithEvents() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let run = try world.stream([world.bearer(world.viewer)])
      try await eventually { run.text.contains("event: state") }
      show("later", world)
      try await eventually { run.text.contains("\"name\":\"later\"") }
      await run.stop()
      let text = run.text
      #expect(text.hasPrefix("retry: 1000\nid: \(world.console.board.epoch)-"))
      #expect(text.contains("\"name\":\"a-host/"))
      #expect(text.contains("event: link\n"))
    }
  }

  @Test func aBrowserGoesOnWhereItWas() async throws {
    try await withWorld(ConsoleWorld()) { world in
      for name in ["a", "b", "c"] { show(name, world) }
      let last = world.console.board.last
      let blocks = try await read(
        world, [world.bearer(world.viewer), id(last - 2, world)], until: "\"name\":\"c\"")
      let events = blocks.filter { $0["id"] != nil }
      #expect(events.map { $0["event"] } == ["link", "link"])
      #expect(events.map { $0["data"]?.contains("\"name\":\"b\"") } == [true, false])
    }
  }

  @Test func aBrowserThatWasAwayTooLongGetsTheState() async throws {
    try await withWorld(ConsoleWorld(ConsoleLimits(events: 4))) { world in
      for name in 0..<10 { show("\(name)", world) }
      let blocks = try await read(
        world, [world.bearer(world.viewer), id(1, world)], until: "event: state")
      #expect(blocks.compactMap { $0["event"] } == ["missed", "state"])
      let count = world.console.board.last - 1
      #expect(blocks.first { $0["event"] == "missed" }?["data"] == "{\"count\":\(count)}")
      #expect(blocks.first { $0["event"] == "state" }?["data"]?.contains("\"name\":\"9\"") == true)
    }
  }

  /// The numbers of another run mean nothing in this one.
  @Test(arguments: ["other-1", "", "1", "x-y-z", "-", "EPOCH-99999"])
  func anIDThatIsNotOursBeginsAnew(_ id: String) async throws {
    try await withWorld(ConsoleWorld()) { world in
      let id = id.replacing("EPOCH", with: world.console.board.epoch)
      let blocks = try await read(
        world, [world.bearer(world.viewer), "Last-Event-ID: \(id)"], until: "event: state")
      #expect(blocks.compactMap { $0["event"] } == ["state"])
    }
  }

  @Test func streamsAreBoundedAndAPlaceIsFreeAgain() async throws {
    try await withWorld(ConsoleWorld(ConsoleLimits(streams: 1))) { world in
      let field = world.bearer(world.viewer)
      let run = try world.stream([field])
      try await eventually { world.console.board.count(of: .stream) == 1 }
      let reply = try await world.get("/api/events", [field])
      #expect(reply.status == 503 && reply.headers["retry-after"] == "10")
      #expect(reply.body.contains("Too many pages are open"))
      await run.stop()
      // The browser is gone, and that is noticed without an event.
      try await eventually { world.console.board.count(of: .stream) == 0 }
    }
  }

  /// It reads a kilobyte a second: what is kept for it is a place among the events.
  @Test func aSlowBrowserHoldsUpNothing() async throws {
    try await withWorld(ConsoleWorld(ConsoleLimits(events: 16))) { world in
      let field = world.bearer(world.viewer)
      let slow = try world.stream([field], ["--limit-rate", "1k"])
      try await eventually { slow.text.contains("event: state") }
      let long = String(repeating: "x", count: 60_000)
      // More than the buffers of a socket hold, many times.
      for number in 0..<2000 {
        world.console.board.show(
          ConsoleState.Link(
            id: "l", name: "\(number)\(long)", state: .up, since: Int64(number)))
      }
      #expect(try await world.state(field).links.first?.since == 1999)
      try await eventually { world.console.board.missed > 0 }
      await slow.stop()
    }
  }

  /// As a phone does that sleeps: its place is free again.
  @Test func aBrowserThatTakesNothingEnds() async throws {
    let limits = ConsoleLimits(streams: 1, unread: .seconds(1))
    try await withWorld(ConsoleWorld(limits)) { world in
      let field = world.bearer(world.viewer)
      let run = try world.stream([field])
      try await eventually { run.text.contains("event: state") }
      run.signal(SIGSTOP)
      let long = String(repeating: "x", count: 60_000)
      var number: Int64 = 0
      try await eventually {
        number += 1
        world.console.board.show(
          ConsoleState.Link(id: "l", name: long, state: .up, since: number))
        return world.console.board.count(of: .stream) == 0
      }
      run.signal(SIGCONT)
      await run.wait()
      let again = try world.stream([field])
      try await eventually { again.text.contains("event: state") }
      await again.stop()
    }
  }

  @Test func aShutdownEndsTheStreams() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let run = try world.stream([world.bearer(world.viewer)])
      try await eventually { run.text.contains("event: state") }
      world.console.board.end()
      await run.wait()
      #expect(try await world.get("/api/events", [world.bearer(world.viewer)]).status == 503)
    }
  }

  @Test func aGracefulShutdownEndsTheService() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let console = try Console(
        ConsoleConfiguration(tokens: [world.viewer]), of: world.host, keptIn: world.store)
      let isServing = Latch()
      let group = ServiceGroup(
        configuration: .init(
          services: [ConsoleService(console) { _ in isServing.open() }],
          logger: .init(label: "test")))
      async let running: Void = group.run()
      await isServing.wait()
      let run = try CurlRun(
        [
          "--silent", "-N", "-H", world.bearer(world.viewer),
          "http://localhost:\(console.port ?? 0)/api/events",
        ])
      try await eventually { run.text.contains("event: state") }
      await group.triggerGracefulShutdown()
      try await running
      await run.wait()
    }
  }
}
