import CLibUV

extension Reactor {
  /// Runs `work`, which may block, on libuv's thread pool, then `done` on the loop. Call it on the
  /// loop.
  package func help(
    _ work: @escaping @Sendable () -> Void, then done: @escaping @Sendable () -> Void
  ) {
    help { [self] in
      work()
      execute(done)
    }
  }

  /// Runs `work`, which may block, on libuv's thread pool while the loop goes on.
  ///
  /// It cannot be cancelled: bound its time. For key derivation, ssh-agent and the like; nothing
  /// else may hold the loop's thread.
  public nonisolated func onHelperThread<Result: Sendable>(
    _ work: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { (caller: CheckedContinuation<Result, Never>) in
      execute { [self] in
        help { caller.resume(returning: work()) }
      }
    }
  }

  private func help(_ work: @escaping @Sendable () -> Void) {
    // Without a loop there is no pool, and nothing that waits for this thread either.
    guard openLoop() == nil else { return work() }
    unsafe HelperJob(work).queue(on: native)
  }
}

/// One request to libuv's pool.
private final class HelperJob {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func queue(on loop: UnsafeMutablePointer<uv_loop_t>) {
    let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)
    unsafe request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    let result = unsafe uv_queue_work(
      loop, request, { unsafe HelperJob.run($0) }, { request, _ in unsafe HelperJob.free(request) })
    // libuv refuses only a missing callback; the caller must not wait for ever even so.
    if result != 0 {
      unsafe HelperJob.run(request)
      unsafe HelperJob.free(request)
    }
  }

  private static func run(_ request: UnsafeMutablePointer<uv_work_t>?) {
    guard let data = unsafe request?.pointee.data else { return }
    unsafe Unmanaged<HelperJob>.fromOpaque(data).takeUnretainedValue().body()
  }

  private static func free(_ request: UnsafeMutablePointer<uv_work_t>?) {
    guard let request = unsafe request else { return }
    if let data = unsafe request.pointee.data {
      unsafe Unmanaged<HelperJob>.fromOpaque(data).release()
    }
    unsafe request.deallocate()
  }
}
