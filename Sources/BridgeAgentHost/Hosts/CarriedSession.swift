public import BridgeErrors
public import BridgeSession
public import BridgeSessionProtocol
import BridgeStore
import BridgeWaiting

/// The durable session of an agent that this host carries, joined with the agent's store.
///
///     try await host.run { agent throws(AppError) in
///       let session = try await agent.session(on: machine, running: "make test")
///       try await session.deliver(through: outbox) { line in line.text }
///     }
///
/// What may be killed at any time: the application, its host, the connections, the peer of the
/// outbox. The program is started once; each of its lines arrives, a second time only under the
/// same id; its end is in the store.
public struct CarriedSession: Sendable {
  /// The agent.
  public let agent: CarriedAgent
  /// Where it runs.
  public let machine: RemoteMachine
  /// Its session.
  public let session: DurableSession
  /// Behind which line its output begins; nil for the first.
  let start: LinePoint?

  /// Delivers the session's output, line by line, until its program has ended, stores how, and
  /// closes the agent.
  ///
  /// A line that has arrived is in the store, under the agent's lease, before the host of the
  /// session may give it up: what had not arrived is read again after a restart, and sent under the
  /// same id. The end is stored behind all lines; the session is removed then, and no host takes
  /// the agent any more. Where the store has that end already, nothing else is done. Where this
  /// throws, or is canceled, this client leaves the session and the program goes on.
  ///
  /// - Parameters:
  ///   - outbox: what the lines are delivered through; many agents may share one.
  ///   - input: what the program reads: written once, whatever restarts; the same in each call. Its
  ///     input ends then, unless answers follow. nil where the application writes by itself.
  ///   - approvals: whose answers to this agent are written to its program, each once, also those
  ///     that are given on other hosts. Nothing else writes to the session meanwhile.
  ///   - limit: the longest line that is delivered as one, in bytes.
  ///   - text: what is sent for a line; nil for nothing.
  ///   - last: what is sent behind all lines, when the program has ended; nil for nothing.
  /// - Returns: how the program ended; also that this is not known, and why.
  /// - Throws: why the session is over for this client; as `CarriedAgent.write`; what `text`
  ///   throws; `cancelled`, also when the outbox is closed.
  @discardableResult
  public func deliver(
    through outbox: MessageOutbox, input: [UInt8]? = [], answering approvals: Approvals? = nil,
    limit: Int = 1 << 20,
    as text: @escaping @Sendable (SessionLine) async throws(AppError) -> String?,
    last: (ProgramEnd) -> String? = { _ in nil }
  ) async throws(AppError) -> ProgramEnd {
    if let end = try agent.end() {
      try await agent.close()
      return end
    }
    do throws(AppError) {
      _ = try await session.attach()
      try await keepStart()
      try await carry(input, approvals) { () async throws(AppError) in
        let lines = session.lines(limit: limit, after: start, commits: .whenCalled)
        try await outbox.deliver(lines, as: text) { line async throws(AppError) in
          try await keep(line, of: lines)
        }
      }
      let end = try await ending()
      // A program that has ended asks nothing any more.
      for question in await approvals?.pending ?? [] where question.id.agent == agent.name {
        try await approvals?.cancel(question.id, by: .agent)
      }
      if let text = last(end) {
        let id = session.configuration.attachment.session
        try await outbox.deliver(text, id: "\(id)-end")
      }
      try await agent.keep(end)
      // Where the end is not known a person may want to look.
      if end.isUnknown { await session.detach() } else { await session.close() }
      try await agent.close()
      return end
    } catch {
      await session.detach()
      throw error
    }
  }

  // MARK: The store

  /// The program was started: no later host starts it again.
  private func keepStart() async throws(AppError) {
    guard start == nil, let output = await session.resumePoint else { return }
    try await agent.write(.resume(try StoredValue(encoding: LinePoint(output: output))))
  }

  private func keep(_ line: SessionLine, of lines: SessionLines) async throws(AppError) {
    guard let point = await lines.point(after: line) else { return }
    try await agent.write(.resume(try StoredValue(encoding: point)))
  }

  private func ending() async throws(AppError) -> ProgramEnd {
    do throws(AppError) {
      return try await session.exitStatus()
    } catch {
      guard let end = await session.ending else { throw error }
      return end
    }
  }

  // MARK: Input

  /// Writes to the program while `body` reads from it.
  private func carry(
    _ input: [UInt8]?, _ approvals: Approvals?,
    _ body: @escaping @Sendable () async throws(AppError) -> Void
  ) async throws(AppError) {
    let result = await withTaskGroup(of: Result<Void, AppError>.self) { group in
      group.addTask { await Result(catching: body) }
      group.addTask {
        await Result { () async throws(AppError) in
          if let input { try await write(input, at: 0) }
          if let approvals {
            try await answer(approvals)
          } else if input != nil {
            try await writing { () async throws(AppError) in try await session.endInput() }
          }
          // The program's end counts.
          await Latch().wait()
          throw .cancelled
        }
      }
      if let approvals {
        group.addTask {
          await Result { () async throws(AppError) in try await agent.follow(approvals) }
        }
      }
      let first = await group.next() ?? .failure(.cancelled)
      group.cancelAll()
      return first
    }
    try result.get()
  }

  private func answer(_ approvals: Approvals) async throws(AppError) {
    try await approvals.deliver(to: agent.name) { record throws(AppError) in
      let end = await session.inputPoint?.written ?? 0
      let place = try await approvals.reserve(record.id, at: end)
      try await write(record.responseLine ?? [], at: place)
    }
  }

  /// Writes what the program has not been written before; returns once it has it.
  private func write(_ bytes: [UInt8], at offset: UInt64) async throws(AppError) {
    guard !bytes.isEmpty else { return }
    try await writing { () async throws(AppError) in
      try await session.deliver(bytes, at: offset)
    }
  }

  /// A program that takes no more input ends, or has: that is seen by its output.
  private func writing(_ body: () async throws(AppError) -> Void) async throws(AppError) {
    do throws(AppError) {
      try await body()
    } catch {
      guard case .sshConnectionFailed = error else { throw error }
      await Latch().wait()
      throw .cancelled
    }
  }
}
