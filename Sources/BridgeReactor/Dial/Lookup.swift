/// How a name is looked up: the system's resolver, or a test's.
package struct Lookup: Sendable {
  /// Addresses, best first and at least one, or a failure of phase `.resolve`.
  package typealias Answer = Result<[NetworkAddress], DialFailure>

  /// Starts a lookup of a host without blocking; called on the reactor's thread. Calls `began` once
  /// when the lookup has its turn and then `answer` once, from any thread.
  package let start:
    @Sendable (
      _ host: String, _ reactor: Reactor, _ began: @escaping @Sendable () -> Void,
      _ answer: @escaping @Sendable (Answer) -> Void
    ) -> Void

  /// A lookup that is started by `start`, and may wait in a queue before it begins.
  package init(
    queued start:
      @escaping @Sendable (
        String, Reactor, @escaping @Sendable () -> Void, @escaping @Sendable (Answer) -> Void
      ) -> Void
  ) {
    self.start = start
  }

  /// A lookup that is started by `start`, and begins at once.
  package init(
    start: @escaping @Sendable (String, Reactor, @escaping @Sendable (Answer) -> Void) -> Void
  ) {
    self.start = { host, reactor, began, answer in
      began()
      start(host, reactor, answer)
    }
  }
}
