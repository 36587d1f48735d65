public import BridgeErrors
public import BridgeStore
import BridgeTransport
import BridgeWaiting

/// A store in a schema of a PostgreSQL database (14 or newer), for hosts on any number of machines.
///
/// The requests of many callers join one statement, which is on the server's disk before any of
/// them is answered; the clock of the server counts the leases. A server that is restarted, or a
/// connection that is lost, is tried again (`RetryPolicy.persistent`) while the requests wait; one
/// whose answer was lost comes again and is recognized. All of it is on a thread of its own.
public final class PostgresStore: AgentStore {
  /// The host and the database of the connection string, without user and password.
  public let name: String
  private let queue: StoreQueue
  private let wake = WakeDescriptor()

  /// Connects to a database, and makes the schema where there is none.
  ///
  /// - Parameters:
  ///   - connection: a connection string or URI of libpq, which also says how TLS and passwords are
  ///     used (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING).
  ///   - schema: the schema that is the store's alone: a lower-case letter, then up to 62 of
  ///     lower-case letters, digits and `_`.
  ///   - limits: how much may wait, and for how long.
  ///   - polling: how often `changes` says so where no notification came.
  /// - Throws: `storeUnusable` where the server does not answer, refuses the login, or is
  ///   read-only, and for a schema of another program or of a newer version; `migrationError`,
  ///   `validationError`, `databaseError`.
  public convenience init(
    _ connection: Secret, schema: String = "bridge", _ limits: StoreLimits = StoreLimits(),
    polling: Duration = .seconds(1)
  ) async throws(AppError) {
    try await self.init(connection, schema: schema, limits, polling: polling, version: .current)
  }

  init(
    _ connection: Secret, schema: String, _ limits: StoreLimits, polling: Duration,
    version: PostgresSchema
  ) async throws(AppError) {
    let characters = schema.utf8.map { UnicodeScalar($0) }
    guard let first = characters.first, ("a"..."z").contains(first), characters.count <= 63,
      characters.allSatisfy({ ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "_" })
    else {
      throw .validationError(
        field: "schema", message: "A schema has lower-case letters, digits and _; at most 63.")
    }
    let connection = try ConnectionString(connection)
    name = connection.name
    queue = StoreQueue(store: connection.name, limits: limits)
    let opened = Promise<AppError?>()
    let isStarted = DetachedThread.start(name: "bridge-postgres") { [queue, wake] in
      let worker = PostgresWorker(
        connection, schema: schema, version, queue, wake, limits, polling: polling)
      do throws(AppError) {
        try worker.open()
      } catch {
        opened.fulfill(error)
        return
      }
      opened.fulfill(nil)
      worker.run()
    }
    guard isStarted else {
      throw .storeUnusable(store: name, problem: .unavailable(reason: "no thread can be started"))
    }
    if let error = await opened.value() { throw error }
  }

  deinit {
    queue.beginClosing()
    wake.wake()
  }

  /// Performs a request; see `AgentStore`.
  public func perform(_ request: StoreRequest) async throws(AppError) -> StoreAnswer {
    try await queue.perform(request) { wake.wake() }
  }

  /// An element after each change, also by other hosts; see `AgentStore`.
  public func changes() -> AsyncStream<Void> { queue.changes() }

  /// Finishes what was requested, for `StoreLimits.timeout` at most, and disconnects.
  public func close() async { await queue.close { wake.wake() } }
}
