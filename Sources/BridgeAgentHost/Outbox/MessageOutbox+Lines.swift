public import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeStore
import BridgeWaiting

extension SessionLine {
  /// What names it within its session, also in another life of the application.
  fileprivate var place: String {
    switch content {
    case .line(_, let stream): "\(stream.rawValue)-\(end)"
    // The last part may have no bytes, and the end of the one before.
    case .part(_, let stream, let isLast): "\(stream.rawValue)-\(end)-\(isLast ? "last" : "part")"
    case .gap: "gap-\(end)"
    }
  }
}

/// Lines that were taken, in order, up to the one that has arrived.
private final class TakenLines: Sendable {
  /// A line and the number of its message; nil where none is sent for it.
  typealias Taken = (number: Int?, line: SessionLine)

  /// More than these wait for space.
  private static let limit = 4096

  private let state = Mutex((lines: ArraySlice<Taken>(), isOver: false))
  private let changes = Changes()

  /// Adds a line; waits while there are too many.
  func append(_ line: Taken) async throws(AppError) {
    let count = state.withLock { state in
      state.lines.append(line)
      return state.lines.count
    }
    changes.announce()
    guard count >= Self.limit else { return }
    while true {
      let version = changes.version
      guard state.withLock({ $0.lines.count >= Self.limit }) else { return }
      try await changes.wait(after: version)
    }
  }

  func finish() {
    state.withLock { $0.isOver = true }
    changes.announce()
  }

  /// The oldest line, where that is there and meets the condition.
  func next(where isTaken: (Taken) -> Bool) -> Taken? {
    let line = state.withLock { state in
      state.lines.first.map(isTaken) == true ? state.lines.popFirst() : nil
    }
    if line != nil { changes.announce() }
    return line
  }

  /// The oldest line; nil after the last one.
  func next() async throws(AppError) -> Taken? {
    while true {
      let version = changes.version
      let (line, isOver) = state.withLock { ($0.lines.popFirst(), $0.isOver) }
      if line != nil || isOver {
        changes.announce()
        return line
      }
      try await changes.wait(after: version)
    }
  }
}

extension MessageOutbox {
  /// Delivers lines in order, many at once, and commits each when it has arrived; returns after the
  /// last one.
  ///
  /// The id of a message is the same after a restart of the application: the session, the stream
  /// and the end of the line.
  /// - Parameters:
  ///   - lines: made with `commits: .whenCalled`: a line that is on its way has not arrived.
  ///   - text: what is sent for a line; nil for nothing. What it throws ends the delivery before
  ///     this line.
  /// - Throws: why the session is over for this client; what `text` throws; `validationError` for
  ///   lines that commit by themselves; `cancelled`, also when the outbox is closed.
  public func deliver(
    _ lines: SessionLines,
    as text: @escaping @Sendable (SessionLine) async throws(AppError) -> String?
  ) async throws(AppError) {
    try await deliver(lines, as: text) { _ in }
  }

  /// Likewise.
  ///
  /// - Parameter arrived: is given the last of the lines that have arrived by now, before these are
  ///   committed; none of them is where it throws.
  func deliver(
    _ lines: SessionLines,
    as text: @escaping @Sendable (SessionLine) async throws(AppError) -> String?,
    arrived: @escaping @Sendable (SessionLine) async throws(AppError) -> Void
  ) async throws(AppError) {
    guard lines.commits == .whenCalled else {
      throw .validationError(
        field: "lines", message: "Lines that an outbox delivers are committed by it.")
    }
    let taken = TakenLines()
    let result = await withTaskGroup(of: Result<Void, AppError>.self) { group in
      group.addTask {
        defer { taken.finish() }
        return await Result { () async throws(AppError) in
          try await self.takeAll(lines, as: text, into: taken)
        }
      }
      group.addTask {
        await Result { () async throws(AppError) in
          try await self.commitAll(lines, of: taken, arrived)
        }
      }
      var result = Result<Void, AppError>.success(())
      for await one in group {
        guard case .success = result, case .failure = one else { continue }
        result = one
        group.cancelAll()
      }
      return result
    }
    try result.get()
  }

  private func takeAll(
    _ lines: SessionLines, as text: @Sendable (SessionLine) async throws(AppError) -> String?,
    into taken: TakenLines
  ) async throws(AppError) {
    let session = lines.session.configuration.attachment.session
    for try await line in lines {
      var number: Int?
      if let text = try await text(line) {
        number = try await take(OutboxMessage(id: "\(session)-\(line.place)", text: text))
      }
      try await taken.append((number, line))
    }
  }

  /// Commits lines as they arrive, together those that have.
  private func commitAll(
    _ lines: SessionLines, of taken: TakenLines,
    _ arrived: @Sendable (SessionLine) async throws(AppError) -> Void
  ) async throws(AppError) {
    while var (number, line) = try await taken.next() {
      if let number { try await untilDelivered(number) }
      while let next = taken.next(where: { $0.number.map(isDelivered) ?? true }) {
        (number, line) = next
      }
      try await arrived(line)
      await lines.commit(line)
    }
  }
}
