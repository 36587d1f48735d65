import NIOCore

extension EventLoop {
  /// The loop as the executor an actor pins itself to; it must outlive the actor, as the loops of
  /// the process-wide group do.
  @safe var lane: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
}
