import BridgeErrors
import BridgeRecovery
import BridgeTransport

extension Supervisor {
  /// Begins to evaluate the peer of the generation in use, with a round trip that proves it.
  func watch(_ id: ConnectionID, _ generation: Int, _ plan: LinkPlan) {
    stopWatching(id)
    guard let policy = plan.options.liveness else { return }
    watches[id] = Watch(
      generation: generation, liveness: Liveness(policy: policy, at: now()))
    startPulse()
    evaluate(id, .disturbed)
  }

  func stopWatching(_ id: ConnectionID) {
    guard let watch = watches.removeValue(forKey: id) else { return }
    watch.probe?.cancel()
    watch.check?.cancel()
    clear(.liveness(id))
    if watches.isEmpty {
      suspensionWatch = nil
      clear(.pulse)
    }
  }

  /// Probes the peer of a connection now.
  func disturb(_ id: ConnectionID) {
    guard watches[id] == nil else { return evaluate(id, .disturbed) }
    // Nothing is to be probed but what has not proved itself yet.
    guard let live = machine.liveGeneration(of: id), !machine.isTrusted(id) else { return }
    prove(id, live)
  }

  /// Evaluates the peer of a link: reads when the connection last received something and the state
  /// of its traffic, then steps the machine.
  func check(_ id: ConnectionID) {
    guard let watch = watches[id],
      let connection = generations[id]?[watch.generation]?.connection
    else { return }
    watches[id]?.check = Task(executorPreference: executor) {
      let heard = await connection.lastHeard
      let traffic = await connection.traffic
      await self.looked(at: id, watch.generation, heard, traffic)
    }
  }

  private func looked(
    at id: ConnectionID, _ generation: Int, _ heard: Moment?, _ traffic: TrafficState
  ) {
    guard watches[id]?.generation == generation else { return }
    if let heard {
      evaluate(id, .heard(heard))
      receive(.heard(id, generation: generation, at: heard))
    }
    evaluate(id, .observed(traffic))
    evaluate(id, .tick)
    scheduleTimers()
  }

  private func evaluate(_ id: ConnectionID, _ event: Liveness.Event) {
    let instant = now()
    guard let actions = watches[id]?.liveness.step(event, at: instant),
      let generation = watches[id]?.generation
    else { return }
    if let liveness = watches[id]?.liveness, let deadline = liveness.deadline {
      var next = deadline
      // A peer that is suspected is looked at more often: it may answer at any time.
      if liveness.isSuspecting { next = min(deadline, instant + LivenessPolicy.lookInterval) }
      if liveness.isQuiet, watches.count >= LivenessPolicy.fleetSize {
        next = liveness.policy.shared(deadline, since: epoch)
      }
      set(.liveness(id), at: max(next, instant))
    } else {
      clear(.liveness(id))
    }
    for action in actions { perform(action, id, generation) }
  }

  private func perform(_ action: Liveness.Action, _ id: ConnectionID, _ generation: Int) {
    switch action {
    case .sendProbe(let limit): probe(id, generation, within: limit)
    case .suspect(let silent):
      receive(
        .suspected(
          id, generation: generation, silentFor: silent, wantsStandby: wantsStandby(id)))
    case .clear: receive(.cleared(id, generation: generation))
    case .dead(let silent):
      guard let connection = generations[id]?[generation]?.connection else { return }
      let seconds = Duration.seconds(max(1, silent.components.seconds))
      let failure = connection.timeout(in: .stream, after: seconds)
      fail(id, generation, failure)
    }
  }

  private func wantsStandby(_ id: ConnectionID) -> Bool {
    switch plans[id]?.options.standby {
    case .always: true
    case .ifFree: watches[id]?.liveness.policy.switching == .free
    case .never, nil: false
    }
  }

  private func probe(_ id: ConnectionID, _ generation: Int, within limit: Duration) {
    guard let connection = generations[id]?[generation]?.connection else { return }
    watches[id]?.probe?.cancel()
    watches[id]?.probe = Task(executorPreference: executor) {
      do throws(AppError) {
        let roundTrip = try await connection.probe(within: limit)
        await self.answered(id, generation, roundTrip)
      } catch {
        // The machine counts a missing answer; a link that failed reports it by an event.
      }
    }
  }

  private func answered(_ id: ConnectionID, _ generation: Int, _ roundTrip: Duration) {
    guard watches[id]?.generation == generation else { return }
    watches[id]?.roundTrip = roundTrip
    evaluate(id, .answered(roundTrip: roundTrip))
    receive(.proved(id, generation: generation))
  }

  private func startPulse() {
    guard let suspension, suspensionWatch == nil else { return }
    suspensionWatch = SuspensionWatch(suspended: suspension())
    set(.pulse, at: now() + SuspensionWatch.interval)
  }

  /// Keeps looking whether the machine was suspended, also while no other timer is due.
  func pulse() {
    guard suspensionWatch != nil else { return }
    set(.pulse, at: now() + SuspensionWatch.interval)
  }

  /// Called before any deadline is evaluated: time in which the machine slept is not silence.
  func noticeSuspension() {
    guard let suspension, let slept = suspensionWatch?.check(suspended: suspension()) else {
      return
    }
    for id in watches.keys.sorted(by: { $0.description < $1.description }) {
      evaluate(id, .slept(slept))
    }
    wake()
  }
}
