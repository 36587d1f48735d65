import BridgeFaults
import BridgeSessionProtocol
import BridgeStore
import BridgeStoreSQLite
import BridgeTestKit
import Foundation
import Testing

/// Two machines, a configuration, and the example as a process.
private final class AgentHostWorld: Sendable {
  let server: SSHServer
  let home: Home
  let peer: ScriptedWebSocketPeer

  init() async throws {
    server = try await SSHServer()
    home = try Home(identity: server.identityFile, knownHosts: await server.knownHosts)
    peer = try await ScriptedWebSocketPeer(WebSocketScript(), logCapacity: 20_000)
    try write(
      """
      Host build test
        HostName 127.0.0.1
        Port \(server.port)
        IdentityFile \(home.path)/.ssh/id_ed25519
        IdentityAgent none
        UserKnownHostsFile \(home.path)/.ssh/known_hosts

      """, to: ".ssh/config")
  }

  func stop() async {
    await peer.stop()
    await server.stop()
    home.remove()
  }

  func file(_ name: String) -> String { "\(home.path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
  }

  func configure(_ agents: [[String: String]], page port: Int? = nil) throws {
    var configuration: [String: Any] = [
      "machines": ["build", "test"], "chat": "ws://127.0.0.1:\(peer.port)/",
      "store": file("agents.db"), "bridgeHost": Self.product("bridge-host"), "agents": agents,
    ]
    if let port { configuration["page"] = ["port": port] }
    try JSONSerialization.data(withJSONObject: configuration)
      .write(to: URL(filePath: file("agents.json")))
  }

  /// Products are beside the tests.
  private static func product(_ name: String) -> String {
    URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
      .appending(path: name).path
  }

  /// Starts the example; its log goes to the file `log`.
  func start() throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: Self.product("agent-host"))
    process.arguments = [file("agents.json")]
    process.environment = ProcessInfo.processInfo.environment.merging(["HOME": home.path]) { $1 }
    if !FileManager.default.fileExists(atPath: file("log")) { try write("", to: "log") }
    let log = try #require(FileHandle(forWritingAtPath: file("log")))
    _ = try log.seekToEnd()
    (process.standardOutput, process.standardError) = (log, log)
    try process.run()
    return process
  }

  var log: String { (try? String(contentsOfFile: file("log"), encoding: .utf8)) ?? "" }
}

/// The chat: acknowledges what comes.
private actor AgentChat {
  struct Message: Decodable {
    var agent: String?
    var line: String?
    var approval: Int?
    var title: String?
    var answer: String?
    var ended: String?
  }

  private let peer: ScriptedWebSocketPeer
  private var read = 0
  private(set) var messages: [(id: String, message: Message)] = []
  /// What came without an id: replies.
  private(set) var replies: [Message] = []

  init(_ peer: ScriptedWebSocketPeer) { self.peer = peer }

  func take() async throws {
    let events = await peer.log
    let new = events.dropFirst(read)
    read = events.count
    for case .text(let text) in new.map(\.kind) {
      guard let sent = try? JSONDecoder().decode(OutboxMessage.self, from: Data(text.utf8)) else {
        replies.append(try JSONDecoder().decode(Message.self, from: Data(text.utf8)))
        continue
      }
      let message = try JSONDecoder().decode(Message.self, from: Data(sent.text.utf8))
      messages.append((sent.id, message))
      await say(#"{"ack":"\#(sent.id)"}"#)
    }
  }

  func say(_ text: String) async { await peer.send(RawFrame(Array(text.utf8))) }

  func lines(of agent: String) -> [String] {
    messages.filter { $0.message.agent == agent }.compactMap(\.message.line)
  }

  func end(of agent: String) -> String? {
    messages.first { $0.message.agent == agent && $0.message.ended != nil }?.message.ended
  }
}

@Suite("agent-host", .timeLimit(.minutes(2))) struct AgentHostExampleTests {
  private static let lines = (1...300).map { "line \($0)" }

  private func with(_ body: (AgentHostWorld) async throws -> Void) async throws {
    let world = try await AgentHostWorld()
    let result: Result<Void, any Error>
    do { result = .success(try await body(world)) } catch { result = .failure(error) }
    await world.stop()
    try result.get()
  }

  /// It is killed while one agent prints and the other waits for an answer.
  @Test func aKillLosesNoLineNoAnswerAndNoExitStatus() async throws {
    try await with { world in
      try world.configure([
        [
          "name": "counter", "machine": "build",
          "command": "for n in $(seq 300); do echo line $n; sleep 0.005; done; exit 7",
        ],
        [
          "name": "asker", "machine": "test", "approvals": "acp", "input": "begin\n",
          "command": """
          read -r first; echo '{"jsonrpc":"2.0","id":5,"method":"session/request_permission",\
          "params":{"sessionId":"s","toolCall":{"toolCallId":"1","title":"Run '"$first"'?"},\
          "options":[{"optionId":"yes","name":"Allow","kind":"allow_once"}]}}'
          read -r answer; echo "$answer"
          """,
        ],
      ])
      let chat = AgentChat(world.peer)
      let first = try world.start()
      try await eventually {
        try await chat.take()
        let asks = await chat.messages.contains { $0.message.title == "Run begin?" }
        return await chat.lines(of: "counter").count > 60 && asks
      }
      kill(first.processIdentifier, SIGKILL)
      first.waitUntilExit()

      let second = try world.start()
      // Until it says that it is decided: an agent may not be carried yet.
      try await eventually {
        try await chat.take()
        await chat.say(#"{"agent":"asker","approval":1,"option":"yes","by":"ada"}"#)
        return await chat.replies.contains { $0.answer == "Decided: Allow" }
      }
      try await eventually {
        try await chat.take()
        let ends = [await chat.end(of: "counter"), await chat.end(of: "asker")]
        return ends == ["exited(status: 7)", "exited(status: 0)"]
      }
      try await eventually { world.log.components(separatedBy: "Agent over").count == 3 }
      second.terminate()
      second.waitUntilExit()
      #expect(second.terminationStatus == 0, "\(world.log)")
      try await check(world, chat)
    }
  }

  private func check(_ world: AgentHostWorld, _ chat: AgentChat) async throws {
    var seen: Set<String> = []
    let lines = await chat.lines(of: "counter").filter { seen.insert($0).inserted }
    #expect(lines == Self.lines)
    let counter = await chat.messages.filter { $0.message.agent == "counter" }
    // A line that came twice came under the same id.
    #expect(Set(counter.map(\.id)).count == Self.lines.count + 1)
    let answer = #"{"jsonrpc":"2.0","id":5,"result":{"outcome":{"outcome":"selected","#
    #expect(
      Set(await chat.lines(of: "asker")) == [answer + #""optionId":"yes"}}}"#])
    let store = try await SQLiteStore(at: world.file("agents.db"))
    for (agent, status) in [("counter", UInt8(7)), ("asker", 0)] {
      let end = try await store.state(of: agent).commits["session.end"]?.decoded(
        as: ProgramEnd.self)
      #expect(end == .exited(status: status))
    }
    await store.close()
  }

  private static let valid =
    #""machines":["build"],"chat":"ws://127.0.0.1:1/","store":"/nonexistent/agents.db""#

  @Test(arguments: [
    ("{\n\(valid),\n\"agents\":[,]}", "line 3"),
    (#"{"machines":[]}"#, "chat: This key is missing."),
    ("{\(valid),\"agents\":[],\"agnets\":[]}", "agnets: There is no such key."),
    (
      "{\(valid),\"agents\":[],\"page\":{\"prot\":1}}", "page.prot: There is no such key."
    ),
    ("{\(valid),\"agents\":[],\"page\":{\"port\":99999}}", "page.port: 99999 is no port."),
    (
      #"{"machines":[],"chat":"http://a/","store":"/nonexistent/agents.db","agents":[]}"#, "chat: "
    ),
    (
      "{\(valid),\"agents\":[{\"name\":\"a\",\"machin\":\"build\",\"command\":\"x\"}]}",
      "agents[0].machin: There is no such key."
    ),
    (
      "{\(valid),\"agents\":[{\"name\":\"a\",\"machine\":\"other\",\"command\":\"x\"}]}",
      "agents[0].machine: other is not one of the machines."
    ),
    (
      "{\(valid),\"agents\":[{\"name\":\"a\",\"machine\":7,\"command\":\"x\"}]}",
      "agents[0].machine: "
    ),
  ])
  func aBrokenConfigurationIsRefused(_ text: String, _ problem: String) async throws {
    try await with { world in
      try world.write(text, to: "agents.json")
      let process = try world.start()
      process.waitUntilExit()
      #expect(process.terminationStatus == 78)
      let start = "agent-host: \(world.file("agents.json")): "
      #expect(world.log.hasPrefix(start) && world.log.contains(problem), "\(world.log)")
    }
  }

  @Test func aMachineThatSSHConfigDoesNotAllowIsRefused() async throws {
    try await with { world in
      try world.configure([])
      try world.write("Host build\n  Port http\n", to: ".ssh/config")
      let process = try world.start()
      process.waitUntilExit()
      #expect(process.terminationStatus == 78)
      #expect(world.log.contains("/.ssh/config:2"), "\(world.log)")
    }
  }

  /// The page is served, and its address is printed.
  @Test func thePageOpensWithThePrintedAddress() async throws {
    try await with { world in
      try world.configure([], page: 0)
      let process = try world.start()
      try await eventually { world.log.contains("The page: http://localhost:") }
      let line = try #require(
        world.log.firstMatch(of: /The page: (http:\/\/localhost:[0-9]+)\/#([0-9a-f]{64})\n/))
      let (origin, token) = (String(line.output.1), String(line.output.2))
      let curl = Process()
      curl.executableURL = URL(filePath: "/usr/bin/curl")
      curl.arguments = ["--silent", "-H", "Authorization: Bearer \(token)", origin + "/api/state"]
      let pipe = Pipe()
      curl.standardOutput = pipe
      try curl.run()
      let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
      let state = String(decoding: data, as: UTF8.self)
      #expect(state.contains("\"name\":\"chat\"") && state.contains("\"reader\":\"you\""))
      process.terminate()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0, "\(world.log)")
    }
  }

  @Test func aPortOfThePageThatIsTakenIsNamed() async throws {
    try await with { world in
      try world.configure([], page: world.server.port)
      let process = try world.start()
      process.waitUntilExit()
      #expect(process.terminationStatus == 78)
      let place = "127.0.0.1 port \(world.server.port)"
      #expect(
        world.log.contains(
          "agent-host: port: The page cannot be served on \(place): another program listens there."
        ), "\(world.log)")
    }
  }

  @Test func aSecondProcessOnTheSameStoreIsRefused() async throws {
    try await with { world in
      try world.configure([])
      let store = try await SQLiteStore(at: world.file("agents.db"))
      let process = try world.start()
      process.waitUntilExit()
      #expect(process.terminationStatus != 0)
      #expect(world.log.contains("agents.db"), "\(world.log)")
      await store.close()
    }
  }
}
