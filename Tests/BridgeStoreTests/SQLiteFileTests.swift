import BridgeErrors
import BridgeStore
import Foundation
import GRDB
import Testing

@testable import BridgeStoreSQLite

@Suite("A file that is no store of ours is refused and left as it was", .timeLimit(.minutes(2)))
struct SQLiteFileTests {
  private let folder: StoreFolder
  private var path: String { folder.file("state.db") }

  init() throws { folder = try StoreFolder() }

  private func refusal() async -> AppError? {
    do throws(AppError) {
      let store = try await SQLiteStore(at: path)
      await store.close()
      return nil
    } catch {
      return error
    }
  }

  /// What another program writes there.
  private func write(_ sql: String) throws {
    let database = try DatabaseQueue(path: path)
    try database.writeWithoutTransaction { try $0.execute(sql: sql) }
    try database.close()
  }

  private func contents() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  @Test func aFileThatIsNoDatabase() async throws {
    for text in ["x", "hello", String(repeating: "text of another kind\n", count: 1000)] {
      try Data(text.utf8).write(to: URL(filePath: path))
      #expect(await refusal() == .storeUnusable(store: path, problem: .notADatabase))
      #expect(try contents() == Data(text.utf8))
    }
  }

  @Test(arguments: [
    "CREATE TABLE t (a)", "PRAGMA application_id = 5",
    "PRAGMA user_version = 1; CREATE TABLE t (a)",
    "PRAGMA application_id = 252006674; CREATE TABLE t (a)",
  ])
  func aDatabaseOfAnotherProgram(sql: String) async throws {
    try write(sql)
    let before = try contents()
    #expect(await refusal() == .storeUnusable(store: path, problem: .otherProgram))
    #expect(try contents() == before)
  }

  @Test func aStoreOfANewerVersion() async throws {
    let store = try await SQLiteStore(at: path)
    await store.close()
    try write("PRAGMA user_version = 77")
    let before = try contents()
    let known = SQLiteSchema.current.version
    #expect(
      await refusal()
        == .storeUnusable(store: path, problem: .newerSchema(found: 77, known: known)))
    #expect(try contents() == before)
  }

  @Test func aStoreThatIsOpenAlreadyHereOrInAnotherProcess() async throws {
    let store = try await SQLiteStore(at: path)
    #expect(await refusal() == .storeUnusable(store: path, problem: .inUse))
    let other = try runTool("/usr/bin/env", ["sqlite3", path, "SELECT 1 FROM lease"])
    #expect(other.status != 0 && other.text.contains("locked"))
    await store.close()
    #expect(await refusal() == nil)
  }

  @Test func aStoreThatMayOnlyBeRead() async throws {
    let store = try await SQLiteStore(at: path)
    await store.close()
    let protection = try ReadOnlyFile(path)
    #expect(await refusal() == .storeUnusable(store: path, problem: .readOnly))
    protection.end()
    #expect(await refusal() == nil)
  }

  @Test func aPlaceThatIsNotThereOrNoFile() async throws {
    for path in [folder.file("none/state.db"), folder.path] {
      let error = await #expect(throws: AppError.self) { try await SQLiteStore(at: path) }
      guard case .fileWriteError(path, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    for path in ["", "a\0b"] {
      let error = await #expect(throws: AppError.self) { try await SQLiteStore(at: path) }
      #expect(error?.caseName == "validationError")
    }
  }

  @Test func whatDamagedAFileIsReported() async throws {
    let store = try await SQLiteStore(at: path)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    for number in 0..<200 {
      let text = String(repeating: "text", count: 500)
      try await store.write([.send(OutboxMessage(id: "\(number)", text: text))], under: lease)
    }
    await store.close()
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    let size = try file.seekToEnd()
    for page in 1..<(size / 4096) {
      try file.seek(toOffset: page * 4096)
      try file.write(contentsOf: Data(repeating: 0xAA, count: 4096))
    }
    try file.close()
    await #expect(throws: AppError.storeUnusable(store: path, problem: .damaged)) {
      let damaged = try await SQLiteStore(at: path)
      _ = try await damaged.state(of: "agent")
    }
  }

  /// The writes that were reported are there; those that failed are not; freed space heals it.
  @Test(.enabled(if: FullDisk.canMount)) func aFullDisk() async throws {
    let disk = try FullDisk(folder.file("disk"))
    let path = disk.path + "/state.db"
    let store = try await SQLiteStore(at: path)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    var reported: [String] = []
    let text = String(repeating: "x", count: 20_000)
    let error = await #expect(throws: AppError.self) {
      for number in 0..<1000 {
        try await store.write([.send(OutboxMessage(id: "\(number)", text: text))], under: lease)
        reported.append("\(number)")
      }
    }
    #expect(error == .storeUnusable(store: path, problem: .full))
    #expect(reported.count > 10)
    #expect(try await store.state(of: "agent").outbox.map(\.id) == reported)
    try disk.grow()
    try await store.write([.send(OutboxMessage(id: "last", text: text))], under: lease)
    await store.close()
    let again = try await SQLiteStore(at: path)
    #expect(try await again.state(of: "agent").outbox.map(\.id) == reported + ["last"])
    await again.close()
  }

  // MARK: What is there

  @Test func aFileIsForItsUserOnly() async throws {
    let store = try await SQLiteStore(at: path)
    _ = try await store.acquire("agent", for: "a", lasting: forLong)
    for name in [path, path + "-wal"] {
      let mode = try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
    await store.close()
  }

  /// FULL is 2 (https://www.sqlite.org/pragma.html#pragma_synchronous).
  @Test func aCommitWaitsForTheDisk() async throws {
    let database = try SQLiteFile.open(path, .current)
    #expect(try await database.read { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
    #expect(
      try await database.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
    try database.close()
  }

  @Test func whatWasWrittenIsThereWhenItIsOpenedAgain() async throws {
    var store = try await SQLiteStore(at: path)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await store.write([.send(OutboxMessage(id: "1", text: "hello"))], under: lease)
    await store.close()
    store = try await SQLiteStore(at: path)
    #expect(try await store.state(of: "agent").outbox.map(\.text) == ["hello"])
    await #expect(throws: AppError.agentTakenOver(agent: "agent", by: "a")) {
      try await store.acquire("agent", for: "b", lasting: forLong)
    }
    #expect(try await store.acquire("agent", for: "a", lasting: forLong).fence > lease.fence)
    await store.close()
  }

  // MARK: Migration

  private let more = SQLiteSchema(
    steps: SQLiteSchema.current.steps + ["ALTER TABLE message ADD COLUMN more TEXT"])

  @Test func anEarlierVersionIsMigratedWithWhatItHas() async throws {
    var store = try await SQLiteStore(at: path)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await store.write([.send(OutboxMessage(id: "1", text: "hello"))], under: lease)
    await store.close()
    store = try await SQLiteStore(at: path, StoreLimits(), schema: more)
    #expect(try await store.state(of: "agent").outbox.map(\.text) == ["hello"])
    await store.close()
    let found = more.version
    #expect(
      await refusal()
        == .storeUnusable(store: path, problem: .newerSchema(found: found, known: found - 1)))
  }

  /// As the first program with a store made it.
  @Test func theFirstVersionIsMigrated() async throws {
    let first = SQLiteSchema(steps: [SQLiteSchema.current.steps[0]])
    let made = try await SQLiteStore(at: path, StoreLimits(), schema: first)
    await made.close()
    let store = try await SQLiteStore(at: path)
    let lease = try await store.acquire("agent", for: "a", lasting: forLong)
    try await store.write([.close], under: lease)
    #expect(try await store.agents().map(\.isClosed) == [true])
    await store.close()
  }

  @Test func aMigrationThatFailsChangesNothing() async throws {
    let store = try await SQLiteStore(at: path)
    await store.close()
    let broken = SQLiteSchema(steps: more.steps + ["DROP TABLE none"])
    let error = await #expect(throws: AppError.self) {
      try await SQLiteStore(at: path, StoreLimits(), schema: broken)
    }
    guard case .migrationError(2, 4, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(await refusal() == nil)
  }
}
