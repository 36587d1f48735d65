import BridgeSessionProtocol

/// `list`, `read`, `wait` and `kill`.
struct Inspection {
  let answer: Answer
  let root: StateRoot

  /// All sessions, from their files alone.
  func list() -> UInt8 {
    for files in SessionFiles.all(in: root) {
      if let status = files.status() { answer.send(.status(status)) }
    }
    return ExitStatus.success
  }

  /// Output from an offset on: frames for a client, the bytes for a person. With `follows`, until
  /// the program has ended.
  func read(_ session: SessionID, from start: UInt64, follows: Bool) -> UInt8 {
    guard let files = SessionFiles(session, in: root), let first = files.status() else {
      return answer.decline(.unknownSession, "No session \(session) here.")
    }
    answer.sendFrameOnly(.status(first))
    var position = start
    while true {
      // The state is read first: what an ended session printed is all there.
      guard let status = files.status() else { return ExitStatus.missing }
      let journal = Journal(files.directory)
      guard send(journal, from: &position) else { return ExitStatus.storage }
      if status.state != .running {
        if let end = status.end { answer.sendFrameOnly(.ended(at: position, end)) }
        return ExitStatus.success
      }
      guard follows else { return ExitStatus.success }
      Poller.pause(100)
    }
  }

  private func send(_ journal: Journal, from position: inout UInt64) -> Bool {
    if position < journal.oldest {
      answer.sendFrameOnly(.gap(from: position, to: journal.oldest))
      position = journal.oldest
    }
    while position < journal.newest {
      let count = Int(min(journal.newest - position, 64 << 10))
      let end = position + UInt64(count)
      let bytes =
        answer.isFramed
        ? try? journal.frames(from: position, count: count)
        : try? journal.bytes(from: position, to: end)
      guard let bytes, !bytes.isEmpty, Machine.write(bytes, to: 1) else { return false }
      position = end
    }
    return true
  }

  /// Waits for the end and answers with it.
  func wait(_ session: SessionID) -> UInt8 {
    while true {
      guard let files = SessionFiles(session, in: root), let status = files.status() else {
        return answer.decline(.unknownSession, "No session \(session) here.")
      }
      guard status.state == .running else {
        answer.send(.status(status))
        return exitStatus(of: status)
      }
      let socket = try? files.directory.connect()
      if socket?.send([LocalMessage.version, LocalMessage.wait, 0]) == true {
        _ = socket?.receive()
      }
      Poller.pause(5)
    }
  }

  private func exitStatus(of status: SessionStatus) -> UInt8 {
    switch status.end {
    case .exited, .signaled: ExitStatus.success
    case .unknownKeeperDied, .unknownRebooted: ExitStatus.unknownOutcome
    case nil: ExitStatus.missing
    }
  }

  /// Signals the program through its keeper: one signal, or HUP and CONT, TERM, KILL in turn.
  func kill(_ session: SessionID, _ signal: SessionSignal?) -> UInt8 {
    guard let files = SessionFiles(session, in: root), let status = files.status() else {
      return answer.decline(.unknownSession, "No session \(session) here.")
    }
    guard status.state == .running else {
      answer.send(.status(status))
      return exitStatus(of: status)
    }
    let place = signal.flatMap { SessionSignal.allCases.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    guard let socket = try? files.directory.connect(),
      socket.send([LocalMessage.version, LocalMessage.kill, UInt8(place)]),
      case .bytes = socket.receive()
    else { return answer.decline(.directory, "The keeper of \(session) does not answer.") }
    answer.send(.status(files.status() ?? status))
    return ExitStatus.success
  }
}

extension Answer {
  /// What a person who reads text does not see.
  func sendFrameOnly(_ frame: Frame) {
    if isFramed { send(frame) }
  }
}
