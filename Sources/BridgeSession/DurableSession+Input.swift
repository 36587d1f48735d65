public import BridgeErrors
public import BridgeSessionProtocol
import BridgeTransport
import BridgeWaiting

// What the application sends, and how it leaves.
extension DurableSession {
  /// Writes to the program's standard input or terminal; returns the offset after the last byte
  /// once it is kept here. It is sent again until the host has taken it, as long as this value
  /// lives. Waits while 1 MiB is on its way, and before the host's first answer.
  ///
  /// One caller at a time: the parts of two would be mixed. What a canceled call had kept is sent.
  ///
  /// - Parameter offset: where it begins; nil for the end of what was written. What lies below the
  ///   end was written before and is not written again.
  /// - Throws: `validationError` for a viewer, and where bytes before `offset` are missing;
  ///   `sshConnectionFailed` when input was ended or the program has; why the session is over for
  ///   this client; `cancelled`.
  @discardableResult
  public func write(
    _ bytes: [UInt8], at offset: UInt64? = nil
  ) async throws(AppError) -> UInt64 {
    var rest = bytes[...]
    var position = offset
    while true {
      try requireOpen()
      let part = rest.prefix(Self.partSize)
      var space = 0
      do throws(ClientSession.WriteError) {
        let end = try machine.write(part, at: position)
        send()
        rest = rest.dropFirst(part.count)
        position = position.map { $0 + UInt64(part.count) }
        if rest.isEmpty { return end }
        continue
      } catch {
        space = try self.space(after: error)
      }
      if space > 0, !rest.isEmpty {
        // Nothing of a part that does not fit was taken: fill what is free.
        let small = rest.prefix(space)
        guard (try? machine.write(small, at: position)) != nil else { continue }
        send()
        rest = rest.dropFirst(small.count)
        position = position.map { $0 + UInt64(small.count) }
        if rest.isEmpty { return machine.inputOffset ?? 0 }
      }
      try await change()
    }
  }

  private static var partSize: Int { 64 << 10 }

  /// Writes to the program, and returns once its pipe or its terminal has all of it: the offset
  /// after the last byte. What a canceled call had kept is sent.
  ///
  /// - Parameter offset: where it begins; nil for the end of what was written.
  /// - Throws: as `write`, and `sshConnectionFailed` when the program ended before it was taken.
  @discardableResult
  public func deliver(
    _ bytes: [UInt8], at offset: UInt64? = nil
  ) async throws(AppError) -> UInt64 {
    let end = try await write(bytes, at: offset)
    try await inputTaken(through: end)
    return end
  }

  /// Ends the program's input after all that was written.
  ///
  /// - Throws: as `write`.
  public func endInput() async throws(AppError) {
    try await perform { machine throws(ClientSession.WriteError) in _ = try machine.endInput() }
  }

  /// Sets the size of the program's terminal.
  ///
  /// - Throws: as `write`.
  public func resize(to size: WindowSize) async throws(AppError) {
    try await perform { machine throws(ClientSession.WriteError) in
      _ = try machine.perform(.resize(size))
    }
  }

  /// Signals the program's foreground processes, once.
  ///
  /// - Throws: as `write`.
  public func signal(_ signal: SessionSignal) async throws(AppError) {
    try await perform { machine throws(ClientSession.WriteError) in
      _ = try machine.perform(.signal(signal))
    }
  }

  /// Whether the host has answered and bytes flow; the link may be dead without a sign of it yet.
  public var isAttached: Bool { machine.phase == .attached }

  /// Whether the host has not answered a signal or another control that this client gave. Of one
  /// that was left in order all were done before that.
  package var awaitsControl: Bool { machine.awaitsControl && farewell != .isOver }

  /// Waits until all input below `offset` was written to the program.
  ///
  /// - Throws: `sshConnectionFailed` when the program ended before; why the session is over for
  ///   this client; `cancelled`.
  public func inputTaken(through offset: UInt64) async throws(AppError) {
    while machine.inputTaken < offset {
      try requireOpen()
      guard machine.ending == nil else { throw ended }
      try await change()
    }
  }

  /// Leaves the session; the program goes on. What was written and not sent by now is sent first,
  /// where the link is up and the program takes it within a second.
  public func detach() async {
    await settleInput()
    await disconnect(closes: false, Self.detachLimit)
  }

  /// Waits until what was written was taken, so that `inputUntaken` counts only what may be lost.
  private func settleInput() async {
    guard machine.phase == .attached, inputUntaken > 0, let end = machine.inputOffset else {
      return
    }
    await within(Self.detachLimit) { try? await self.inputTaken(through: end) }
  }

  /// Asks the program to end as a terminal that is gone does, and leaves the session.
  ///
  /// - Parameter limit: the time that asking may take.
  package func hangUp(within limit: Duration) async -> HangUp {
    guard machine.phase == .attached, machine.role == .writer, machine.ending == nil else {
      await disconnect(closes: false, Self.detachLimit / 10)
      return machine.ending != nil ? .done : .unsent
    }
    let limit = Milliseconds(max(0, limit / .milliseconds(1)))
    // What has the terminal is hung up first, then the shell that has started it.
    var last: UInt64 = 0
    for signals in [[SessionSignal.hangup, .continue], [.hangup, .terminate]] {
      for signal in signals { last = (try? machine.perform(.signal(signal))) ?? last }
      send()
      let last = last
      await within(limit / 2) { await self.untilEnded(or: last) }
      guard machine.ending == nil, machine.phase == .attached else { break }
    }
    let isDone = machine.ending != nil || machine.controlsDone >= last
    await disconnect(closes: machine.ending != nil, Self.detachLimit / 10)
    return isDone ? .done : .unanswered
  }

  /// What came of the wish that the program ends.
  package enum HangUp: Sendable {
    /// The host has done it, or the program had ended.
    case done
    /// It was sent, and no answer came in time.
    case unanswered
    /// There is no link, or another client writes.
    case unsent
  }

  /// Waits for the program's end; where its output is not read, no longer than for the control.
  private func untilEnded(or control: UInt64) async {
    while machine.ending == nil, machine.phase == .attached,
      queue.count <= OutputQueue.limit || machine.controlsDone < control
    {
      guard (try? await change()) != nil else { return }
    }
  }

  /// Leaves the session, and removes it where the program has ended and all of its output was
  /// committed: over the next channel, where the present one is lost. What is not removed stays on
  /// the host until it is too old to be kept.
  ///
  /// - Parameter limit: the time that this may take.
  public func close(within limit: Duration = .seconds(5)) async {
    if let closing { return await closing.value }
    let milliseconds = Milliseconds(max(0, limit / .milliseconds(1)))
    let task = Task(executorPreference: executor) { await self.detachAndRemove(milliseconds) }
    closing = task
    await task.value
  }

  /// `close` without a round trip: it does not wait until the host has done it, and leaves the
  /// channel open. The caller closes the link next, which delivers what was written last.
  package func closeWithLink(within limit: Duration) async {
    if machine.mayRemove { farewell = .isSent }
    await close(within: limit)
  }

  private func detachAndRemove(_ limit: Milliseconds) async {
    let end = clock.now() + limit
    await disconnect(closes: true, limit)
    let now = clock.now()
    guard machine.mayRemove, farewell != .isOver, now < end else { return }
    await within(end - now) { await self.removeSession() }
  }

  private func disconnect(closes: Bool, _ limit: Milliseconds) async {
    isLeaving = true
    guard let carrying else {
      isOver = true
      sink.finish()
      return changes.announce()
    }
    guard !isOver, machine.phase == .attached, (try? machine.detach(closes: closes)) != nil else {
      carrying.cancel()
      return await carrying.value
    }
    sends.announce()
    // Also where the caller was canceled: what was written is sent first.
    let timer = Task(executorPreference: executor) { [clock] in
      await clock.sleep(limit)
      if !Task.isCancelled { carrying.cancel() }
    }
    await carrying.value
    timer.cancel()
  }

  /// Runs `work`, and cancels it after `limit`.
  private func within(_ limit: Milliseconds, _ work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await work() }
      group.addTask { [clock] in await clock.sleep(limit) }
      await group.next()
      group.cancelAll()
    }
  }

  /// A person may wait for the prompt.
  private static var detachLimit: Milliseconds { 1000 }

  private func perform(
    _ body: (inout ClientSession) throws(ClientSession.WriteError) -> Void
  ) async throws(AppError) {
    while true {
      try requireOpen()
      do throws(ClientSession.WriteError) {
        try body(&machine)
        return send()
      } catch {
        _ = try space(after: error)
      }
      try await change()
    }
  }

  private func requireOpen() throws(AppError) {
    if isLeaving { throw .cancelled }
    if isOver { throw failure ?? ended }
    begin()
  }

  /// The space that is left, where waiting helps.
  private func space(after error: ClientSession.WriteError) throws(AppError) -> Int {
    switch error {
    case .notAttached: return 0
    case .full(let space): return space
    case .notWriter:
      throw .validationError(
        field: "session", message: "This client only reads the session: another one writes.")
    case .hole(let expected):
      throw .validationError(
        field: "offset", message: "The bytes from \(expected) on are missing.")
    case .ended: throw ended
    }
  }

  private var ended: AppError {
    .sshConnectionFailed(host: configuration.host, reason: "The program takes no more input.")
  }
}
