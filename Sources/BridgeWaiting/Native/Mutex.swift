import Glibc

/// A lock around a value.
///
/// `Synchronization.Mutex` would do, but ThreadSanitizer does not see it on Linux and reports every
/// use as a race; it does see a pthread mutex. It is the only lock of what users link;
/// BridgeFaults, which shares no code with that, has the one of Synchronization.
@safe public final class Mutex<State>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  /// Only the holder of the lock accesses the state: no exclusivity check is needed at run time.
  @usableFromInline @exclusivity(unchecked) var state: State

  /// A lock around `state`, open.
  public init(_ state: sending State) {
    unsafe lock = .allocate(capacity: 1)
    unsafe pthread_mutex_init(lock, nil)
    unsafe self.state = state
  }

  deinit {
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Runs `body` with the value, which no other caller accesses meanwhile; `body` must not wait.
  @inlinable public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    acquire()
    defer { release() }
    return try unsafe body(&state)
  }

  @usableFromInline func acquire() { unsafe pthread_mutex_lock(lock) }

  @usableFromInline func release() { unsafe pthread_mutex_unlock(lock) }
}
