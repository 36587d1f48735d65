public import BridgeErrors
public import BridgeStore
import BridgeTransport
import GRDB

/// A store in one file, for one process.
///
/// The requests of many callers join one transaction, which is on the disk before any of them is
/// answered. The clock of the machine counts the leases. While the store is open no other process
/// can open the file; to look into it, copy it and the file beside it that ends in `-wal`.
public final class SQLiteStore: AgentStore {
  /// The path of its file.
  public let name: String
  private let database: DatabaseQueue
  private let queue: StoreQueue

  /// Opens the store in a file, which is made where there is none, readable for its user only.
  ///
  /// - Throws: `storeUnusable` for a file of another program, of a newer version or of another
  ///   kind, one that another process has open, one that cannot be written, a full disk;
  ///   `fileWriteError` where it cannot be opened; `migrationError`, `databaseError`.
  public convenience init(
    at path: String, _ limits: StoreLimits = StoreLimits()
  ) async throws(AppError) {
    try await self.init(at: path, limits, schema: .current)
  }

  init(at path: String, _ limits: StoreLimits, schema: SQLiteSchema) async throws(AppError) {
    name = path
    queue = StoreQueue(store: path, limits: limits)
    database = try await DetachedThread.value(named: "bridge-store") { () throws(AppError) in
      try SQLiteFile.open(path, schema)
    }
  }

  /// Performs a request; see `AgentStore`.
  public func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer {
    try await queue.perform(request) {
      database.asyncWriteWithoutTransaction { [queue, name] database in
        Self.work(queue, database, path: name)
      }
    }
  }

  /// An element after each change; see `AgentStore`.
  public func changes() -> AsyncStream<Void> { queue.changes() }

  /// Finishes what was requested, and gives the file free.
  public func close() async {
    await queue.close {}
    await DetachedThread.value(named: "bridge-store") { [database] in try? database.close() }
  }

  private static func work(_ queue: StoreQueue, _ database: Database, path: String) {
    while true {
      let entries = queue.next()
      if entries.isEmpty { return }
      do {
        var results: [Result<StoreAnswer, AppError>] = []
        try database.inTransaction(.immediate) {
          results = try entries.map { try database.perform($0.request) }
          return .commit
        }
        queue.finish(entries, results)
      } catch {
        queue.fail(entries, AppError(sqlite: error, path: path, operation: "write"))
      }
    }
  }
}
