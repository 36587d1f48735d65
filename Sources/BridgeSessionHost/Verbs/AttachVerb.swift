import BridgeSessionProtocol

/// `attach`: hands descriptors 0 and 1 to the keeper and exits with the code it sends. A session
/// that has ended is served from its files.
struct AttachVerb {
  let answer: Answer
  let root: StateRoot

  private enum Handed {
    /// The keeper has the descriptors; the process ends with this status.
    case ended(UInt8)
    /// The keeper ended before it took them.
    case again
  }

  func run(_ session: SessionID) -> UInt8 {
    guard let files = SessionFiles(session, in: root) else {
      return answer.decline(.unknownSession, "No session \(session) here.")
    }
    return run(files)
  }

  func run(_ files: SessionFiles) -> UInt8 {
    for _ in 0..<Self.attempts {
      if files.isAlive {
        if case .ended(let code) = hand(to: files) { return code }
        Poller.pause(5)
        continue
      }
      guard let status = files.status() else {
        return answer.decline(.unknownSession, "Session \(files.session) was removed.")
      }
      switch status.state {
      case .running: continue
      case .claimed:
        return answer.decline(.notStarted, "Session \(files.session) was not started.")
      case .ended, .keeperDied, .rebooted:
        return serve(files, status.end ?? .unknownKeeperDied)
      }
    }
    return answer.decline(.directory, "The keeper of \(files.session) does not answer.")
  }

  private static let attempts = 400

  private func hand(to files: SessionFiles) -> Handed {
    guard let socket = try? files.directory.connect(),
      socket.send([LocalMessage.version, LocalMessage.attach, 0], passing: [0, 1]),
      case .bytes(let receipt, _) = socket.receive(), receipt.count >= 2,
      receipt[1] == LocalMessage.receipt
    else { return .again }
    Machine.releaseStandardDescriptors()
    guard case .bytes(let last, _) = socket.receive(), last.count >= 2 else {
      return .ended(ExitStatus.unknownOutcome)
    }
    return .ended(last[1])
  }

  // MARK: Ended sessions

  private func serve(_ files: SessionFiles, _ end: ProgramEnd) -> UInt8 {
    Programs.ignoreBrokenPipes()
    guard let spec = files.spec, let state = files.state,
      let input = try? Descriptor(0).reopened(forWriting: false),
      let output = try? Descriptor(1).reopened(forWriting: true)
    else { return answer.decline(.storage, "Session \(files.session) cannot be read.") }
    let journal = Journal(files.directory)
    let configuration = HostSession.Configuration(
      session: spec.session, epoch: state.epoch, kind: spec.kind, cap: spec.cap,
      whenFull: spec.whenFull)
    let newest = max(journal.newest, state.newest)
    var machine = HostSession(
      ended: end, configuration, oldest: journal.segments.isEmpty ? newest : journal.oldest,
      newest: newest, committed: files.live.committed, input: state.input)
    if journal.newest < newest { machine.keptEnd = journal.newest }
    let server = SessionServer(machine, journal)
    server.add(input: input, output: output, process: nil, at: Machine.milliseconds)
    return run(server, files)
  }

  private func run(_ server: SessionServer, _ files: SessionFiles) -> UInt8 {
    var code: UInt8?
    while let connection = server.connections.first {
      code = connection.exitCode ?? code
      let now = Machine.milliseconds
      server.pump(at: now)
      code = connection.exitCode ?? code
      commit(server, files)
      guard !server.connections.isEmpty else { break }
      var entries = server.pollEntries()
      Poller.wait(&entries, server.deadline(at: now).map { $0 > now ? $0 - now : 0 })
      server.serve(entries, at: Machine.milliseconds)
      if server.takeProgramEffects().contains(.discard) { files.remove(from: root) }
    }
    return code ?? ExitStatus.success
  }

  private func commit(_ server: SessionServer, _ files: SessionFiles) {
    let committed = server.machine.committed
    guard committed > files.live.committed else { return }
    let file = try? files.directory.create(LiveRecord.name)
    try? file?.write(LiveRecord(committed: committed).bytes, at: 0)
  }
}
