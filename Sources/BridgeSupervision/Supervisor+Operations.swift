public import BridgeErrors
import BridgeRecovery

extension Supervisor {
  /// Runs an operation where the caller runs, and again as the policy and the error allow.
  ///
  /// What fails for good is shown as well. With a `source`, success takes its errors away again.
  /// After `shutDown` nothing is run again or shown; what runs then runs to its end.
  ///
  /// - Parameters:
  ///   - source: the name under which its errors are shown.
  ///   - repetition: `.idempotent` where it may be run again although the last run may have had its
  ///     effect, as when a request timed out. By default it is run again only where the error
  ///     proves that there was none.
  ///   - operation: what is run.
  /// - Throws: the operation's last error as it was thrown: `AppError.cancelled` where it used a
  ///   link that was closed; `CancellationError` when the task is canceled.
  public nonisolated func run<T: Sendable>(
    source: String? = nil, _ repetition: Repetition = .onlyWithoutEffect,
    _ operation: @escaping @Sendable () async throws -> T
  ) async throws -> T {
    var progress = RetryProgress()
    while true {
      do {
        let value = try await operation()
        if let source { await receive(.resolve(source: source)) }
        return value
      } catch {
        let typed = typed(error)
        if Task.isCancelled { throw CancellationError() }
        if typed == .cancelled { throw error }
        let mayRepeat = repetition == .idempotent || typed.provesNoEffect
        let retry = mayRepeat ? retryClass(of: typed, error) : .never
        guard let delay = await delay(after: typed, retry, source, &progress) else { throw error }
        try await pause(for: delay, isAsked: typed.retryAfter() != nil)
        if await isShutDown { throw error }
        await receive(.emit(.attempted(number: progress.retries + 1, isStandby: false), source))
      }
    }
  }

  /// Shows an error. A cancellation is none.
  public func report(_ error: AppError, source: String? = nil) {
    guard error != .cancelled else { return }
    receive(.report(SeverityQueue.Report(error: error, source: source)))
  }

  /// Executes an option of an error; nil means the shown one.
  ///
  /// Reconnecting a link, and closing it (`.cancel`), is done here, everything else by the handler.
  /// When that throws, the error is shown again under the same id with an updated message. An
  /// option that no handler executes changes nothing.
  ///
  /// - Returns: whether the option was executed.
  @discardableResult
  public func choose(
    _ kind: ErrorRecoveryOption.Kind, for id: PresentedError.ID? = nil
  ) async -> Bool {
    guard let entry = id.map({ machine.queue.entry($0) }) ?? machine.queue.shown else {
      return false
    }
    switch kind {
    case .cancel where entry.link != nil:
      if let link = entry.link { receive(.close(link)) }
      return true
    case .dismiss, .cancel:
      receive(.dismiss(entry.id))
      return true
    case .retry, .reconnect:
      guard let link = entry.link else { break }
      receive(.reconnectNow(link))
      return true
    case .checkSettings, .openSettings, .abort, .waitForCompletion, .browse,
      .retryWithPermission, .skipTool, .custom:
      break
    }
    switch await carryOut(kind, for: entry) {
    case .done:
      receive(.dismiss(entry.id))
      return true
    case .unavailable, .failed(.cancelled): return false
    case .failed(let error):
      receive(.optionFailed(entry, error))
      return false
    }
  }

  private enum Execution: Sendable {
    case done
    case unavailable
    case failed(AppError)
  }

  /// Dismisses an error; nil means the shown one.
  public func dismiss(_ id: PresentedError.ID? = nil) {
    guard let id = id ?? machine.queue.shown?.id else { return }
    receive(.dismiss(id))
  }

  /// Removes the errors of `source`, which works again.
  public func resolve(source: String) {
    receive(.resolve(source: source))
  }

  private nonisolated func carryOut(
    _ kind: ErrorRecoveryOption.Kind, for entry: PresentedError
  ) async -> Execution {
    guard let onOption else { return .unavailable }
    let work = Task(executorPreference: callbackExecutor) { () -> Execution in
      do {
        try await onOption(kind, entry)
        return .done
      } catch is OptionUnavailable {
        return .unavailable
      } catch {
        return .failed(self.typed(error))
      }
    }
    return await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
  }

  /// How long to wait before the next attempt; nil when there is none, and then the error is shown.
  private func delay(
    after error: AppError, _ retry: RetryClass, _ source: String?,
    _ progress: inout RetryProgress
  ) -> Duration? {
    guard !isShutDown else { return nil }
    receive(.emit(.failed(ConnectionError(error)), source))
    receive(.emit(.classified(retry), source))
    let floor = error.retryAfter().map { Duration.seconds(max(0, $0)) }
    let delay =
      retry.isAutomatic
      ? policy.next(&progress, pace: retry.pace, atLeast: floor, using: &generator) : nil
    let left = policy.retries.map { max(0, $0 - progress.retries + (delay == nil ? 0 : 1)) }
    let plan = RecoveryPlan(
      next: delay == nil ? .askPerson : .retry, at: delay, attempt: progress.retries + 1,
      attemptsLeft: left, isSkippable: delay != nil,
      options: error.recoveryOptions.map(\.kind))
    if delay != nil {
      receive(.emit(.waiting(plan), source))
    } else {
      receive(.emit(.gaveUp(ConnectionError(error), plan), source))
      receive(.report(SeverityQueue.Report(error: error, source: source, plan: plan)))
    }
    return delay
  }

  private nonisolated func typed(_ error: any Error) -> AppError {
    switch error {
    case let error as APIError: AppError(apiError: error)
    case let failure as APIFailure: AppError(apiFailure: failure)
    default: AppError(wrapping: error)
    }
  }

  private nonisolated func retryClass(of error: AppError, _ original: any Error) -> RetryClass {
    let isRetryable = (original as? APIError)?.isRetryable == true
    let automatic = error.retryClass()
    return isRetryable && !automatic.isAutomatic ? .repeatOperation : automatic
  }

  /// Waits on the clock; a person or a change of the network ends the wait.
  private nonisolated func pause(
    for delay: Duration, isAsked: Bool
  ) async throws(CancellationError) {
    let deadline = clock.now.advanced(by: delay)
    let sleep = Task(executorPreference: executor) { [clock] in
      try await clock.sleep(until: deadline, tolerance: nil)
    }
    let ticket = await begin(Pause(sleep: sleep, isAsked: isAsked))
    await withTaskCancellationHandler {
      _ = await sleep.result
    } onCancel: {
      sleep.cancel()
    }
    await finish(ticket)
    if Task.isCancelled { throw CancellationError() }
  }

  private func begin(_ pause: Pause) -> Int {
    let ticket = ticket()
    pauses[ticket] = pause
    if isShutDown { pause.sleep.cancel() }
    return ticket
  }

  private func finish(_ ticket: Int) {
    pauses[ticket] = nil
  }

  /// Ends the waits of operations, with `isAsked` also those that a server requires.
  func endPauses(also isAsked: Bool) {
    for ticket in pauses.keys.sorted() {
      guard let pause = pauses[ticket], isAsked || !pause.isAsked else { continue }
      pause.sleep.cancel()
    }
  }
}

extension AppError {
  /// Whether an operation that ended with it cannot have had its effect.
  fileprivate var provesNoEffect: Bool {
    if self == .networkUnavailable || self == .agentBusy { return true }
    if case .dnsError = self { return true }
    if case .apiRateLimited = self { return true }
    if case .sshServerBusy = self { return true }
    return false
  }
}
