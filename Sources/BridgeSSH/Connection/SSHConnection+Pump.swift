import BridgeErrors
import BridgeReactor
import BridgeTransport

/// One turn: every operation and every channel that can go on goes on, then what was written is
/// flushed.
extension SSHConnection {
  /// Called when the socket is ready, when there is new work, and when a reader made space.
  func pump(isReadable: Bool = false) {
    guard let wire = session?.wire, ending == nil else { return }
    let mayRead = isReadable || wire.isBudgetSpent
    wire.beginTurn(mayRead: mayRead)
    if mayRead { owner.resumeHelp() }
    let turn = TurnSchedule<LoopTimer>.Turn(isReadable: isReadable, wasAsked: isReading)
    let asked = operations.first(of: .session)?.id
    // Any call may read the wire dry and queue packets for other operations, so all try again until
    // libssh2 was given nothing new.
    var seen: Int
    repeat {
      seen = wire.generation
      stepOperations()
      stepChannels()
      stepListeners()
    } while session != nil && wire.generation != seen
    endIfBroken()
    boundMemory()
    for channel in channels.values {
      channel.deliver(isMoreComing: wire.isBudgetSpent)
      channel.onTurn?()
    }
    if isReadable { answerHearers() }
    guard session != nil else { return }
    if isReadable { promptReply(to: asked) }
    guard !endsUnderQuestion() else { return }
    wire.endTurn()
    if turn.wasAsked { turns.readUnrequested()?.cancel() }
    // The last that was waited for may have come together with more.
    if turn.leavesUnread(hasInbound: wire.hasInbound, isReading: isReading), leaveUnread() {
      return
    }
    let hadSpace = wire.hasSpace
    let isFlushed = wire.flush()
    var interest: DescriptorWatcher.Readiness = isFlushed ? [] : .writable
    if wire.isReading { interest.insert(.readable) }
    watch(for: interest)
    // Writers that found no space get no event from the socket when there is some again.
    // Packets behind the end of a channel wait until its window is open.
    let isKeptBack = session?.hasNewEnd == true
    if wire.isBudgetSpent || isKeptBack || (!hadSpace && wire.hasSpace) { queueTurn() }
  }

  /// Sends a packet when bytes came and none of them was the answer to an open or a probe.
  ///
  /// OpenSSH tells its host keys and more when the user is in. Its answer comes behind that as one
  /// more small segment, which the server's kernel keeps back until the one before is acknowledged
  /// (Nagle, RFC 896). Where a proxy or balancer stands in between, that is its kernel's to do, and
  /// it takes 40 ms unless there is something to send. A probe is prompted until the first channel
  /// is open; after that `Wire.acknowledgesAtOnce` does until the command has started.
  ///
  /// - Parameter asked: the operation that was under way when the turn began.
  private func promptReply(to asked: Int?) {
    let isNew = !hasHadChannel && !asksForPorts
    guard let operation = operations.first(of: .session), operation.id == asked,
      turns.promptsReply(in: operation.phase, isNew: isNew)
    else { return }
    session?.sendKeepalive()
  }

  /// Pumps in the next turn of the loop, after others had theirs.
  func queueTurn() {
    guard turns.queue() else { return }
    reactor.execute { [weak self] in
      self?.assumeIsolated {
        $0.turns.beginQueued()
        $0.pump()
      }
    }
  }

  private func stepOperations() {
    for group in operations.busyGroups {
      while session != nil, let operation = operations.first(of: group),
        isDone(operation, in: group)
      {
        operations.removeFirst(of: group)
      }
    }
  }

  private func isDone(_ operation: OperationQueue.Operation, in group: OperationQueue.Group) -> Bool
  {
    startDeadline(of: operation, in: group)
    switch operation.step {
    case .onLoop(let step):
      return step(self)
    case .helped(let work, _):
      runOnHelper(work, in: group)
      return false
    }
  }

  /// Runs `work` on a helper thread, which owns the session meanwhile, when its turn has come.
  private func runOnHelper(_ work: @escaping @Sendable () -> Void, in group: OperationQueue.Group) {
    guard let session = owner.handToHelper(\.evidence) else { return }
    session.wire.carrier.watch(for: [])
    session.wire.beginTurn(mayRead: true)
    reactor.help(work) { [self] in
      assumeIsolated { $0.resumeFromHelper(group) }
    }
  }

  private func resumeFromHelper(_ group: OperationQueue.Group) {
    owner.takeBack()
    // Closed meanwhile: the session could not be freed under the helper's feet.
    if ending != nil { return release() }
    if case .helped(_, let complete) = operations.first(of: group)?.step, complete(self) {
      operations.removeFirst(of: group)
    } else if session?.wire.isBudgetSpent != true {
      owner.awaitBytes()
    }
    pump()
  }

  /// The session, unless a helper thread has it.
  var session: SSHSession? { owner.session }

  /// Whether some call in this turn reads the wire.
  private var isReading: Bool {
    !operations.isEmpty || !channels.isEmpty || !closing.isEmpty || !listeners.isEmpty
  }

  /// Ends a connection that was lost while a person is asked: no call reads it then, and what is
  /// answered would go nowhere. A server ends a login that takes long (LoginGraceTime of sshd).
  private func endsUnderQuestion() -> Bool {
    guard let phase = questionTime.phase, !isReading, session?.wire.carrier.isAtEnd() == true
    else { return false }
    end(now: failure(code: .socketReceive, phase: phase))
    return true
  }

  /// Defers reading while no caller waits, yet the server sends: a key exchange, a keepalive, or
  /// the end.
  ///
  /// The end is detected at once. The rest is read by the next operation on its
  /// way; without one, a round trip is queued: its answer is awaited, and all before it read.
  /// - Returns: whether the watching pauses until then.
  private func leaveUnread() -> Bool {
    guard life.state == .connected, let session else { return false }
    if session.wire.carrier.isAtEnd() {
      queueRoundTrip(callers.nextID()) {}
      return false
    }
    watch(for: session.wire.flush() ? [] : .writable)
    let timer = LoopTimer(after: Self.unreadDelay, on: reactor) { [weak self] in
      self?.assumeIsolated {
        $0.turns.readUnrequested()?.cancel()
        $0.queueRoundTrip($0.callers.nextID()) {}
        $0.pump(isReadable: true)
      }
    }
    turns.deferReading(until: timer)?.cancel()
    return true
  }

  /// How long unrequested bytes may wait for an operation that reads them.
  private static let unreadDelay = Duration.milliseconds(5)

  func watch(for interest: DescriptorWatcher.Readiness) {
    session?.wire.carrier.watch(for: interest)
  }
}
