extension ClientSession {
  /// Takes a frame of the host in.
  ///
  /// - Throws: a violation: close the channel, `disconnect`, and attach again.
  public mutating func receive(
    _ frame: Frame, at now: Milliseconds
  ) throws(ProtocolError) -> [Event] {
    switch phase {
    case .greeting: return try receiveGreeting(frame, at: now)
    case .attached: return try receiveAttached(frame, at: now)
    case .detached, .refused, .left: return []
    }
  }

  private mutating func receiveGreeting(
    _ frame: Frame, at now: Milliseconds
  ) throws(ProtocolError) -> [Event] {
    switch frame {
    case .welcome(let welcome): return try attach(welcome, at: now)
    case .refused(let refusal): return refuse(refusal)
    case .ping(let value): return queuePong(value)
    case .status, .notice: return []
    case .hello, .output, .gap, .input, .acknowledge, .control, .ended, .pong, .start, .screen,
      .size:
      throw .unexpectedFrame(type: frame.type.rawValue)
    }
  }

  private mutating func receiveAttached(
    _ frame: Frame, at now: Milliseconds
  ) throws(ProtocolError) -> [Event] {
    switch frame {
    case .output(let offset, let stream, let bytes):
      return try receiveOutput(bytes, stream, at: offset)
    case .gap(let from, let to): return try receiveGap(from, to)
    case .screen(let to, let bytes): return try receiveScreen(bytes, to: to)
    case .size(let size): return try receiveSize(size)
    case .acknowledge(let through, let settled):
      return try receiveAcknowledgement(through, settled)
    case .ended(let offset, let end): return try receiveEnd(end, at: offset)
    case .refused(let refusal): return refuse(refusal)
    case .ping(let value): return queuePong(value)
    case .pong(let value): return [.pong(value)]
    case .notice(let notice): return receiveNotice(notice)
    case .hello, .welcome, .input, .control, .start, .status:
      throw .unexpectedFrame(type: frame.type.rawValue)
    }
  }

  private mutating func queuePong(_ value: UInt64) -> [Event] {
    if pongs.count < Self.pongLimit { pongs.append(value) }
    return []
  }

  private static let pongLimit = 16

  private mutating func refuse(_ refusal: Refusal) -> [Event] {
    phase = .refused(refusal)
    return [.refused(refusal)]
  }

  private mutating func attach(
    _ welcome: Welcome, at now: Milliseconds
  ) throws(ProtocolError) -> [Event] {
    try verify(welcome)
    if epoch == nil {
      epoch = welcome.epoch
      received = welcome.resume
      consumed = received
      committed = received
      (sentAcknowledgement, sentCommit) = (consumed, committed)
    }
    let losses = resumeInput(welcome)
    self.welcome = welcome
    phase = .attached
    takes = false
    if welcome.role == .viewer { wanted = .viewer }
    // The reader may have gone on since hello was sent.
    let isKnown = consumed == sentAcknowledgement && committed == sentCommit
    acknowledgementSince = isKnown ? nil : now
    acknowledgesNow = false
    return [.attached(welcome)] + losses
  }

  private func verify(_ welcome: Welcome) throws(ProtocolError) {
    guard welcome.session == configuration.session else { throw .wrongSession }
    guard Limits.versions.contains(welcome.version) else { throw .wrongVersion(welcome.version) }
    if let epoch {
      guard welcome.epoch == epoch else { throw .wrongEpoch }
      guard welcome.newest >= received else {
        throw .offsetsWentBack(received: received, newest: welcome.newest)
      }
      guard welcome.resume == received else {
        throw .hole(expected: received, found: welcome.resume)
      }
    }
    // What the host claims to have of this client's input must be what this client sent.
    // Of a program that has ended nothing more depends on it, and a keeper that died took the
    // newest numbers with it.
    guard self.welcome != nil, welcome.lease == lease, !welcome.hasEnded else { return }
    guard welcome.inputAccepted <= input.end, welcome.inputTaken >= inputTaken else {
      throw .wrongAcknowledgement(through: welcome.inputAccepted, sent: input.end)
    }
    guard welcome.lastControl <= lastControl, welcome.lastControl >= controlsDone else {
      throw .wrongAcknowledgement(through: welcome.lastControl, sent: lastControl)
    }
  }

  /// Continues input under the same lease, or begins anew under another.
  private mutating func resumeInput(_ welcome: Welcome) -> [Event] {
    let isContinued = welcome.lease == lease
    let isFirst = self.welcome == nil
    var events: [Event] = []
    if isContinued && !isFirst {
      events = progress(taken: welcome.inputTaken, done: welcome.lastControl)
      input.drop(below: welcome.inputAccepted)
    } else {
      if lease != nil, !isContinued, let loss = replacementLoss(welcome, isFirst: isFirst) {
        events = [.inputDropped(loss)]
      }
      input.restart(at: welcome.inputAccepted)
      leaseStart = welcome.inputAccepted
      inputTaken = welcome.inputTaken
      controls = []
      lastControl = welcome.lastControl
      controlsDone = welcome.lastControl
      inputHasEnded = false
    }
    // Under a lease of its own every number is this client's; a viewer has none.
    if welcome.role == .writer { lease = welcome.lease }
    if welcome.hasEnded {
      // The program takes none of them, and a keeper that died took the newest numbers with it.
      controls = []
      (lastControl, controlsDone) = (welcome.lastControl, welcome.lastControl)
    }
    inputCursor = input.start
    controlCursor = controlsDone
    if welcome.inputEnd != nil { inputHasEnded = true }
    if welcome.inputIsClosed || welcome.hasEnded { events += closeInput() }
    return events
  }

  /// What another writer's lease cost this client; nil where all that it wrote was accepted.
  private func replacementLoss(_ welcome: Welcome, isFirst: Bool) -> InputLoss? {
    let written = isFirst ? recordedInput : input.end
    let wrote = isFirst ? recordedInput > 0 : input.end > leaseStart
    let isAccepted = !wrote || welcome.ownAccepted ?? inputTaken >= written
    guard !isAccepted || !controls.isEmpty else { return nil }
    return InputLoss(
      reason: .replaced, accepted: welcome.ownAccepted.map { min($0, written) },
      written: written, controls: controls.map(\.control))
  }

  /// Gives up input that the program will never read. Controls stay: their numbers have no hole.
  private mutating func closeInput() -> [Event] {
    inputHasEnded = true
    guard input.end > inputTaken, input.end > leaseStart else { return [] }
    let loss = InputLoss(
      reason: .closed, accepted: inputTaken, written: input.end, controls: [])
    input.restart(at: input.end)
    leaseStart = input.end
    inputCursor = input.end
    return [.inputDropped(loss)]
  }

  private mutating func progress(taken: UInt64, done: UInt64) -> [Event] {
    var events: [Event] = []
    if taken > inputTaken {
      inputTaken = taken
      input.drop(below: taken)
      events.append(.inputTaken(through: taken))
    }
    if done > controlsDone {
      controlsDone = done
      controls.removeAll { $0.number <= done }
      events.append(.controlsDone(through: done))
    }
    return events
  }

  private mutating func receiveOutput(
    _ bytes: [UInt8], _ stream: ProgramStream, at offset: UInt64
  ) throws(ProtocolError) -> [Event] {
    let isTerminal = stream == .terminal
    guard isTerminal == (welcome?.kind == .terminal) else {
      throw .wrongStream(type: FrameType.output.rawValue, stream: stream.rawValue)
    }
    let end = offset + UInt64(bytes.count)
    guard offset <= received else { throw .hole(expected: received, found: offset) }
    guard end > received else { return [] }
    let sent = end - consumed - omitted.count(from: consumed)
    guard sent <= outputWindow else { throw .windowExceeded(limit: outputWindow) }
    let known = Int(received - offset)
    let start = received
    received = end
    let fresh = known == 0 ? bytes : Array(bytes[known...])
    return [.output(offset: start, stream: stream, bytes: fresh)]
  }

  /// A host of an older version does not know the window that hello names.
  var outputWindow: UInt64 { max(configuration.outputWindow, Limits.window) }

  private mutating func receiveGap(
    _ from: UInt64, _ to: UInt64
  ) throws(ProtocolError) -> [Event] {
    guard from <= received else { throw .hole(expected: received, found: from) }
    guard to > received else { return [] }
    let start = received
    received = to
    return [.gap(from: start, to: to)]
  }

  private mutating func receiveScreen(
    _ bytes: [UInt8], to end: UInt64
  ) throws(ProtocolError) -> [Event] {
    guard configuration.catchesUp, welcome?.kind == .terminal else {
      throw .unexpectedFrame(type: FrameType.screen.rawValue)
    }
    guard end > received else { return [] }
    // A host that keeps to the rules draws no more before the reader has taken some.
    guard !omitted.isFull else { throw .windowExceeded(limit: outputWindow) }
    let start = received
    omitted.append(start..<end)
    received = end
    return [.screen(from: start, to: end, bytes: bytes)]
  }

  private func receiveSize(_ size: WindowSize) throws(ProtocolError) -> [Event] {
    guard configuration.followsSize, welcome?.kind == .terminal else {
      throw .unexpectedFrame(type: FrameType.size.rawValue)
    }
    return [.size(size, at: received)]
  }

  private mutating func receiveAcknowledgement(
    _ through: UInt64, _ settled: UInt64
  ) throws(ProtocolError) -> [Event] {
    guard through >= inputTaken, through <= max(inputCursor, inputTaken) else {
      throw .wrongAcknowledgement(through: through, sent: inputCursor)
    }
    guard settled >= controlsDone, settled <= max(controlCursor, controlsDone) else {
      throw .wrongAcknowledgement(through: settled, sent: controlCursor)
    }
    return progress(taken: through, done: settled)
  }

  private mutating func receiveEnd(
    _ end: ProgramEnd, at offset: UInt64
  ) throws(ProtocolError) -> [Event] {
    guard offset == received else { throw .hole(expected: received, found: offset) }
    acknowledgesNow = true
    endWasReceived = true
    if closesAfterEnd { requestClose() }
    guard ending == nil else { return [] }
    ending = end
    return [.ended(end, at: offset)] + closeInput()
  }

  private mutating func receiveNotice(_ notice: Notice) -> [Event] {
    [.notice(notice)] + (notice.code == .inputClosed ? closeInput() : [])
  }
}
