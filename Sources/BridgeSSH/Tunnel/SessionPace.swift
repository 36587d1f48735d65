/// Decides when a host is logged in to again that ends sessions as soon as they are made, as one
/// does that allows a user no more of them: no clock, no socket.
package struct SessionPace {
  package typealias Instant = ContinuousClock.Instant

  /// A session that lasts so long is followed by another one at once.
  package static let steady = Duration.seconds(1)

  private let longest: Duration
  private var wait = ForwardAttempts.waits.first
  private var due: Instant?
  private var linkBegan: Instant?

  /// - Parameter longest: the longest pause; the first is `ForwardAttempts.waits.first`, each one
  ///   after it doubles.
  package init(longest: Duration) { self.longest = longest }

  /// The pause before the next login.
  package func pause(at now: Instant) -> Duration { due.map { max(.zero, $0 - now) } ?? .zero }

  /// A session has ended that was made at `begin`, and did what it was made for or not.
  package mutating func ended(from begin: Instant, wasOfUse: Bool, at now: Instant) {
    // One of the link before may be seen to have ended after the next one is up.
    if let linkBegan, begin < linkBegan { return }
    guard !wasOfUse || now - begin < Self.steady else { return forget() }
    due = now + wait
    wait = min(wait * 2, longest)
  }

  /// The link is back: what was before says nothing.
  package mutating func reset(at now: Instant) {
    forget()
    linkBegan = now
  }

  private mutating func forget() { (wait, due) = (ForwardAttempts.waits.first, nil) }
}
