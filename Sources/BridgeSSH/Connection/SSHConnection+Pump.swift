import BridgeErrors
import BridgeReactor
import BridgeTransport

/// One turn: every operation and every channel that can go on goes on, then what was written is
/// flushed.
extension SSHConnection {
  /// Called when the socket is ready, when there is new work, and when a reader made room.
  func pump(isReadable: Bool = false) {
    guard let wire = session?.wire, !isLent, ending == nil else { return }
    wire.beginTurn()
    if isReadable { mayHelp = true }
    if isReadable && !isReading { readUnasked() }
    // Any call may read the wire dry and queue packets for somebody else, so all try again until
    // libssh2 was given nothing new.
    var seen: Int
    repeat {
      seen = wire.generation
      stepOperations()
      stepChannels()
    } while session != nil && !isLent && wire.generation != seen
    guard session != nil, !isLent else { return }
    wire.endTurn()
    let hadRoom = wire.hasRoom
    let isFlushed = wire.flush()
    watch(for: isFlushed ? .readable : [.readable, .writable])
    // Writers that found no room are not told by the socket that there is some again.
    if wire.isBudgetSpent || (!hadRoom && wire.hasRoom) { queueTurn() }
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
      while !isLent, let operation = operations.first(of: lane), isDone(operation, in: lane) {
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
    isLent = true
    watch(for: [])
    session?.wire.beginTurn()
    reactor.help(work) { [self] in
      assumeIsolated { $0.takeBack(lane) }
    }
  }

  private func takeBack(_ lane: OperationQueue.Lane) {
    isLent = false
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

  /// Nobody waits for anything, yet the server may speak (a key exchange, a keepalive, the end):
  /// the answer of a round trip is awaited, and all that comes before it is taken.
  private func readUnasked() {
    guard life.state == .connected else { return }
    queueRoundTrip(callers.nextID()) {}
  }

  func watch(for interest: DescriptorWatcher.Readiness) {
    session?.watcher?.watch(for: interest)
  }
}
