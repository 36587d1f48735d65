/// One thread as a Swift executor, for actors that must run on it.
///
/// Production passes a reactor, tests a serial executor of a seeded one. An actor pins itself with
/// `nonisolated var unownedExecutor: UnownedSerialExecutor { executor.serialExecutor }`.
public protocol PinnedExecutor: TaskExecutor {
  /// The thread as a serial executor; the executor must outlive every actor pinned to it.
  @safe var serialExecutor: UnownedSerialExecutor { get }
}
