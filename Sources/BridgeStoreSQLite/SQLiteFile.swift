import BridgeErrors
import GRDB

/// Opens the file of a store.
enum SQLiteFile {
  /// How long another process that is ending may still have the file, in seconds.
  private static let busyTimeout = 1.0

  /// Opens the file, or makes it, and brings its schema to the version of this program.
  ///
  /// The connection holds the file's lock as long as it lives: a second process is refused.
  static func open(_ path: String, _ schema: SQLiteSchema) throws(AppError) -> DatabaseQueue {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .validationError(field: "path", message: "A store is kept in a file.")
    }
    // SQLite takes other names for a database in memory, or for a URI.
    let path = path.hasPrefix("/") ? path : "./" + path
    PrivateFile.create(at: path)
    // SQLite would open it for reading, and fail in other words at the first lock.
    if PrivateFile.isReadOnly(path) { throw .storeUnusable(store: path, problem: .readOnly) }
    if PrivateFile.isCutOff(path) { throw .storeUnusable(store: path, problem: .notADatabase) }
    var configuration = Configuration()
    configuration.label = "bridge-store"
    configuration.busyMode = .timeout(busyTimeout)
    configuration.prepareDatabase { database in try prepare(database, schema) }
    do {
      return try DatabaseQueue(path: path, configuration: configuration)
    } catch {
      throw AppError(sqlite: error, path: path, operation: "open")
    }
  }

  private static func prepare(_ database: Database, _ schema: SQLiteSchema) throws {
    try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
    // NORMAL would not wait for the disk at a commit in WAL mode, and a power failure would take
    // records that were reported (https://www.sqlite.org/pragma.html#pragma_synchronous).
    try database.execute(sql: "PRAGMA synchronous = FULL")
    var action = SQLiteSchema.Action.none
    // Before anything is written, the mode of the journal included: the file may be another's.
    try database.inTransaction(.exclusive) {
      action = try schema.action(
        applicationID: try database.number("PRAGMA application_id"),
        version: try database.number("PRAGMA user_version"),
        isEmpty: try database.number("SELECT count(*) FROM sqlite_schema") == 0)
      return .rollback
    }
    try database.execute(sql: "PRAGMA journal_mode = WAL")
    guard case .migrate(let version) = action else { return }
    try migrate(database, schema, from: version)
  }

  private static func migrate(
    _ database: Database, _ schema: SQLiteSchema, from version: Int
  ) throws {
    do {
      try database.inTransaction(.exclusive) {
        for step in schema.steps[version...] { try database.execute(sql: step) }
        try database.execute(sql: "PRAGMA application_id = \(SQLiteSchema.applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(schema.version)")
        return .commit
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      throw AppError.migrationError(
        from: version, to: schema.version, reason: error.message ?? "\(error.resultCode)")
    }
  }
}

extension Database {
  /// The number that a query returns; 0 for none.
  fileprivate func number(_ query: String) throws -> Int { try Int.fetchOne(self, sql: query) ?? 0 }
}
