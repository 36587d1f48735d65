import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import Foundation
import Testing

/// The Python packages of the protocols, which `scripts/setup --tests` installs from PyPI.
private enum PythonPeers {
  static let python = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: ".build/python-peers/bin/python").path

  static var areInstalled: Bool { FileManager.default.isExecutableFile(atPath: python) }
}

/// An agent that is written with the official package of its protocol.
private struct PeerAgent: Sendable, CustomTestStringConvertible {
  var dialect: ApprovalDialect
  /// Asks as often as its argument says; prints the number and the answer of each to its error.
  var program: String
  /// What has it begin.
  var beginning: [String]
  /// The options that two people choose.
  var options: [(id: @Sendable (Int) -> String, values: [String: ApprovalValue])]
  /// What it prints of an answer.
  var printed: @Sendable (Int, ApprovalDecision) -> String

  var testDescription: String { dialect.rawValue }

  static let acp = PeerAgent(
    dialect: .acp,
    program: """
      import asyncio, sys
      import acp
      from acp.schema import PermissionOption, ToolCallUpdate

      COUNT = int(sys.argv[1])

      class Asker:
          def on_connect(self, client):
              self.client = client

          async def initialize(self, protocol_version, **_):
              return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION)

          async def new_session(self, cwd, **_):
              return acp.NewSessionResponse(session_id="s1")

          async def ask(self, n):
              options = [PermissionOption(option_id=f"{word}/{n}", name=word, kind=word)
                         for word in ("allow_once", "reject_always")]
              call = ToolCallUpdate(tool_call_id=f"call {n}", title=f"Run {n}?")
              answer = await self.client.request_permission("s1", call, options)
              print(n, answer.outcome.option_id, file=sys.stderr, flush=True)

          async def prompt(self, prompt, session_id, **_):
              for first in range(0, COUNT, 3):
                  numbers = range(first, min(first + 3, COUNT))
                  await asyncio.gather(*(self.ask(n) for n in numbers))
              return acp.PromptResponse(stop_reason="end_turn")

      asyncio.run(acp.run_agent(Asker()))
      """,
    beginning: [
      """
      {"jsonrpc":"2.0","id":"i1","method":"initialize","params":{"protocolVersion":1,\
      "clientCapabilities":{}}}
      """,
      #"{"jsonrpc":"2.0","id":"i2","method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
      """
      {"jsonrpc":"2.0","id":"last","method":"session/prompt","params":{"sessionId":"s1",\
      "prompt":[{"type":"text","text":"go"}]}}
      """,
    ],
    options: [({ "allow_once/\($0)" }, [:]), ({ "reject_always/\($0)" }, [:])],
    printed: { number, decision in "\(number) \(decision.option)" })

  static let mcp = PeerAgent(
    dialect: .mcp,
    program: """
      import sys
      from mcp.server.mcpserver import Context, MCPServer
      from pydantic import BaseModel

      COUNT = int(sys.argv[1])
      server = MCPServer("asker")

      class Booking(BaseModel):
          name: str
          count: int
          ok: bool = True

      @server.tool()
      async def book(ctx: Context) -> str:
          for n in range(COUNT):
              answer = await ctx.elicit(message=f"Run {n}?", schema=Booking)
              print(n, answer.action, getattr(answer, "data", ""), file=sys.stderr, flush=True)
          return "done"

      server.run()
      """,
    beginning: [
      """
      {"jsonrpc":"2.0","id":"i1","method":"initialize","params":{"protocolVersion":"2025-11-25",\
      "capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"c","version":"1"}}}
      """,
      #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
      """
      {"jsonrpc":"2.0","id":"last","method":"tools/call",\
      "params":{"name":"book","arguments":{}}}
      """,
    ],
    options: [
      ({ _ in "accept" }, ["name": .text("A/B \"é\""), "count": .integer(3)]),
      ({ _ in "decline" }, [:]),
    ],
    printed: { number, decision in
      decision.option == "decline"
        ? "\(number) decline " : "\(number) accept name='A/B \"é\"' count=3 ok=True"
    })
}

/// What the application has on its disk.
private actor Disk {
  private(set) var records: [ApprovalID: ApprovalRecord] = [:]
  private(set) var seen: LinePoint?
  private(set) var input: InputPoint?

  func keep(_ changes: [ApprovalChange]) {
    for change in changes {
      switch change {
      case .put(let record): records[record.id] = record
      case .remove(let id): records[id] = nil
      }
    }
  }

  func keep(seen point: LinePoint?) { seen = point ?? seen }
  func keep(input point: InputPoint) { input = point }
}

@Suite(
  "Agents of the official packages have one answer to each question", .timeLimit(.minutes(3)),
  .enabled(if: PythonPeers.areInstalled, "scripts/setup --tests installs them"))
struct ApprovalPeerTests {
  private static let requests = 40

  /// Two people answer each question at once, over links that are cut, to an application that is
  /// killed again and again.
  @Test(arguments: [PeerAgent.acp, .mcp])
  fileprivate func throughCutsAndRestarts(agent: PeerAgent) async throws {
    try await SessionServer.with { server in
      let proxy = try await FaultProxy(to: server.server.port, seed: 1)
      let files = ["agent.py", "input", "answers"].map { server.folder.appending(path: $0).path }
      try agent.program.write(toFile: files[0], atomically: true, encoding: .utf8)
      let spec = server.spec(
        "tee '\(files[1])' | '\(PythonPeers.python)' '\(files[0])' \(Self.requests) 2>'\(files[2])'"
      )
      let disk = Disk()
      let client = ClientID.fresh()
      var end: ProgramEnd?
      for life in 0..<8 {
        let dialer = Dialer(server, proxy.port) { number in
          var generator = SplitMix64(seed: UInt64(life * 100 + number))
          try await proxy.inject(.cut(after: 6_000 + Int(generator.next() % 8_000)))
        }
        let (seen, input) = (await disk.seen, await disk.input)
        let session = server.session(spec, client: client, dialer: dialer) {
          $0.resume = seen?.output
          $0.input = input
          if life > 0 { $0.start = nil }
        }
        let application = Application(agent: agent, disk: disk, session: session)
        end = try await application.live(isFirst: life == 0, until: life < 7 ? 5 : nil)
        // Killed: no word to the host.
        await dialer.kill()
        await session.detach()
      }
      #expect(end == .exited(status: 0))
      try await check(agent, disk, input: files[1], answers: files[2])
      await proxy.stop()
    }
  }

  private func check(
    _ agent: PeerAgent, _ disk: Disk, input: String, answers: String
  ) async throws {
    let records = await disk.records.values.sorted { $0.id.number < $1.id.number }
    #expect(records.count == Self.requests)
    var expected: Set<String> = []
    for record in records {
      guard case .delivered(let decision) = record.state else {
        Issue.record("\(record)")
        continue
      }
      let number = try #require(Int(record.request.title.dropFirst(4).dropLast()))
      expected.insert(agent.printed(number, decision))
    }
    let printed = try String(contentsOfFile: answers, encoding: .utf8).split(separator: "\n")
      .map(String.init)
    #expect(printed.count == Self.requests && Set(printed) == expected)
    // The agent has read one answer to each, though its package would pass over a second one.
    let lines = try String(contentsOfFile: input, encoding: .utf8).split(separator: "\n")
    let ids = try lines.compactMap { line in
      let message = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return message?["result"].flatMap { _ in message?["id"] as? Int }
    }
    #expect(ids.count == Self.requests && Set(ids).count == Self.requests)
  }
}

/// One life of the application.
private struct Application {
  let agent: PeerAgent
  let disk: Disk
  let session: DurableSession

  /// Lives until the agent ends, or until so many questions were decided.
  func live(isFirst: Bool, until count: Int?) async throws -> ProgramEnd? {
    let approvals = Approvals(restoring: Array(await disk.records.values)) { [disk] changes in
      await disk.keep(changes)
    }
    _ = try await session.attach()
    if isFirst {
      try await session.deliver(Array((agent.beginning.joined(separator: "\n") + "\n").utf8))
      await disk.keep(input: try #require(await session.inputPoint))
    }
    let delivering = Task { try await deliver(approvals) }
    defer { delivering.cancel() }
    let adapter = ApprovalAdapter(agent: "agent", dialect: agent.dialect)
    let lines = session.lines(after: await disk.seen)
    var decided = 0
    for try await line in lines where line.stream == .standardOutput {
      let bytes = try #require(line.bytes)
      switch adapter.read(bytes, endingAt: line.end) {
      case .request(let request):
        try await decide(try await approvals.request(request), approvals)
        decided += 1
      case .other:
        if line.text?.contains("\"id\":\"last\"") == true { try await session.endInput() }
      case let reading: Issue.record("\(reading)")
      }
      // The last one of a life is read again by the next.
      if decided == count { return nil }
      await disk.keep(seen: await lines.point(after: line))
    }
    // The agent has read all answers by now.
    try await eventually { await !approvals.records.contains(where: \.awaitsDelivery) }
    return try await session.exitStatus()
  }

  /// Two people choose at once.
  private func decide(_ record: ApprovalRecord, _ approvals: Approvals) async throws {
    let number = try #require(Int(record.request.title.dropFirst(4).dropLast()))
    let order = number % 2 == 0 ? agent.options : agent.options.reversed()
    let answers = try await withThrowingTaskGroup(of: ApprovalAnswer.self) { group in
      for (index, option) in order.enumerated() {
        group.addTask {
          try await approvals.decide(
            record.id, option: option.id(number), values: option.values, by: "person \(index)")
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let decision = try #require(try await approvals.decision(for: record.id))
    // Where another life decided it, neither of these does.
    let own = answers.count { $0 == .decided(decision) }
    #expect(own <= 1)
    #expect(answers.count { $0 == .alreadyDecided(decision) } == answers.count - own)
  }

  private func deliver(_ approvals: Approvals) async throws {
    try await approvals.deliver(to: "agent") { record throws(AppError) in
      guard let point = await session.inputPoint, let line = record.responseLine else {
        throw .internalError(detail: "The session is not attached.")
      }
      let place = try await approvals.reserve(record.id, at: point.written)
      let end = try await session.deliver(line, at: place)
      await disk.keep(input: InputPoint(written: end, lease: point.lease))
    }
  }
}
