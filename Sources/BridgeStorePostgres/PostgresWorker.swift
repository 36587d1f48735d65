import BridgeErrors
import BridgeRecovery
import BridgeStore
import FoundationEssentials

/// What performs the requests of a store on a thread of its own.
final class PostgresWorker {
  /// How long a connection may take.
  private static let connectLimit = Duration.seconds(10)

  private let connectionString: ConnectionString
  private let name: String
  private let schema: PostgresSchema
  private let queue: StoreQueue
  private let wake: WakeDescriptor
  private let limits: StoreLimits
  private let polling: Duration
  private var generator = SeededGenerator(seed: SeededGenerator.anySeed())
  private var recovery: PostgresRecovery
  private var connection: PostgresConnection?
  /// Nothing is tried before.
  private var retry = Moment.now
  /// Tells the requests of this store from those of others: by it the server recognizes one that
  /// comes again.
  private var writer: String?

  init(
    _ connectionString: ConnectionString, schema name: String, _ schema: PostgresSchema,
    _ queue: StoreQueue, _ wake: WakeDescriptor, _ limits: StoreLimits, polling: Duration
  ) {
    (self.connectionString, self.name, self.schema) = (connectionString, name, schema)
    (self.queue, self.wake, self.limits, self.polling) = (queue, wake, limits, polling)
    recovery = PostgresRecovery(timeout: limits.timeout)
  }

  /// Connects for the first time.
  func open() throws(AppError) {
    do throws(PostgresFailure) {
      connection = try connect()
    } catch {
      switch error.consequence(for: connectionString.name, operation: "open") {
      case .again: throw unavailable(error.text)
      case .refused(let refusal): throw refusal
      }
    }
    if let refusal { throw refusal }
  }

  /// Performs requests until the queue is over.
  func run() {
    while !queue.isOver {
      guard let connection = connected() else {
        // Not where there is a connection again: the next request is what shows whether it works.
        if let reason = recovery.reasonToGiveUp(at: .now) { queue.giveUp(unavailable(reason)) }
        let end = recovery.end.map { $0 > .now ? $0 : retry } ?? retry
        wake.wait(until: min(retry, end))
        continue
      }
      let entries = queue.next()
      if !entries.isEmpty {
        perform(entries, over: connection)
      } else if !queue.isOver {
        awaitRequests(over: connection)
      }
    }
  }

  private func unavailable(_ reason: String) -> AppError {
    .storeUnusable(store: connectionString.name, problem: .unavailable(reason: reason))
  }

  private func fail(_ failure: PostgresFailure) {
    if failure.isLost { connection = nil }
    retry = recovery.fail(failure.text, at: .now, using: &generator)
  }

  // MARK: Requests

  private func perform(_ entries: [StoreQueue.Entry], over connection: PostgresConnection) {
    do throws(PostgresFailure) {
      let requests = try Self.encoded(entries)
      let rows = try connection.run(
        "SELECT perform($1::jsonb, $2, $3)", [requests, writer ?? "", name],
        by: .now + limits.timeout)
      let results = try Self.results(of: entries, in: (rows.first?.first ?? nil) ?? "")
      recovery.succeed()
      queue.finish(entries, results)
    } catch {
      switch error.consequence(for: connectionString.name, operation: "write") {
      case .again: fail(error)
      case .refused(let refusal):
        queue.fail(entries, refusal)
        if error.isLost { fail(error) }
      }
    }
  }

  private static func encoded(_ entries: [StoreQueue.Entry]) throws(PostgresFailure) -> String {
    do {
      let requests = try entries.map { try PostgresRequest($0.request, number: $0.number) }
      return String(decoding: try JSONEncoder().encode(requests), as: UTF8.self)
    } catch {
      throw PostgresFailure("a request cannot be encoded: \(error)")
    }
  }

  private static func results(
    of entries: [StoreQueue.Entry], in text: String
  ) throws(PostgresFailure) -> [Result<StoreAnswer, AppError>] {
    do {
      let answers = try JSONDecoder().decode([PostgresAnswer].self, from: Data(text.utf8))
      guard answers.count == entries.count else { throw PostgresFailure("not every answer came") }
      return try zip(entries, answers).map { try $1.result(of: $0.request) }
    } catch {
      throw PostgresFailure("an answer cannot be read: \(error)")
    }
  }

  /// Waits for a request, and reports what other hosts change meanwhile.
  private func awaitRequests(over connection: PostgresConnection) {
    do throws(PostgresFailure) {
      // Those that came with an answer do not make the socket readable again.
      try report(connection.notifications())
      switch connection.wait(or: wake, until: .now + polling) {
      case .woken: return
      case .readable: try report(connection.notifications())
      case .timedOut: queue.announceChange()
      }
    } catch {
      fail(error)
    }
  }

  private func report(_ writers: [String]) {
    if writers.contains(where: { $0 != writer }) { queue.announceChange() }
  }

  // MARK: The connection

  private func connected() -> PostgresConnection? {
    guard Moment.now >= retry else { return nil }
    if let connection { return connection }
    do throws(PostgresFailure) {
      connection = try connect()
    } catch {
      fail(error)
      let consequence = error.consequence(for: connectionString.name, operation: "connect")
      if case .refused(let refusal) = consequence { queue.giveUp(refusal) }
    }
    if let refusal {
      fail(PostgresFailure("the schema cannot be used", isLost: true))
      queue.giveUp(refusal)
    }
    // What was notified meanwhile is lost.
    if connection != nil { queue.announceChange() }
    return connection
  }

  /// Why the schema that was found cannot be used.
  private var refusal: AppError?

  private func connect() throws(PostgresFailure) -> PostgresConnection {
    refusal = nil
    let end = Moment.now + Self.connectLimit
    let new = try PostgresConnection(connectionString.settings, by: end)
    let settings = try new.run(
      """
      SELECT set_config('search_path', $1, false),
        set_config('default_transaction_isolation', 'read committed', false),
        set_config('synchronous_commit', CASE current_setting('synchronous_commit')
          WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),
        gen_random_uuid()::text, current_setting('transaction_read_only')
      """, ["\"\(name)\", pg_catalog"], by: end)
    writer = writer ?? settings.first?[3]
    guard settings.first?[4] != "on" else {
      throw PostgresFailure("the database is read-only", code: "25006", isLost: true)
    }
    if case .failure(let error) = try prepareSchema(over: new, by: end) {
      refusal = error
      return new
    }
    _ = try new.run("LISTEN \"\(name)\"", by: end)
    return new
  }

  /// Verifies the schema, makes it or migrates it; a failure of the database is thrown, one of the
  /// schema returned.
  private func prepareSchema(
    over connection: PostgresConnection, by end: Moment
  ) throws(PostgresFailure) -> Result<Void, AppError> {
    let found = try action(over: connection, by: end)
    guard case .success(.migrate) = found else { return found.map { _ in } }
    _ = try connection.run("BEGIN", by: end)
    // Hosts that start at once would make it twice. One that is frozen here loses the lock with
    // its transaction, once others need it.
    _ = try connection.run("SET LOCAL idle_in_transaction_session_timeout = '5s'", by: end)
    _ = try connection.run("SELECT pg_advisory_xact_lock(hashtext($1))", [name], by: end)
    let locked = try action(over: connection, by: end)
    if case .success(.migrate(let version)) = locked {
      do throws(PostgresFailure) {
        try connection.run(script: schema.script(schema: name, from: version), by: end)
      } catch {
        guard case .refused(.databaseError) = error.consequence(for: "", operation: "") else {
          throw error
        }
        return .failure(
          .migrationError(from: version, to: schema.version, reason: error.text))
      }
    }
    _ = try connection.run("COMMIT", by: end)
    return locked.map { _ in }
  }

  private func action(
    over connection: PostgresConnection, by end: Moment
  ) throws(PostgresFailure) -> Result<PostgresSchema.Action, AppError> {
    let found = try connection.run(
      """
      SELECT to_regclass($1),
        (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($2))
      """, ["\"\(name)\".bridge_store_version", "\"\(name)\""], by: end)
    var version: Int?
    if found.first?[0] != nil {
      let rows = try connection.run(
        "SELECT max(version) FROM \"\(name)\".bridge_store_version", by: end)
      version = (rows.first?[0]).flatMap { $0 }.flatMap { Int($0) }
    }
    let relations = (found.first?[1]).flatMap { Int($0) } ?? 0
    return Result { () throws(AppError) in
      try schema.action(version: version, relations: relations, store: connectionString.name)
    }
  }
}
