import BridgeErrors
import BridgeStore
import BridgeTestKit
import BridgeWaiting
import Foundation
import Testing

@testable import BridgeAgentHost
@testable import BridgeConsole

@Suite("The page shows what is", .timeLimit(.minutes(2))) struct StateTests {
  private struct Decided: Decodable {
    var result: String
    var text: String
  }

  @Test func aLinkBreaksAndHealsAndItsOutageIsKept() async throws {
    try await withWorld(ConsoleWorld()) { world in
      try await world.addLink()
      try await world.moving { world.link()?.state == .up }
      world.peer.answer = .refuse
      await world.peer.cut()
      try await world.moving { world.link()?.state == .waiting && world.link()?.nextAt != nil }
      let cookie = try await world.logIn(world.viewer)
      // It is shown once it lasts.
      try await world.moving { world.state.problems.count == 1 }
      let state = try await world.state(cookie)
      let problem = try #require(state.problems.first)
      #expect(problem.source == "chat" && !problem.needsPerson)
      #expect(problem.options.contains { ["retry", "reconnect"].contains($0.kind) })
      #expect(state.outages.first?.end == nil && state.outages.first?.link == "chat")
      world.peer.answer = .accept
      try await world.moving { world.link()?.state == .up }
      try await eventually {
        try await world.store.outages(since: 0).first?.end != nil
      }
      let kept = try await world.get("/api/outages?since=0", [cookie])
        .value(as: [ConsoleState.Outage].self)
      #expect(kept.count == 1 && kept[0].link == "chat" && !kept[0].phases.isEmpty)
      #expect(try await world.get("/api/outages?since=x", [cookie]).status == 400)
      let future = try await world.get("/api/outages?since=99999999999999", [cookie])
      #expect(future.body == "[]")
      try await eventually { try await world.state(cookie).problems.isEmpty }
    }
  }

  @Test func anOutageOfBeforeIsShown() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let now = Date().milliseconds
      let phase = StoredOutage.Phase(name: "wait", duration: .seconds(2))
      try await world.store.record(
        StoredOutage(id: "old", link: "chat", start: now - 9000, phases: [phase], end: now - 7000))
      try await world.store.record(StoredOutage(id: "ancient", link: "chat", start: 1))
      let console = try Console(
        ConsoleConfiguration(tokens: [world.viewer]), of: world.host, keptIn: world.store)
      let running = Task { try await ConsoleService(console).run() }
      let visitor = Visitor(name: "a", access: .view)
      try await eventually {
        console.board.snapshot(for: visitor, at: Date()).outages.map(\.id) == ["old"]
      }
      running.cancel()
      _ = await running.result
      #expect(try await world.store.outages(since: 0).map(\.id) == ["old"])
    }
  }

  @Test func aPersonChooses() async throws {
    try await withWorld(ConsoleWorld()) { world in
      try await world.addLink()
      world.peer.answer = .rejectCredentials
      try await world.moving { world.link()?.state == .failed }
      let cookie = try await world.logIn(world.writer)
      try await eventually { try await world.state(cookie).problems.first?.needsPerson == true }
      let problem = try #require(try await world.state(cookie).problems.first)
      let path = "/api/problems/\(problem.id)/choose"
      let other = try await world.post(
        "/api/problems/\(UUID())/choose", #"{"option":"reconnect"}"#, [cookie])
      #expect(other.status == 409 && other.body == #"{"done":false}"#)
      // No handler executes it here.
      let settings = try await world.post(path, #"{"option":"checkSettings"}"#, [cookie])
      #expect(settings.status == 409)
      let none = try await world.post("/api/problems/1/choose", #"{"option":"retry"}"#, [cookie])
      #expect(none.status == 404)
      world.peer.answer = .accept
      let chosen = try await world.post(path, #"{"option":"reconnect"}"#, [cookie])
      #expect(chosen.status == 200 && chosen.body == #"{"done":true}"#)
      try await world.moving { world.link()?.state == .up }
    }
  }

  @Test func oneAnswerCounts() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let agent = "a b/ü"
      let approvals = ApprovalSample.approvals()
      world.console.show(approvals, of: agent)
      try await approvals.request(ApprovalSample.request(of: agent, asking: "Run \u{1B}[1mit?"))
      let cookie = try await world.logIn(world.writer)
      try await eventually { try await world.state(cookie).approvals.count == 1 }
      let approval = try #require(try await world.state(cookie).approvals.first)
      #expect(approval.state == "pending" && approval.options.map(\.name) == ["Allow", "Refuse"])
      #expect(!approval.title.contains("\u{1B}"))
      let path = "/api/approvals/a%20b%2F%C3%BC/1/decide"
      #expect(try await world.post(path, #"{"option":"maybe"}"#, [cookie]).status == 422)
      let first = try await world.post(path, #"{"option":"yes"}"#, [cookie])
      #expect(first.status == 200)
      #expect(try first.value(as: Decided.self).text == "Decided: Allow")
      let second = try await world.post(path, #"{"option":"no"}"#, [world.bearer(world.writer)])
      #expect(second.status == 409)
      #expect(try second.value(as: Decided.self).text == "Already decided: Allow (ada)")
      try await eventually { try await world.state(cookie).approvals.first?.state == "decided" }
      let outcome = try await world.state(cookie).approvals.first?.outcome
      #expect(outcome == "Already decided: Allow (ada)")
      for path in [
        "/api/approvals/other/1/decide", "/api/approvals/a%20b%2F%C3%BC/2/decide",
        "/api/approvals/a%20b%2F%C3%BC/x/decide",
      ] {
        #expect(try await world.post(path, #"{"option":"yes"}"#, [cookie]).status == 404)
      }
    }
  }

  @Test func aFormIsFilledIn() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let approvals = ApprovalSample.approvals()
      world.console.show(approvals, of: "a")
      let form = ApprovalForm(
        option: "yes", fields: [.init(name: "count", kind: .integer, isRequired: true)])
      try await approvals.request(ApprovalSample.request(of: "a", form: form))
      let path = "/api/approvals/a/1/decide"
      let field = world.bearer(world.writer)
      #expect(try await world.post(path, #"{"option":"yes"}"#, [field]).status == 422)
      let good = try await world.post(path, #"{"option":"yes","values":{"count":3}}"#, [field])
      #expect(good.status == 200)
      #expect(await approvals.records.first?.decision?.values == ["count": .integer(3)])
    }
  }

  /// The page does not keep the approvals of work that is over.
  @Test func theQuestionsOfAnAgentThatIsGoneAreGone() async throws {
    let world = try await ConsoleWorld()
    try await withWorld(world) { world in
      let cookie = try await world.logIn(world.writer)
      var approvals: Approvals? = ApprovalSample.approvals()
      try await approvals?.request(ApprovalSample.request(of: "a"))
      if let approvals { world.console.show(approvals, of: "a") }
      try await eventually { try await world.state(cookie).approvals.count == 1 }
      approvals = nil
      try await eventually { try await world.state(cookie).approvals.isEmpty }
      #expect(
        try await world.post("/api/approvals/a/1/decide", #"{"option":"yes"}"#, [cookie]).status
          == 404)
    }
  }

  @Test func theHealthOfTheHostIsAStatus() async throws {
    try await withWorld(ConsoleWorld()) { world in
      var reply = try await world.get("/healthz")
      #expect(reply.status == 503 && reply.body == #"{"health":"degraded"}"#)
      let running = Task { try await world.host.run { _ throws(AppError) in } }
      try await eventually { await world.host.health == .ready }
      reply = try await world.get("/healthz")
      #expect(reply.status == 200 && reply.body == #"{"health":"ready"}"#)
      world.host.requestShutDown()
      try await running.value
      reply = try await world.get("/healthz")
      #expect(reply.status == 503 && reply.body == #"{"health":"stopping"}"#)
    }
  }

  @Test func agentsThatPauseAreNoReasonToRestartTheHost() {
    #expect(AgentHostHealth.degraded(.agentsPause(count: 1)).isServing)
    #expect(AgentHostHealth.degraded(.agentsWait(count: 1)).isServing)
    #expect(!AgentHostHealth.degraded(.storeFails).isServing)
    #expect(!AgentHostHealth.degraded(.storeSilent(since: 1)).isServing)
  }

  /// Its machine refuses the key, or shows another host key: nothing of it runs there.
  @Test func anAgentThatWaitsForItsMachineIsNotRunning() async throws {
    try await withWorld(ConsoleWorld()) { world in
      let running = Task {
        try await world.host.run { agent throws(AppError) in
          try await agent.opening(to: "test") { () async throws(AppError) in
            await Latch().wait()
          }
        }
      }
      try await world.host.add("asker")
      let cookie = try await world.logIn(world.viewer)
      // From time to time it is given up, and taken again.
      try await eventually {
        guard let host = try await world.state(cookie).host else { return false }
        return host.health == "degraded" && host.reason == "agentsWait"
          && host.agents.map(\.state) == ["waiting"] && host.agents.first?.waitsFor == "test"
      }
      try await eventually {
        let metrics = try await world.get("/metrics", [world.bearer(world.viewer)]).body
        return metrics.contains("\nbridge_agents{state=\"running\"} 0\n")
          && metrics.contains("\nbridge_agents{state=\"waiting\"} 1\n")
      }
      try await eventually {
        try await world.get("/healthz").body == #"{"health":"degraded"}"#
      }
      running.cancel()
      _ = await running.result
    }
  }

  @Test func metricsKeepTheConventions() async throws {
    try await withWorld(ConsoleWorld()) { world in
      try await world.addLink("a-name-of-a-link")
      try await world.moving { world.link("a-name-of-a-link")?.state == .up }
      let reply = try await world.get("/metrics", [world.bearer(world.viewer)])
      #expect(reply.status == 200)
      #expect(reply.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
      #expect(reply.body.contains("\nbridge_links{state=\"up\"} 1\n"))
      #expect(!reply.body.contains("a-name"))
      let promtool = "/usr/bin/promtool"
      guard FileManager.default.isExecutableFile(atPath: promtool) else {
        print("promtool is not installed: its check of the metrics is left out")
        return
      }
      let process = Process()
      process.executableURL = URL(filePath: promtool)
      process.arguments = ["check", "metrics"]
      let (input, output) = (Pipe(), Pipe())
      (process.standardInput, process.standardOutput) = (input, output)
      process.standardError = output
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data(reply.body.utf8))
      try input.fileHandleForWriting.close()
      let said = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      let words = String(decoding: said, as: UTF8.self)
      #expect(process.terminationStatus == 0 && words == "")
    }
  }
}
