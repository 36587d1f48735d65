/// How a name is looked up: the system's resolver, or a test's.
package struct Lookup: Sendable {
  /// Addresses, best first and at least one, or a failure of phase `.resolve`.
  package typealias Answer = Result<[NetworkAddress], DialFailure>

  /// Starts a lookup of a host without blocking; called on the reactor's thread. Calls back once,
  /// from any thread.
  package let start: @Sendable (String, Reactor, @escaping @Sendable (Answer) -> Void) -> Void

  /// A lookup that is started by `start`.
  package init(
    start: @escaping @Sendable (String, Reactor, @escaping @Sendable (Answer) -> Void) -> Void
  ) {
    self.start = start
  }
}
