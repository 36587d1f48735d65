import BridgeSessionProtocol

// What a keeper waits for, and until when.
extension Keeper {
  func fill(
    _ list: inout PollList<Token>, _ permission: HostSession.ReadPermission
  ) {
    let isOpen = callers.count { !$0.isKnown } < Self.callerLimit
    list.add(.listener, listener.number, reads: isOpen)
    list.add(.children, children.number, reads: true)
    for caller in callers {
      let number = caller.descriptor.number
      list.add(.caller(number), number, reads: true)
    }
    addOutputs(to: &list, permission)
    if program.hasPendingInput, let input = program.input {
      list.add(.programInput, input.descriptor.number, writes: true)
    }
    server.add(to: &list) { .attachment($0) }
  }

  private func addOutputs(
    to list: inout PollList<Token>, _ permission: HostSession.ReadPermission
  ) {
    let reads = mayRead(permission)
    // What a program has left that is gone, with all that held its output, is no more than its
    // pipes hold: it is read beyond the cap, or a session without a reader would never end.
    guard reads || (permission == .blocked && program.isReaped && server.journal.failure == nil)
    else { return }
    for output in program.outputs {
      list.add(.output(output.stream), output.channel.descriptor.number, reads: reads)
    }
  }

  func mayRead(at now: Milliseconds) -> Bool {
    mayRead(server.readPermission(at: now))
  }

  private func mayRead(_ permission: HostSession.ReadPermission) -> Bool {
    let journal = server.journal
    if journal.isFull, server.machine.configuration.whenFull == .wait {
      dropCommitted()
      // Where the session was removed the disk will never take more, and its program need not wait.
      guard !journal.isFull || files.directory.isRemoved else { return false }
    }
    return permission == .read
  }

  /// Whether the program can go on only once what is kept was read and committed.
  var waitsForReader: Bool {
    guard leaderEnd == nil, server.machine.configuration.whenFull == .wait else { return false }
    let isBlocked = server.machine.readPermission(at: Machine.milliseconds) == .blocked
    return isBlocked || server.journal.isFull
  }

  func timeout(
    _ permission: HostSession.ReadPermission, at now: Milliseconds
  ) -> UInt64? {
    var first = server.deadline(at: now)
    first.limit(to: killSteps.first?.at)
    first.limit(to: redraw?.at)
    first.limit(to: hangupAt)
    first.limit(to: askAt)
    first.limit(to: tidyAt)
    first.limit(to: settleAt)
    first.limit(to: screenAt)
    first.limit(to: touchAt)
    if case .hold(let until) = permission { first.limit(to: until) }
    if let leaderEnd, state.phase != .ended, program.isTerminal {
      // Past that it is the reader who is waited for.
      let end = leaderEnd.at + Self.terminalTail
      if end > now { first.limit(to: end) }
    }
    if let oldest = callers.first(where: { !$0.isKnown }) {
      first.limit(to: oldest.since + Self.callerTimeout)
    }
    if owesDisk { first.limit(to: retryAt) }
    return first.map { $0 > now ? $0 - now : 0 }
  }

  func serve(_ list: PollList<Token>, at now: Milliseconds) {
    for index in 0..<list.count {
      let (token, readiness) = list[index]
      guard readiness.isAny else { continue }
      tidyAt = now + Self.tidyDelay
      switch token {
      case .listener: accept(at: now)
      case .children: reap(at: now)
      case .caller(let number): receive(from: number, at: now)
      case .output(let stream): read(stream, at: now)
      case .programInput: writeInput(at: now)
      case .attachment(let token): server.serve(token, readiness, at: now)
      }
    }
  }
}

extension Milliseconds? {
  /// The earlier of two times; nil is never.
  mutating func limit(to other: Milliseconds?) {
    guard let other else { return }
    self = Swift.min(self ?? other, other)
  }
}
