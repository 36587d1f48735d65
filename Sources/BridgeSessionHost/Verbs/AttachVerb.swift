import BridgeSessionProtocol

/// `attach`: hands descriptors 0 and 1 to the keeper and exits with the code it sends. A session
/// that has ended is served from its files.
struct AttachVerb {
  let answer: Answer
  let roots: [StateRoot]
  /// Whether this process has answered that the program was started.
  var followsStart = false

  private enum Handed {
    /// The keeper has the descriptors; the process ends with this status.
    case ended(UInt8)
    /// The keeper ended before it took them.
    case again
  }

  func run(_ session: SessionID) -> UInt8 {
    guard let files = SessionFiles(session, in: roots) else {
      return answer.declineMissing(session, in: roots)
    }
    return run(files)
  }

  func run(_ files: SessionFiles) -> UInt8 {
    for _ in 0..<Self.attempts {
      if files.life != .dead {
        if let node = files.otherNode { return answer.decline(files.session, isOn: node) }
        if case .ended(let code) = hand(to: files) { return code }
        // Its other client may have removed it: then nothing tells whether a keeper lives.
        guard SessionFiles(files.session, in: roots) != nil else {
          return answer.declineMissing(files.session, in: roots)
        }
        Poller.pause(5)
        continue
      }
      guard let status = files.status() else {
        return answer.declineWithoutStatus(files, "Session \(files.session) was removed.")
      }
      switch status.state {
      case .running: continue
      case .claimed:
        return answer.decline(.notStarted, "Session \(files.session) was not started.")
      case .ended, .keeperDied, .rebooted:
        return serve(files, status.end ?? .unknownKeeperDied)
      }
    }
    return stalled(files)
  }

  private static let attempts = 400

  private func hand(to files: SessionFiles) -> Handed {
    let socket: Descriptor
    do throws(SystemError) {
      socket = try files.connect()
    } catch {
      return error.isTimeout ? .ended(stalled(files)) : .again
    }
    // Descriptors on the way to a keeper that is stopped would hold the channel open.
    let probe = [LocalMessage.version, LocalMessage.probe, 0]
    switch socket.ask(probe) {
    case .receipt: break
    case .silence: return .ended(stalled(files))
    case .end: return .again
    }
    let (request, link) = request(in: files)
    let reply = socket.ask(request, passing: [0, 1])
    if let link { files.directory.remove(link) }
    switch reply {
    case .receipt: break
    case .silence: return .ended(stalled(files))
    case .end: return .again
    }
    Machine.releaseStandardDescriptors()
    socket.waitsForever()
    guard case .bytes(let last, _) = socket.receive(), last.count >= 2 else {
      return .ended(HostStatus.unknownOutcome)
    }
    return .ended(last[1])
  }

  /// The keeper lives and does nothing: it is stopped, or its disk hangs.
  private func stalled(_ files: SessionFiles) -> UInt8 {
    guard followsStart else {
      return answer.declineStopped(files)
    }
    let text = "Session \(files.session) was started, but its keeper does not answer; attach later."
    return answer.decline(.outcomeUnknown, text)
  }

  /// A request to attach. The agent of this login goes with it, as a link that the keeper reads,
  /// and where the login came from: sshd has that first in a variable (sshd(8)).
  private func request(in files: SessionFiles) -> (bytes: [UInt8], link: String?) {
    let request = [LocalMessage.version, LocalMessage.attach, 0]
    let origin = Programs.variable("SSH_CONNECTION")?.split(separator: " ").first ?? ""
    let own = files.directory.path.map { SessionFiles.agentPath(of: files.session, in: $0) }
    guard let agent = Programs.agent, agent != own else {
      return (request + (origin.isEmpty ? [] : StateRecord.eight(0) + origin.utf8), nil)
    }
    let token = Machine.entropy()
    let link = SessionFiles.agentLink(token)
    files.directory.link(link, to: agent)
    return (request + StateRecord.eight(token) + origin.utf8, link)
  }

  // MARK: Ended sessions

  private func serve(_ files: SessionFiles, _ end: ProgramEnd) -> UInt8 {
    Programs.ignoreBrokenPipes()
    let reading = SessionReading(files)
    guard let spec = files.spec, let state = files.state else {
      return answer.declineDamaged(files.session)
    }
    let journal = Journal(files.directory)
    let configuration = HostSession.Configuration(
      session: spec.session, epoch: state.epoch, kind: spec.kind, cap: spec.cap,
      whenFull: spec.whenFull)
    let newest = max(journal.newest, state.newest)
    var machine = HostSession(
      ended: end, configuration, oldest: journal.segments.isEmpty ? newest : journal.oldest,
      newest: newest, committed: min(files.live.committed, newest), input: state.input)
    if journal.newest < newest { machine.keptEnd = journal.newest }
    let server = SessionServer(machine, journal)
    server.add(
      input: Descriptor(0).channel(forWriting: false),
      output: Descriptor(1).channel(forWriting: true), process: nil, at: Machine.milliseconds)
    return run(server, files, reading)
  }

  private func run(
    _ server: SessionServer, _ files: SessionFiles, _ reading: SessionReading
  ) -> UInt8 {
    var code: UInt8?
    var client: ClientID?
    var list = PollList<SessionServer.Token>()
    while let connection = server.connections.first {
      code = connection.exitCode ?? code
      client = server.machine.client(of: connection.id) ?? client
      let now = Machine.milliseconds
      server.pump(at: now)
      if server.takeProgramEffects().contains(.discard) { reading.leaving = .removes(client) }
      code = connection.exitCode ?? code
      commit(server, files)
      guard !server.connections.isEmpty else { break }
      list.removeAll()
      server.add(to: &list) { $0 }
      list.wait(server.deadline(at: now).map { $0 > now ? $0 - now : 0 })
      let then = Machine.milliseconds
      for index in 0..<list.count {
        server.serve(list[index].token, list[index].readiness, at: then)
      }
    }
    // Who has not said who it is had nothing to lose.
    if code == nil, let client { reading.leaving = .lost(client) }
    return code ?? HostStatus.success
  }

  private func commit(_ server: SessionServer, _ files: SessionFiles) {
    let committed = server.machine.committed
    guard committed > files.live.committed else { return }
    let file = try? files.directory.create(LiveRecord.name)
    try? file?.write(LiveRecord(committed: committed).bytes, at: 0)
  }
}

extension Descriptor {
  enum Reply {
    case receipt
    case silence
    case end
  }

  /// Sends a request to a keeper and waits for its receipt.
  func ask(_ request: [UInt8], passing descriptors: [Int32] = []) -> Reply {
    guard send(request, passing: descriptors) else { return .end }
    switch receive() {
    case .bytes(let reply, _):
      return reply.dropFirst().first == LocalMessage.receipt ? .receipt : .end
    case .nothing: return .silence
    case .end: return .end
    }
  }
}
