package import BridgeErrors
package import BridgeRecovery
import BridgeTransport

/// What is known about the links of a run, and what follows from each of their steps. Without I/O,
/// so that every outage is a test.
package struct LinkFacts: Sendable {
  /// Which link a step is about.
  package enum Place: Sendable, Equatable {
    /// The one that the work goes over.
    case host
    /// One on the way to it.
    case hop
    /// One beside it, to the same host.
    case side
  }

  /// What is done about a step.
  package enum Action: Sendable, Equatable {
    /// Counts an error.
    case count(AppError)
    /// Counts a reconnect.
    case countReconnect
    /// Shows how far a first dial has come.
    case show(ConnectionPhase)
    /// The link is up: typed answers are kept for the next dial, and nothing is in progress.
    case settle
    /// Keeps back what is typed and read, or no longer.
    case hold(Bool)
    /// No further dial follows.
    case giveUp(CommandFailure)
    /// Shows the step to a person.
    case view
    /// Passes the step to the work.
    case work
    /// The sessions of forwards may be lost.
    case loseForwards
    /// Forwards that could not be had are tried again.
    case retryForwards
  }

  /// Whether the link to the host was ever up.
  package private(set) var wasUp = false
  /// The newest failures of the link in use and of one dialed beside it, in the order they came.
  package private(set) var failures: [CommandFailure] = []
  /// The result of the newest reconnect, for display.
  package private(set) var back: String?
  /// How the remote side ended.
  package var remote: ExitReport.Remote?
  /// The case of the error that ended the run.
  package var caseName: String?
  /// Whether the user has left.
  package var hasDisconnected = false
  /// Whether the run is ending at the user's request, or has nothing left to do.
  package var isOver = false

  /// The result of the newest reconnect, for who says it first.
  package mutating func takeBack() -> String? { back.take() }

  private let retriesFirstDial: Bool

  /// Nothing is known yet.
  ///
  /// - Parameter retriesFirstDial: whether a link that was never up is dialed again.
  package init(retriesFirstDial: Bool = true) { self.retriesFirstDial = retriesFirstDial }

  /// Takes one step in; returns what is done about it, in order.
  package mutating func see(_ step: RecoveryEvent.Step, of place: Place) -> [Action] {
    guard place != .side else { return sideActions(step) }
    // The words for these name the host that the run leads to.
    switch step {
    case .suspected, .cleared, .switched, .closed: if place == .hop { return [] }
    case .attempted, .entered, .recovered, .becameHealthy, .failed, .classified, .waiting,
      .suspended, .resumed, .gaveUp, .surfaced, .withdrawn, .lingered, .changed, .missed:
      break
    }
    let first = firstActions(step, of: place)
    switch place {
    case .host:
      let isBack = if case .recovered = step { true } else { false }
      return first + [.view, .work] + (step.isCut ? [.loseForwards] : [])
        + (isBack ? [.retryForwards] : [])
    case .hop:
      if case .recovered = step { return first }
      return first + [.view]
    case .side: return []
    }
  }

  /// A link beside the one in use is no news to a person: the work goes on without it.
  private func sideActions(_ step: RecoveryEvent.Step) -> [Action] {
    switch step {
    case .failed(let failure): [.count(failure.error)]
    case .attempted(let number, let isStandby): isStandby || number > 1 ? [.countReconnect] : []
    case .gaveUp(let failure, _): [.giveUp(CommandFailure(failure))]
    case .recovered: [.settle]
    case .entered, .suspected, .cleared, .becameHealthy, .classified, .waiting, .suspended,
      .resumed, .switched, .surfaced, .withdrawn, .lingered, .changed, .closed, .missed:
      []
    }
  }

  private mutating func firstActions(_ step: RecoveryEvent.Step, of place: Place) -> [Action] {
    switch step {
    case .attempted(let number, let isStandby):
      return isStandby || number > 1 || wasUp ? [.countReconnect] : []
    case .entered(let phase):
      return wasUp ? [] : [.show(phase)]
    case .recovered(let time, let attempts, let isFirst):
      if place == .host {
        wasUp = true
        back = isFirst ? nil : LinkStatus.back(after: time, attempts)
      }
      // The link that was suspected is no longer the one in use.
      return [.settle] + (place == .host && !isFirst ? [.hold(false)] : [])
    case .failed(let failure):
      failures = failures.suffix(1) + [CommandFailure(failure)]
      return [.count(failure.error)]
    case .suspected: return [.hold(true)]
    case .cleared: return [.hold(false)]
    case .gaveUp(let failure, _): return [.giveUp(CommandFailure(failure))]
    case .classified where place == .hop && !wasUp && !retriesFirstDial:
      // To the host it is the first dial, which fails with its way.
      return failures.last.map { [.giveUp($0)] } ?? []
    case .becameHealthy, .classified, .waiting, .suspended, .resumed, .switched, .surfaced,
      .withdrawn, .lingered, .changed, .closed, .missed:
      return []
    }
  }

  /// How the run ends where the link was to be up by now (`--wait=DURATION`); nil where it was.
  package func failure(ofWaiting limit: Duration, isWebSocket: Bool) -> CommandFailure? {
    guard !wasUp else { return nil }
    let seconds = limit.wholeSeconds
    let timeout: AppError =
      isWebSocket ? .timeout(seconds: seconds) : .sshTimeout(seconds: seconds)
    return failures.last ?? CommandFailure(error: timeout)
  }
}
