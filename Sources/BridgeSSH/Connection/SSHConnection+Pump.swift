import BridgeErrors
import BridgeReactor
import BridgeTransport

/// One turn: every operation and every channel that can go on goes on, then what was written is
/// flushed.
extension SSHConnection {
  /// Called when the socket is ready, when there is new work, and when a reader made room.
  func pump(isReadable: Bool = false) {
    guard let wire = session?.wire, ending == nil else { return }
    let mayRead = isReadable || wire.isBudgetSpent
    wire.beginTurn(mayRead: mayRead)
    if mayRead { mayHelp = true }
    let isAsked = isReading
    // Any call may read the wire dry and queue packets for somebody else, so all try again until
    // libssh2 was given nothing new.
    var seen: Int
    repeat {
      seen = wire.generation
      stepOperations()
      stepChannels()
    } while session != nil && wire.generation != seen
    endIfBroken()
    boundMemory()
    for channel in channels.values { channel.deliver(isMoreComing: wire.isBudgetSpent) }
    guard session != nil else { return }
    if isReadable { nudge() }
    wire.endTurn()
    if isAsked {
      unasked?.cancel()
      unasked = nil
    }
    // The last that was waited for may have come together with more.
    let isLeft = wire.hasInbound && !isReading
    if isLeft || (isReadable && !isAsked), leaveUnread() { return }
    let hadRoom = wire.hasRoom
    let isFlushed = wire.flush()
    var interest: DescriptorWatcher.Readiness = isFlushed ? [] : .writable
    if wire.isReading { interest.insert(.readable) }
    watch(for: interest)
    // Writers that found no room are not told by the socket that there is some again.
    if wire.isBudgetSpent || (!hadRoom && wire.hasRoom) { queueTurn() }
  }

  /// Sends something when bytes came and none of them opened the channel that is asked for.
  ///
  /// OpenSSH tells its host keys and more when the user is in. Its answer to the open comes behind
  /// that as one more small segment, which the server's kernel keeps back until the one before is
  /// acknowledged (Nagle, RFC 896). Where a proxy or balancer stands in between, that is its
  /// kernel's to do, and it takes 40 ms unless there is something to send.
  private func nudge() {
    guard nudgesLeft > 0, operations.first(of: .session)?.phase == .openChannel else { return }
    nudgesLeft -= 1
    session?.nudge()
  }

  /// Pumps in the next turn of the loop, after others had theirs.
  func queueTurn() {
    guard !isTurnQueued else { return }
    isTurnQueued = true
    reactor.execute { [weak self] in
      self?.assumeIsolated {
        $0.isTurnQueued = false
        $0.pump()
      }
    }
  }

  private func stepOperations() {
    for lane in operations.busyLanes {
      while session != nil, let operation = operations.first(of: lane), isDone(operation, in: lane)
      {
        operations.removeFirst(of: lane)
      }
    }
  }

  private func isDone(_ operation: OperationQueue.Operation, in lane: OperationQueue.Lane) -> Bool {
    startDeadline(of: operation, in: lane)
    switch operation.step {
    case .onLoop(let step):
      return step(self)
    case .helped(let work, _):
      if mayHelp { lend(work, in: lane) }
      return false
    }
  }

  /// Gives the session to a helper thread for the time of `work`; nothing else touches it
  /// meanwhile.
  private func lend(_ work: @escaping @Sendable () -> Void, in lane: OperationQueue.Lane) {
    guard let session else { return }
    watch(for: [])
    session.wire.beginTurn(mayRead: true)
    lent = LentSession(session: session, evidence: session.evidence)
    self.session = nil
    reactor.help(work) { [self] in
      assumeIsolated { $0.takeBack(lane) }
    }
  }

  private func takeBack(_ lane: OperationQueue.Lane) {
    session = lent?.session
    lent = nil
    // Closed meanwhile: the session could not be freed under the helper's feet.
    if ending != nil { return release() }
    if case .helped(_, let judge) = operations.first(of: lane)?.step, judge(self) {
      operations.removeFirst(of: lane)
      mayHelp = true
    } else {
      mayHelp = session?.wire.isBudgetSpent == true
    }
    pump()
  }

  /// Whether some call in this turn reads the wire.
  private var isReading: Bool { !operations.isEmpty || !channels.isEmpty || !closing.isEmpty }

  /// Nobody waits for anything, yet the server speaks: a key exchange, a keepalive, or the end.
  ///
  /// The end is seen at once. For the rest somebody who asks something soon will read it on the
  /// way; if nobody does, we ask: the answer of a round trip is awaited, and all before it taken.
  /// - Returns: whether the watching pauses until then.
  private func leaveUnread() -> Bool {
    guard life.state == .connected, let session else { return false }
    if session.wire.socket.isAtEnd() {
      queueRoundTrip(callers.nextID()) {}
      return false
    }
    watch(for: session.wire.flush() ? [] : .writable)
    unasked = LoopTimer(after: Self.patience, on: reactor) { [weak self] in
      self?.assumeIsolated {
        $0.unasked = nil
        $0.queueRoundTrip($0.callers.nextID()) {}
        $0.pump(isReadable: true)
      }
    }
    return true
  }

  /// How long unasked bytes may wait for somebody who asks.
  private static let patience = Duration.milliseconds(5)

  func watch(for interest: DescriptorWatcher.Readiness) {
    session?.watcher?.watch(for: interest)
  }
}
