import BridgeErrors
import BridgeStore
import BridgeStorePostgres
import BridgeStoreSQLite

/// The implementations that the same specification holds for.
enum StoreKind: String, CaseIterable, Sendable {
  case sqlite
  case postgres

  /// Runs `body` with one store as two hosts see it.
  func run(
    _ limits: StoreLimits = StoreLimits(),
    _ body: (_ first: any AgentStore, _ second: any AgentStore) async throws -> Void
  ) async throws {
    switch self {
    case .sqlite:
      let folder = try StoreFolder()
      let store = try await SQLiteStore(at: folder.file("state.db"), limits)
      try await body(store, store)
      await store.close()
    case .postgres:
      let server = try await PostgresServer.shared.value
      let schema = server.newSchema()
      let first = try await PostgresStore(server.connection(), schema: schema, limits)
      let second = try await PostgresStore(server.connection(), schema: schema, limits)
      try await body(first, second)
      await first.close()
      await second.close()
    }
  }
}
