import BridgeErrors
import BridgeReactor
import BridgeTransport

// Whether the hosts of the sessions are alive, by the rules for links: an answer is life, and so
// are bytes that the host's kernel takes, since a probe cannot pass what is sent before it.
extension Forwarder {
  /// A generation of the link was lost: the hosts of its sessions are probed. Where one neither
  /// answers nor takes bytes within `deadline`, its session is closed, with what it carries.
  /// Another call does not prolong the time of a host that has not answered.
  public func linkLost(within deadline: Duration = .seconds(2)) {
    for session in allSessions { probe(session, urgent: min(deadline, limits.deadAfter)) }
  }

  /// The host of a session that carries nothing is asked whether it is alive where what is opened
  /// over it has no answer for a while: nothing would be lost with it.
  func probeIfLate(_ connection: SSHConnection) -> LoopTimer {
    LoopTimer(after: Self.lateOpen, on: reactor) { [weak self] in
      self?.assumeIsolated { $0.probe(late: connection) }
    }
  }

  private func probe(late connection: SSHConnection) {
    guard let session = session(of: connection), session.carried == 0 else { return }
    probe(session, urgent: min(limits.deadAfter, limits.wait))
  }

  private static let lateOpen = Duration.seconds(1)

  private func probe(_ session: ForwardSession, urgent: Duration) {
    guard !session.isOver else { return }
    // A host that is suspected already has this time, too.
    if session.liveness?.policy.deadAfter != urgent { session.stopWatching() }
    begin(session, deadAfter: urgent)
    step(session, .disturbed)
    schedule(session)
  }

  private var allSessions: [ForwardSession] { sessions + [remote.session].compactMap(\.self) }

  /// Evaluates the host of `session` from now on, as long as it carries something or listens.
  func watch(_ session: ForwardSession) {
    guard session.liveness == nil, !session.isOver else { return }
    begin(session, deadAfter: limits.deadAfter)
    schedule(session)
  }

  private func begin(_ session: ForwardSession, deadAfter: Duration) {
    guard session.liveness == nil else { return }
    let (heard, traffic) = session.connection.assumeIsolated { ($0.lastHeard, $0.traffic) }
    let policy = LivenessPolicy(
      keepalive: limits.keepalive, switching: .costly, deadAfter: deadAfter)
    session.liveness = Liveness(policy: policy, at: heard ?? .now)
    step(session, .observed(traffic))
  }

  private func isWatched(_ session: ForwardSession) -> Bool {
    guard !isClosed, !session.isOver, let liveness = session.liveness else { return false }
    let isUsed = !session.isUnused || session === remote.session
    return isUsed && limits.keepalive > .zero || !liveness.isQuiet
  }

  private func schedule(_ session: ForwardSession) {
    session.watch?.cancel()
    // The loss of a link makes it urgent once.
    if session.liveness?.isQuiet == true { session.liveness?.policy.deadAfter = limits.deadAfter }
    guard isWatched(session), let liveness = session.liveness, var next = liveness.deadline else {
      return session.stopWatching()
    }
    let now = ContinuousClock.now
    if liveness.isSuspecting { next = min(next, now + LivenessPolicy.lookInterval) }
    let connection = session.connection
    session.watch = LoopTimer(after: next - now, on: reactor) { [weak self] in
      self?.assumeIsolated { $0.look(at: connection) }
    }
  }

  private func session(of connection: SSHConnection) -> ForwardSession? {
    allSessions.first { $0.connection === connection }
  }

  private func look(at connection: SSHConnection) {
    guard let session = session(of: connection) else { return forgetEnded() }
    guard isWatched(session) else {
      session.stopWatching()
      return forgetEnded()
    }
    let (heard, traffic) = connection.assumeIsolated { ($0.lastHeard, $0.traffic) }
    if let heard { step(session, .heard(heard)) }
    step(session, .observed(traffic))
    step(session, .tick)
    schedule(session)
  }

  private func step(_ session: ForwardSession, _ event: Liveness.Event) {
    for action in session.liveness?.step(event, at: .now) ?? [] {
      switch action {
      case .sendProbe(let limit): probe(session, within: limit)
      case .suspect, .clear: break
      case .dead: close(session.connection)
      }
    }
  }

  private func probe(_ session: ForwardSession, within limit: Duration) {
    let connection = session.connection
    session.probe?.cancel()
    session.probe = Task(executorPreference: reactor) {
      do throws(AppError) {
        let roundTrip = try await connection.probe(within: limit)
        await self.answered(connection, roundTrip)
      } catch {
        // Its evaluation counts a missing answer.
        await self.forgetEnded()
      }
    }
  }

  private func answered(_ connection: SSHConnection, _ roundTrip: Duration) {
    guard let session = session(of: connection) else { return }
    step(session, .answered(roundTrip: roundTrip))
    schedule(session)
  }

  private func close(_ connection: SSHConnection) {
    _ = Task(executorPreference: reactor) {
      await connection.close()
      await self.forgetEnded()
    }
  }
}
