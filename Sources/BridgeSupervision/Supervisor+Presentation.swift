import BridgeErrors
import BridgeRecovery

extension Supervisor {
  /// What a person sees from now on: the errors on the screen with their countdowns.
  public func presented() -> PresentedErrors {
    let reader = presentation.subscribe(machine.queue.presented(at: now()))
    present()
    scheduleTimers()
    return PresentedErrors(reader: reader)
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
