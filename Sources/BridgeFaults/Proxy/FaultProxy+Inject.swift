import NIOCore

/// Taking the steps of faults.
extension FaultProxy {
  /// Lets a fault happen: its steps up to the first `wait` before this returns.
  ///
  /// - Throws: `stopped`; `cannotListen` when a step is to listen again and cannot.
  public func inject(_ fault: some Fault, on scope: FaultScope? = nil) async throws(FaultError) {
    guard !isStopped else { throw .stopped }
    let taken = begin(fault, on: scope)
    do { try await taken.get() } catch { throw .cannotListen(detail: "\(error)") }
  }

  /// Lets the faults of a timeline happen at their times, counted from now, and returns at once.
  /// Several timelines may be on their way; `heal` and `stop` end them all.
  public func play(_ timeline: Timeline) {
    let start = NIODeadline.now()
    for moment in timeline.moments {
      take(at: start + TimeAmount(moment.at), of: epoch) {
        $0.begin(moment.fault, on: moment.scope)
      }
    }
  }

  /// Ends all standing faults, as `lift` does, and cancels every step still to come.
  ///
  /// - Throws: `stopped`, `cannotListen`.
  public func heal() async throws(FaultError) {
    epoch += 1
    try await inject(.lift)
    report(.healed)
  }

  private func begin(_ fault: any Fault, on scope: FaultScope?) -> EventLoopFuture<Void> {
    report(.injected("\(fault)"))
    return take(fault.steps[...], on: scope ?? fault.scope, of: epoch)
  }

  /// Takes steps in order, unless healed since they were planned; done when the first `wait` or
  /// the end is reached.
  private func take(
    _ steps: ArraySlice<FaultStep>, on scope: FaultScope, of planned: Int
  ) -> EventLoopFuture<Void> {
    guard epoch == planned else { return loop.makeSucceededVoidFuture() }
    for (index, step) in zip(steps.indices, steps) {
      let rest = steps[(index + 1)...]
      switch step {
      case .wait(let time):
        take(at: .now() + TimeAmount(time), of: planned) { $0.take(rest, on: scope, of: planned) }
        return loop.makeSucceededVoidFuture()
      case .listen:
        let proxy = self
        return openListener().flatMap {
          proxy.assumeIsolated { $0.take(rest, on: scope, of: planned) }
        }
      case .refuse: stopListening()
      case .admit(let admission):
        self.admission = admission
        if admission == .forward { releaseHeld() }
        for id in relays.keys.sorted() { forgetIgnored(id) }
      case .clear, .shape, .freeze, .thaw, .reset, .finish: take(step, on: scope)
      }
    }
    return loop.makeSucceededVoidFuture()
  }

  /// Takes one step on one connection.
  func take(_ step: FaultStep, on id: Int) {
    switch step {
    case .clear:
      for direction in Direction.allCases { relays[id]?[direction].removeShapers() }
    case .shape(let directions, let shaper):
      for direction in directions { relays[id]?[direction].add(shaper) }
    case .freeze(let directions): freeze(id, directions)
    case .thaw: thaw(id)
    case .reset: reset(id)
    case .finish(let directions):
      for direction in Direction.allCases where directions.contains(direction) {
        sourceFinished(of: id, direction)
      }
    case .admit, .refuse, .listen, .wait: break
    }
  }

  func reset(_ id: Int) {
    guard relays[id] != nil else { return }
    report(.reset, id)
    conclude(id, abruptly: true)
  }

  private func take(_ step: FaultStep, on scope: FaultScope) {
    switch scope {
    case .live: takeOnLive(step)
    case .all:
      takeOnLive(step)
      remember(step)
    case .next: once.append(step)
    case .connection(let id): take(step, on: id)
    }
  }

  /// Keeps for later connections what they are to meet.
  private func remember(_ step: FaultStep) {
    switch step {
    case .clear:
      standing = []
      once = []
    case .thaw: standing.removeAll { $0.isFreeze }
    case .shape, .freeze, .reset, .finish: standing.append(step)
    case .admit, .refuse, .listen, .wait: break
    }
  }

  private func takeOnLive(_ step: FaultStep) {
    for id in relays.keys.sorted() { take(step, on: id) }
  }

  private func take(
    at time: NIODeadline, of planned: Int,
    _ steps: @escaping @Sendable (isolated FaultProxy) -> EventLoopFuture<Void>
  ) {
    loop.scheduleTask(deadline: time) {
      self.assumeIsolated { proxy in
        guard proxy.epoch == planned else { return }
        steps(proxy).whenFailure { error in
          proxy.assumeIsolated { $0.report(.listenFailed("\(error)")) }
        }
      }
    }
  }

  private func freeze(_ id: Int, _ directions: Set<Direction>) {
    for direction in Direction.allCases where directions.contains(direction) {
      guard relays[id]?[direction].isFrozen == false else { continue }
      relays[id]?[direction].freeze()
      report(.froze(direction), id)
    }
  }

  private func thaw(_ id: Int) {
    for direction in Direction.allCases where relays[id]?[direction].isFrozen == true {
      relays[id]?[direction].thaw()
      report(.thawed(direction), id)
    }
    if let lost = relays[id]?.lost { return sourceLost(of: id, lost) }
    for direction in Direction.allCases {
      pump(id, direction)
      readMore(of: id, direction)
    }
  }
}

extension FaultStep {
  fileprivate var isFreeze: Bool { if case .freeze = self { true } else { false } }
}
