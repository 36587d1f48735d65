package import BridgeErrors
import BridgeRecovery

/// A link at a moment.
package struct LinkOverview: Sendable {
  /// Its name.
  package var id: ConnectionID
  /// Its state.
  package var state: LinkState
  /// How long the peer took to answer the last probe of the connection in use; nil before one.
  package var roundTrip: Duration?

  /// A link.
  package init(id: ConnectionID, state: LinkState, roundTrip: Duration? = nil) {
    self.id = id
    self.state = state
    self.roundTrip = roundTrip
  }
}

extension Supervisor {
  /// What a person sees from now on: the errors on the screen with their countdowns.
  public func presented() -> PresentedErrors {
    let reader = presentation.subscribe(machine.queue.presented(at: now()))
    present()
    scheduleTimers()
    return PresentedErrors(reader: reader)
  }

  /// Every link that is not closed, in the order in which they were added.
  package func overview() -> [LinkOverview] {
    machine.children.compactMap { id in
      machine.state(of: id).map { state in
        LinkOverview(id: id, state: state, roundTrip: watches[id]?.roundTrip)
      }
    }
  }

  /// Gives the readers of `presented` the present state, and sets the timer of its next second.
  func present() {
    presentedChanges = machine.queue.changes
    var next: Moment?
    if presentation.hasReaders {
      let now = now()
      presentation.publish(machine.queue.presented(at: now))
      next = machine.queue.nextCountdown(after: now)
    }
    guard next != countdown else { return }
    countdown = next
    if let next { set(.countdown, at: next) } else { clear(.countdown) }
  }
}
