import BridgeWaiting

extension Reactor {
  /// Runs `work`, which may wait for a person or for seconds, on a thread of `BlockingThreads`,
  /// then `done` on the loop, which does not end before.
  package func help(
    _ work: @escaping @Sendable () -> Void, then done: @escaping @Sendable () -> Void
  ) {
    beginHelp()
    BlockingThreads.prompts.start { [self] in
      work()
      endHelp(done)
    }
  }

  /// Runs `work`, which may wait for a disk, on a thread of `BlockingThreads` while the loop goes
  /// on; the loop does not end before.
  ///
  /// It cannot be canceled: bound its time. Nothing else may hold the loop's thread.
  public nonisolated func onHelperThread<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result
  ) async -> Result {
    beginHelp()
    let result = Promise<Result>()
    BlockingThreads.files.start { [self] in
      result.fulfill(work())
      endHelp {}
    }
    return await result.value()
  }

  private nonisolated func beginHelp() { inbox.withLock { $0.helpers += 1 } }

  private nonisolated func endHelp(_ done: @escaping @Sendable () -> Void) {
    execute { [self] in
      inbox.withLock { $0.helpers -= 1 }
      done()
    }
  }
}
