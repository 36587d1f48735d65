import BridgeSessionProtocol

/// `list`, `read`, `wait`, `kill` and `forget`.
struct Inspection {
  let answer: Answer
  let roots: [StateRoot]

  /// All sessions, from their files alone.
  func list() -> UInt8 {
    for files in SessionFiles.all(in: roots) {
      if let status = files.shownStatus() { answer.send(.status(status)) }
    }
    return HostStatus.success
  }

  /// Output from an offset on: frames for a client, the bytes for a person. With `follows`, until
  /// the program has ended.
  func read(_ session: SessionID, from start: UInt64, follows: Bool) -> UInt8 {
    let held = SessionFiles(session, in: roots)?.hold()
    defer { withExtendedLifetime(held) {} }
    guard let files = SessionFiles(session, in: roots),
      let first = started(files) ?? files.statusWithoutRecord()
    else { return declineUnknown(session) }
    let reading = SessionReading(files)
    defer { withExtendedLifetime(reading) {} }
    answer.sendFrameOnly(.status(first))
    var position = start
    var size = PieceSize()
    var stall = StallReport(isTold: first.waitsForReader)
    let journal = Journal(files.directory)
    while true {
      // The state is read first: what an ended session printed is all there.
      guard let status = files.shownStatus() else {
        return answer.decline(.unknownSession, "The session \(session) was removed meanwhile.")
      }
      journal.scan()
      let isOver = status.state != .running
      // What a keeper printed last may be lost with it.
      let end = isOver ? max(journal.newest, status.newest) : journal.newest
      guard send(journal, from: &position, to: end, &size) else {
        reading.leaving = .lost(nil)
        return HostStatus.storage
      }
      if isOver {
        if let end = status.end { answer.sendFrameOnly(.ended(at: position, end)) }
        if !follows || isTaken { release(held) } else { reading.leaving = .lost(nil) }
        return HostStatus.success
      }
      guard follows else {
        // The disk is full, and what its client has taken may have been dropped.
        let dropped = min(status.committed, files.live.memoryStart ?? status.committed)
        if status.memory != nil, position < dropped {
          answer.sendGap(from: position, to: dropped)
        }
        release(held)
        return HostStatus.success
      }
      stall.tell(status, answer)
      // Its client may have gone while nothing is printed.
      guard !Poller.isAbandoned(1, within: 100) else {
        reading.leaving = .lost(nil)
        return HostStatus.storage
      }
    }
  }

  private func send(
    _ journal: Journal, from position: inout UInt64, to end: UInt64, _ size: inout PieceSize
  ) -> Bool {
    while position < end {
      let limit = min(end, position + UInt64(size.next()))
      let piece =
        position < journal.newest
        ? journal.piece(from: position, to: limit, framed: answer.isFramed) : .missing(to: end)
      switch piece {
      case .bytes(let bytes, let through):
        guard through > position, Machine.write(bytes, to: 1) else { return false }
        position = through
      case .missing(let to):
        answer.sendGap(from: position, to: min(to, end))
        position = min(to, end)
      }
    }
    return true
  }

  /// Waits for the end and answers with it.
  func wait(_ session: SessionID) -> UInt8 {
    // Its client may have all of it, and have it removed, before its end is read here.
    let held = SessionFiles(session, in: roots)?.hold()
    defer { withExtendedLifetime(held) {} }
    var stall = StallReport()
    while true {
      guard let files = SessionFiles(session, in: roots), let status = started(files) else {
        return declineUnknown(session)
      }
      guard status.state == .running else {
        answer.send(.status(status))
        if isTaken { release(held) }
        return exitStatus(of: status)
      }
      let asked = Machine.milliseconds
      let socket = try? files.connect()
      if socket?.send([LocalMessage.version, LocalMessage.wait, 0]) == true {
        socket?.waitsForever()
        guard let socket, isAnswered(socket, of: files, &stall) else { return HostStatus.storage }
        _ = socket.receive()
      }
      // A keeper with too many waiting callers closes at once.
      Poller.pause(Machine.milliseconds < asked + 5 ? Self.retryPause : 5)
    }
  }

  private static let retryPause: Int32 = 100

  /// Whether the client has the end, as far as that can be known: what was written may still be on
  /// its way when the link is lost. A person, and a client of an older version, does not say it.
  private var isTaken: Bool {
    guard answer.isFramed, Machine.isReadable(0), Machine.read(1, from: 0) == [HostAnswer.takes]
    else { return true }
    while let byte = Machine.read(1, from: 0, timeout: Self.answerLimit) {
      // Clients of older versions say more than once that they will say it.
      guard byte == [HostAnswer.takes] else { return byte == [HostAnswer.taken] }
    }
    return false
  }

  /// In milliseconds: longer than a link is silent that comes back.
  private static let answerLimit: UInt64 = 120_000

  /// The session may be removed, as far as this process is concerned.
  private func release(_ held: Descriptor?) {
    _ = held?.send([LocalMessage.version, LocalMessage.release, 0])
  }

  /// Whether the keeper answers before the client of this verb has gone. A program that waits for a
  /// reader would never end, and its client not know why.
  private func isAnswered(
    _ socket: Descriptor, of files: SessionFiles, _ stall: inout StallReport
  ) -> Bool {
    while true {
      if let status = files.status() { stall.tell(status, answer) }
      if let isAnswered = Poller.isReadable(socket.number, whileRead: 1, within: Self.look) {
        return isAnswered
      }
    }
  }

  /// How often a program that is waited for is looked at, in milliseconds.
  private static let look: UInt64 = 1_000

  /// Removes a session that has ended, or all of them; answers with each.
  func forget(_ session: SessionID?) -> UInt8 {
    guard let session else {
      for files in SessionFiles.all(in: roots) { _ = remove(files, isNamed: false) }
      return HostStatus.success
    }
    guard let files = SessionFiles(session, in: roots), files.shownStatus() != nil else {
      return declineUnknown(session)
    }
    // A keeper ends some moments after its program.
    for _ in 0..<50 where files.status()?.state == .ended && files.life == .alive {
      Poller.pause(20)
    }
    _ = remove(files, isNamed: true)
    return HostStatus.success
  }

  /// Removes a session that no keeper has any more, and whose program does not run without one:
  /// once no process reads it. One whose end a full disk did not take is removed where it was
  /// named: nothing else has its output.
  private func remove(_ files: SessionFiles, isNamed: Bool) -> Bool {
    guard let status = files.shownStatus(), status.end != .orphaned else { return false }
    if isNamed, status.memory == .end, status.attached == 0 {
      // The keeper ends where what it kept has no place any more.
      files.remove()
      answer.send(.status(status))
      return true
    }
    guard files.life == .dead else { return false }
    switch status.state {
    case .claimed, .running: return false
    case .ended, .keeperDied, .rebooted: break
    }
    let reading = SessionReading(files)
    reading.leaving = .removes(nil)
    withExtendedLifetime(reading) {}
    answer.send(.status(status))
    return true
  }

  func declineUnknown(_ session: SessionID) -> UInt8 {
    guard let files = SessionFiles(session, in: roots) else {
      return answer.declineMissing(session, in: roots)
    }
    return answer.declineWithoutStatus(files, "No session \(session) here.")
  }

  /// The status of a session; nil for what a start has left that failed.
  private func started(_ files: SessionFiles) -> SessionStatus? {
    guard let status = files.status() else { return nil }
    return status.state != .claimed || files.life != .dead ? status : nil
  }

  private func exitStatus(of status: SessionStatus) -> UInt8 {
    switch status.end {
    case .exited, .signaled: HostStatus.success
    case .unknownKeeperDied, .orphaned, .unknownRebooted: HostStatus.unknownOutcome
    case nil: HostStatus.missing
    }
  }

  /// Signals the program through its keeper: one signal, or HUP and CONT, TERM, KILL in turn.
  /// Answers with what it was until then.
  func kill(_ session: SessionID, _ signal: SessionSignal?) -> UInt8 {
    guard let files = SessionFiles(session, in: roots), let status = started(files) else {
      return declineUnknown(session)
    }
    if status.state == .keeperDied, !endOrphan(of: files, signal) {
      let text = "The keeper of \(session) died; its program was signaled and may still run."
      return answer.decline(.outcomeUnknown, text)
    }
    guard status.state == .running else {
      answer.send(.status(status))
      return exitStatus(of: status)
    }
    if let node = files.otherNode { return answer.decline(session, isOn: node) }
    let place = signal.flatMap { SessionSignal.allCases.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    // A request to a keeper that is stopped would be carried out later.
    guard let socket = try? files.connect(),
      case .receipt = socket.ask([LocalMessage.version, LocalMessage.probe, 0])
    else {
      let isThere = SessionFiles(session, in: roots) != nil
      return isThere ? answer.declineStopped(files) : answer.declineMissing(session, in: roots)
    }
    guard socket.send([LocalMessage.version, LocalMessage.kill, UInt8(place)]),
      case .bytes = socket.receive()
    else {
      let text = "The keeper of \(session) does not answer; it may signal the program later."
      return answer.decline(.outcomeUnknown, text)
    }
    // As it was before the signal, which may have ended it by now.
    answer.send(.status(status))
    return HostStatus.success
  }
}

/// Tells a client once that the program waits for a reader of its output.
private struct StallReport {
  var isTold = false

  mutating func tell(_ status: SessionStatus, _ answer: Answer) {
    guard !isTold, status.state == .running, status.waitsForReader else { return }
    isTold = true
    answer.sendFrameOnly(.status(status))
  }
}

extension SessionFiles {
  /// Keeps the session from being removed for as long as the descriptor lives; nil where no keeper
  /// lives that could remove it.
  fileprivate func hold() -> Descriptor? {
    guard let socket = try? connect(), socket.send([LocalMessage.version, LocalMessage.hold, 0]),
      case .bytes = socket.receive()
    else { return nil }
    return socket
  }
}

extension Inspection {
  /// Signals the program of a keeper that died; false where it still runs. Without a signal it is
  /// TERM, and KILL where that does not end it.
  private func endOrphan(of files: SessionFiles, _ signal: SessionSignal?) -> Bool {
    guard let state = files.state, state.boot == Machine.boot, let process = state.process,
      let start = state.processStart
    else { return true }
    for signal in signal.map({ [$0] }) ?? [.terminate, .kill] {
      let number = SessionSignalNumber.number(signal.rawValue)
      // The leader by its start time, since its number may be another's by now; then its group.
      guard Programs.signal(process: process, startedAt: start, number) != .gone else {
        return true
      }
      if let group = Int32(exactly: process) { Programs.signalGroup(group, number) }
      for _ in 0..<Self.orphanLooks {
        if Programs.runs(process: process, startedAt: start) != true { return true }
        Poller.pause(Self.orphanPause)
      }
    }
    return false
  }

  private static var orphanLooks: Int { 100 }
  private static var orphanPause: Int32 { 20 }
}

extension Answer {
  /// Of a session whose record cannot be trusted.
  func declineDamaged(_ session: SessionID) -> UInt8 {
    decline(.outcomeUnknown, "The record of \(session) is damaged: how it ended is not known.")
  }

  /// Of a session whose keeper is stopped, or whose disk hangs.
  func declineStopped(_ files: SessionFiles) -> UInt8 {
    let process = files.state?.keeper.map { " (process \($0))" } ?? ""
    return decline(.directory, "The keeper of \(files.session)\(process) does not answer.")
  }

  /// Of a session that cannot be opened: none is there, or something keeps it from being read.
  func declineMissing(_ session: SessionID, in roots: [StateRoot]) -> UInt8 {
    guard let obstacle = SessionFiles.obstacle(to: session, in: roots) else {
      return decline(.unknownSession, "No session \(session) here.")
    }
    return decline(.directory, "Session \(session) cannot be read: \(obstacle.text).")
  }

  /// Of a session whose record cannot be read, or is not there: then it is what `text` says.
  func declineWithoutStatus(_ files: SessionFiles, _ text: String) -> UInt8 {
    if let failure = files.failure {
      return decline(.directory, "Session \(files.session) cannot be read: \(failure.text).")
    }
    return files.isDamaged ? declineDamaged(files.session) : decline(.unknownSession, text)
  }

  /// Of a session whose keeper is on another machine.
  func decline(_ session: SessionID, isOn node: String) -> UInt8 {
    decline(
      .directory, "Session \(session) is on \(node), which has the same directory: connect there.")
  }

  /// The fields that the text form omits.
  func sendFrameOnly(_ frame: Frame) {
    if isFramed { send(frame) }
  }

  /// Prints that output is no longer kept.
  func sendGap(from: UInt64, to: UInt64) {
    guard !isFramed else { return _ = send(.gap(from: from, to: to)) }
    let text = "bridge-host: bytes \(from) to \(to) are no longer kept\n"
    Machine.write(Array(text.utf8), to: 2)
  }
}
