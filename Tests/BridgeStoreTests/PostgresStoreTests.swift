import BridgeErrors
import BridgeRecovery
import BridgeStore
import BridgeTestKit
import BridgeWaiting
import Testing

@testable import BridgeStorePostgres

@Suite("A store in PostgreSQL outlives its connections and its server", .timeLimit(.minutes(3)))
struct PostgresStoreTests {
  private static let agents = 6
  private static let messages = 60

  /// Runs a statement as another client.
  @discardableResult
  private func run(_ statement: String, on server: PostgresServer) throws -> [[String?]] {
    let settings = try ConnectionString(server.connection()).settings
    let connection = try PostgresConnection(settings, by: .now + .seconds(30))
    return try connection.run(statement, by: .now + .seconds(30))
  }

  private func error(
    _ body: () async throws(AppError) -> Void
  ) async -> AppError? {
    do throws(AppError) {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Writes over `store` while `disturb` is called again and again: every call returns, and each
  /// message is there once and in order.
  private func write(
    over store: PostgresStore, while disturb: @escaping @Sendable () async throws -> Void
  ) async throws {
    let isDone = Latch()
    try await withThrowingTaskGroup { group in
      let written = Mutex(0)
      for agent in 0..<Self.agents {
        group.addTask {
          let lease = try await store.acquire("\(agent)", for: "h", lasting: forLong)
          for number in 0..<Self.messages {
            let point = StoredValue(bytes: [UInt8(number)])
            try await store.write(
              [
                .send(OutboxMessage(id: "\(number)", text: "")),
                .commit(effect: "chat", point: point),
                .delivered(id: "\(number - 10)"),
              ].filter { $0 != .delivered(id: "\(number - 10)") || number >= 10 }, under: lease)
            #expect(try await store.state(of: "\(agent)").commits["chat"] == point)
          }
          let isLast = written.withLock { written in
            written += 1
            return written == Self.agents
          }
          if isLast { isDone.open() }
        }
      }
      group.addTask { try await disturb() }
      try await group.waitForAll()
    }
    await isDone.wait()
    let last = (Self.messages - 10..<Self.messages).map { "\($0)" }
    for agent in 0..<Self.agents {
      #expect(try await store.state(of: "\(agent)").outbox.map(\.id) == last)
    }
  }

  @Test func aServerThatCrashesLosesAndDoublesNothing() async throws {
    let server = try await PostgresServer.start()
    let store = try await PostgresStore(server.connection())
    try await write(over: store) {
      for _ in 0..<3 { try await server.control("restart") }
    }
    await store.close()
  }

  @Test func connectionsThatAreEndedLoseAndDoubleNothing() async throws {
    let server = try await PostgresServer.shared.value
    let schema = server.newSchema()
    let store = try await PostgresStore(
      server.connection("application_name=\(schema)"), schema: schema)
    try await write(over: store) {
      for _ in 0..<40 {
        try run(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            + "WHERE application_name = '\(schema)'", on: server)
      }
    }
    await store.close()
  }

  /// What a host does whose answer was lost with the connection.
  @Test func aWriteThatComesAgainIsMadeOnce() async throws {
    let server = try await PostgresServer.shared.value
    let schema = server.newSchema()
    let store = try await PostgresStore(server.connection(), schema: schema)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    let settings = try ConnectionString(server.connection("options='-c search_path=\(schema)'"))
      .settings
    let connection = try PostgresConnection(settings, by: .now + .seconds(30))
    func perform(_ change: String, number: Int, writer: String = "w") throws -> String? {
      let write = """
        [{"operation":"write","agent":"agent","fence":\(lease.fence),"number":\(number),
        "changes":[\(change)],"changes_something":true}]
        """
      return try connection.run(
        "SELECT perform($1::jsonb, $2, 'c')", [write, writer], by: .now + .seconds(30))[0][0]
    }
    let send = #"{"change":"send","id":"1","value":""}"#
    #expect(try perform(send, number: 1) == "[{}]")
    #expect(try perform(#"{"change":"delivered","id":"1"}"#, number: 2) == "[{}]")
    #expect(try perform(send, number: 1) == "[{}]")
    #expect(try await store.state(of: "agent").outbox == [])
    // Another client counts for itself.
    #expect(try perform(send, number: 1, writer: "other") == "[{}]")
    #expect(try await store.state(of: "agent").outbox.map(\.id) == ["1"])
    await store.close()
  }

  /// Why a message was not kept; nil where it was.
  private func problem(
    ofSending id: String, to store: PostgresStore, under lease: AgentLease
  ) async -> StoreProblem? {
    let error = await error { () async throws(AppError) in
      try await store.write([.send(OutboxMessage(id: id, text: ""))], under: lease)
    }
    guard case .storeUnusable(store.name, let problem) = error else { return nil }
    return problem
  }

  @Test func callersOfAServerThatIsDownGetAnErrorInTimeAndWriteOnAfterwards() async throws {
    let server = try await PostgresServer.start()
    let store = try await PostgresStore(
      server.connection(), StoreLimits(timeout: .milliseconds(300)))
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await server.control("stop")
    await withTaskGroup { group in
      for id in 0..<10 {
        group.addTask { await problem(ofSending: "\(id)", to: store, under: lease) }
      }
      for await problem in group { #expect(problem?.isTransient == true) }
    }
    try await server.control("start")
    try await eventually { await problem(ofSending: "last", to: store, under: lease) == nil }
    #expect(try await store.state(of: "agent").outbox.map(\.id).last == "last")
    await store.close()
  }

  @Test func asManyAsTheLimitWaitForAServerThatIsDown() async throws {
    let server = try await PostgresServer.start()
    let store = try await PostgresStore(
      server.connection(), StoreLimits(requests: 2, timeout: forLong))
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await server.control("stop")
    let full = StoreProblem.unavailable(reason: "too many requests wait for it")
    try await withThrowingTaskGroup { group in
      for id in 0..<10 {
        group.addTask { await problem(ofSending: "\(id)", to: store, under: lease) }
      }
      for _ in 0..<8 { #expect(try await group.next() == full) }
      try await server.control("start")
      for _ in 0..<2 { #expect(try await group.next() == .some(nil)) }
    }
    #expect(try await store.state(of: "agent").outbox.count == 2)
    await store.close()
  }

  /// A host asks at intervals: at the moment of the reconnection none of its requests waits.
  @Test func theFirstRequestAfterAReconnectionIsPerformed() async throws {
    let server = try await PostgresServer.start()
    let store = try await PostgresStore(
      server.connection("application_name=host"), StoreLimits(timeout: .milliseconds(300)))
    try await server.control("stop")
    await #expect(throws: AppError.self) { try await store.agents() }
    try await server.control("start")
    try await eventually {
      try run(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'host' AND query ~ '^LISTEN'",
        on: server) != []
    }
    #expect(try await store.agents() == [])
    await store.close()
  }

  @Test func aStoreWhoseServerIsDownCanBeClosed() async throws {
    let server = try await PostgresServer.start()
    let store = try await PostgresStore(
      server.connection(), StoreLimits(timeout: .milliseconds(300)))
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await server.control("stop")
    async let failure = error { () async throws(AppError) in
      try await store.write([.removeAgent], under: lease)
    }
    for _ in 0..<20 { await Task.yield() }
    await store.close()
    #expect(await failure != nil)
  }

  // MARK: Waking

  @Test func aNotificationWakesAnotherHost() async throws {
    let server = try await PostgresServer.shared.value
    let schema = server.newSchema()
    let first = try await PostgresStore(server.connection(), schema: schema)
    let second = try await PostgresStore(server.connection(), schema: schema, polling: forLong)
    var changes = second.changes().makeAsyncIterator()
    await changes.next()
    _ = try await first.acquire("agent", for: "a", lasting: forLong)
    await changes.next()
    #expect(try await second.agents().map(\.name) == ["agent"])
    await first.close()
    await second.close()
  }

  @Test func withoutANotificationPollingWakes() async throws {
    let server = try await PostgresServer.shared.value
    let store = try await PostgresStore(
      server.connection(), schema: server.newSchema(), polling: .milliseconds(5))
    var changes = store.changes().makeAsyncIterator()
    for _ in 0..<4 { await changes.next() }
    await store.close()
  }

  // MARK: Refusals

  @Test func aLoginThatIsRefusedSaysSoAndNoPassword() async throws {
    let server = try await PostgresServer.shared.value
    try run(
      "DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD 'right'; EXCEPTION WHEN OTHERS THEN END $$",
      on: server)
    let wrong = await error { () async throws(AppError) in
      _ = try await PostgresStore(server.connection("user=guarded password=hunter2"))
    }
    guard case .storeUnusable(let store, .refused) = wrong else {
      Issue.record("\(String(describing: wrong))")
      return
    }
    #expect(!store.contains("hunter2") && store.contains("/postgres"))
    // It may log in and make no schema.
    let right = await error { () async throws(AppError) in
      _ = try await PostgresStore(server.connection("user=guarded password=right"))
    }
    #expect(right == .storeUnusable(store: store, problem: .refused))
  }

  @Test func aServerThatIsNotThereIsUnavailable() async throws {
    let error = await error { () async throws(AppError) in
      _ = try await PostgresStore(Secret("host=/nonexistent password=hunter2 dbname=d"))
    }
    guard case .storeUnusable("PostgreSQL at /nonexistent/d", .unavailable(let reason)) = error
    else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!reason.contains("hunter2"))
  }

  @Test(arguments: ["hunter2", "password='hunter2", "nothing=hunter2", "host=a\0b"])
  func aConnectionStringThatCannotBeReadIsNotRepeated(text: String) async throws {
    let error = await error { () async throws(AppError) in _ = try await PostgresStore(Secret(text))
    }
    #expect(error?.caseName == "validationError")
    #expect("\(String(describing: error))".contains("hunter2") == false)
  }

  @Test(arguments: ["", "A", "1a", "a-b", "a\"b", "é", String(repeating: "a", count: 64)])
  func aSchemaHasAPlainName(schema: String) async throws {
    let error = await error { () async throws(AppError) in
      _ = try await PostgresStore(Secret("host=/nonexistent"), schema: schema)
    }
    #expect(error?.caseName == "validationError")
  }

  @Test func aSchemaOfAnotherProgramAndANewerOneAreLeftAsTheyAre() async throws {
    let server = try await PostgresServer.shared.value
    let name =
      "PostgreSQL at \(try ConnectionString(server.connection()).name.split(separator: " ")[2])"
    let (other, newer) = (server.newSchema(), server.newSchema())
    try run("CREATE SCHEMA \(other)", on: server)
    try run("CREATE TABLE \(other).t (a int)", on: server)
    let foreign = await error { () async throws(AppError) in
      _ = try await PostgresStore(server.connection(), schema: other)
    }
    #expect(foreign == .storeUnusable(store: name, problem: .otherProgram))
    let store = try await PostgresStore(server.connection(), schema: newer)
    await store.close()
    try run("UPDATE \(newer).bridge_store_version SET version = 77", on: server)
    let known = PostgresSchema.current.version
    let tooNew = await error { () async throws(AppError) in
      _ = try await PostgresStore(server.connection(), schema: newer)
    }
    #expect(tooNew == .storeUnusable(store: name, problem: .newerSchema(found: 77, known: known)))
    #expect(try run("SELECT version FROM \(newer).bridge_store_version", on: server) == [["77"]])
  }

  @Test func aDatabaseThatMayOnlyBeRead() async throws {
    let server = try await PostgresServer.shared.value
    let error = await error { () async throws(AppError) in
      _ = try await PostgresStore(
        server.connection("options='-c default_transaction_read_only=on'"),
        schema: server.newSchema())
    }
    guard case .storeUnusable(_, .readOnly) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  // MARK: Migration

  @Test func hostsThatStartAtOnceMakeTheSchemaOnce() async throws {
    let server = try await PostgresServer.shared.value
    let schema = server.newSchema()
    try await withThrowingTaskGroup { group in
      for number in 0..<6 {
        group.addTask {
          let store = try await PostgresStore(server.connection(), schema: schema)
          _ = try await store.acquire("\(number)", for: "h", lasting: forLong)
          await store.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(try run("SELECT count(*) FROM \(schema).lease", on: server) == [["6"]])
  }

  @Test func anEarlierVersionIsMigratedAndOneThatFailsChangesNothing() async throws {
    let server = try await PostgresServer.shared.value
    let schema = server.newSchema()
    var store = try await PostgresStore(server.connection(), schema: schema)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await store.write([.send(OutboxMessage(id: "1", text: "hello"))], under: lease)
    await store.close()
    let known = PostgresSchema.current.version
    let steps = PostgresSchema.current.steps + ["ALTER TABLE message ADD COLUMN more text;"]
    let failed = await error { () async throws(AppError) in
      _ = try await PostgresStore(
        server.connection(), schema: schema, StoreLimits(), polling: forLong,
        version: PostgresSchema(steps: steps + ["DROP TABLE none;"]))
    }
    guard case .migrationError(known, known + 2, _) = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    func version() throws -> [[String?]] {
      try run("SELECT version FROM \(schema).bridge_store_version", on: server)
    }
    #expect(try version() == [["\(known)"]])
    store = try await PostgresStore(
      server.connection(), schema: schema, StoreLimits(), polling: forLong,
      version: PostgresSchema(steps: steps))
    #expect(try await store.state(of: "agent").outbox.map(\.text) == ["hello"])
    await store.close()
    #expect(try version() == [["\(known + 1)"]])
  }
}
