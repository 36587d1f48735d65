import CLibPQ
import Glibc

/// One connection of libpq, for one thread (https://www.postgresql.org/docs/15/libpq.html).
///
/// It never blocks without a deadline: libpq is asynchronous, and poll(2) waits.
@safe final class PostgresConnection {
  /// What ended a wait.
  enum Waited {
    case woken, readable, timedOut
  }

  private let connection: OpaquePointer

  /// Connects and logs in.
  ///
  /// - Parameters:
  ///   - settings: keywords and values, the later ones before the earlier; the value of `dbname`
  ///     may be a connection string.
  ///   - end: when it has failed.
  init(
    _ settings: [(keyword: String, value: String)], by end: ContinuousClock.Instant
  ) throws(PostgresFailure) {
    let started = unsafe CStrings.with(settings.map(\.keyword)) { keywords in
      unsafe CStrings.with(settings.map(\.value)) { values in
        unsafe PQconnectStartParams(keywords, values, 1)
      }
    }
    guard let started = unsafe started else { throw PostgresFailure("there is no memory") }
    unsafe connection = started
    // The code in the place of the text: libpq gives no other access to it before the login.
    _ = unsafe PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE)
    // From here on `deinit` frees it, also where this throws.
    try finishConnecting(by: end)
    guard unsafe PQsetnonblocking(connection, 1) == 0 else { throw lost() }
    _ = unsafe PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
    unsafe PQsetNoticeProcessor(connection, { _, _ in }, nil)
  }

  deinit { unsafe PQfinish(connection) }

  private func finishConnecting(by end: ContinuousClock.Instant) throws(PostgresFailure) {
    guard unsafe PQstatus(connection) != CONNECTION_BAD else { throw lost() }
    var events = Int16(POLLOUT)
    while true {
      try waitFor(events, by: end)
      switch unsafe PQconnectPoll(connection) {
      case PGRES_POLLING_OK: return
      case PGRES_POLLING_READING: events = Int16(POLLIN)
      case PGRES_POLLING_WRITING: events = Int16(POLLOUT)
      default: throw lost()
      }
    }
  }

  // MARK: Statements

  /// Runs one statement with bound parameters; returns its rows as text.
  func run(
    _ statement: String, _ parameters: [String] = [], by end: ContinuousClock.Instant
  ) throws(PostgresFailure) -> [[String?]] {
    let isSent = unsafe CStrings.with(parameters) { values in
      unsafe PQsendQueryParams(
        connection, statement, Int32(parameters.count), nil, values, nil, nil, 0)
    }
    guard isSent == 1 else { throw lost() }
    return try rows(by: end)
  }

  /// Runs statements without parameters, as one transaction.
  func run(script: String, by end: ContinuousClock.Instant) throws(PostgresFailure) {
    guard unsafe PQsendQuery(connection, script) == 1 else { throw lost() }
    _ = try rows(by: end)
  }

  private func rows(by end: ContinuousClock.Instant) throws(PostgresFailure) -> [[String?]] {
    try flush(by: end)
    var rows: [[String?]] = []
    var failure: PostgresFailure?
    while true {
      while unsafe PQisBusy(connection) == 1 {
        try waitFor(Int16(POLLIN), by: end)
        guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
      }
      guard let result = unsafe PQgetResult(connection) else { break }
      defer { unsafe PQclear(result) }
      switch unsafe PQresultStatus(result) {
      case PGRES_TUPLES_OK: rows = unsafe Self.rows(of: result)
      case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: continue
      default: if failure == nil { failure = unsafe self.failure(of: result) }
      }
    }
    if let failure { throw failure }
    guard unsafe PQstatus(connection) == CONNECTION_OK else { throw lost() }
    return rows
  }

  private func flush(by end: ContinuousClock.Instant) throws(PostgresFailure) {
    while true {
      switch unsafe PQflush(connection) {
      case 0: return
      case 1:
        try waitFor(Int16(POLLIN | POLLOUT), by: end)
        guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
      default: throw lost()
      }
    }
  }

  private static func rows(of result: OpaquePointer) -> [[String?]] {
    (0..<(unsafe PQntuples(result))).map { row in
      (0..<(unsafe PQnfields(result))).map { column in
        guard unsafe PQgetisnull(result, row, column) == 0 else { return nil }
        return unsafe PQgetvalue(result, row, column).map { unsafe String(cString: $0) }
      }
    }
  }

  // MARK: Notifications

  /// The payloads of the notifications that came.
  func notifications() throws(PostgresFailure) -> [String] {
    guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
    var payloads: [String] = []
    while let notification = unsafe PQnotifies(connection) {
      payloads.append(unsafe String(cString: notification.pointee.extra))
      unsafe PQfreemem(notification)
    }
    return payloads
  }

  /// Waits until something comes, or `wake` wakes, or an instant.
  func wait(or wake: WakeDescriptor, until end: ContinuousClock.Instant) -> Waited {
    var waits = [
      pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: unsafe PQsocket(connection), events: Int16(POLLIN), revents: 0),
    ]
    let count = unsafe poll(&waits, 2, end.pollTimeout)
    guard count > 0 else { return .timedOut }
    if waits[0].revents != 0 {
      wake.drain()
      return .woken
    }
    return .readable
  }

  private func waitFor(
    _ events: Int16, by end: ContinuousClock.Instant
  ) throws(PostgresFailure) {
    while true {
      var wait = pollfd(fd: unsafe PQsocket(connection), events: events, revents: 0)
      let count = unsafe poll(&wait, 1, end.pollTimeout)
      if count > 0 { return }
      if count == 0 { throw PostgresFailure("it does not answer", isLost: true) }
      guard errno == EINTR else { throw PostgresFailure("poll failed", isLost: true) }
    }
  }

  // MARK: Failures

  private func lost() -> PostgresFailure {
    let text = unsafe PQerrorMessage(connection).map { unsafe String(cString: $0) } ?? ""
    return PostgresFailure(lost: text)
  }

  private func failure(of result: OpaquePointer) -> PostgresFailure {
    // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY of postgres_ext.h.
    func field(_ code: Character) -> String? {
      guard let code = code.asciiValue,
        let field = unsafe PQresultErrorField(result, Int32(code))
      else { return nil }
      return unsafe String(cString: field)
    }
    let isLost = unsafe PQstatus(connection) == CONNECTION_BAD
    return PostgresFailure(
      field("M") ?? "the connection was lost", code: field("C"), isLost: isLost)
  }
}

/// Strings as C takes them.
private enum CStrings {
  /// Passes pointers to the strings, and a null behind them, which are valid while `body` runs.
  static func with<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { unsafe copies.forEach { unsafe free($0) } }
    var pointers = unsafe copies.map { unsafe UnsafePointer($0) }
    unsafe pointers.append(nil)
    return unsafe pointers.withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else {
        preconditionFailure("an array with a null has an address")
      }
      return unsafe body(base)
    }
  }
}
