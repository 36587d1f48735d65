import BridgeSessionProtocol

/// Local requests: attach, kill and wait.
extension Keeper {
  func accept(at now: Milliseconds) {
    guard let descriptor = listener.accept() else { return }
    callers.append(Caller(descriptor: descriptor, since: now))
  }

  func receive(from number: Int32, at now: Milliseconds) {
    guard let index = callers.firstIndex(where: { $0.descriptor.number == number }) else { return }
    let caller = callers[index]
    switch caller.descriptor.receive() {
    case .nothing: return
    case .end:
      callers.remove(at: index)
      if caller.isKnown { server.lost.loseCaller(at: now) }
    case .bytes(let message, let passed):
      guard message.count >= 3, message[0] == LocalMessage.version else {
        callers.remove(at: index)
        return
      }
      perform(message, passed, index, at: now)
    }
  }

  private func perform(
    _ message: [UInt8], _ passed: [Descriptor], _ index: Int, at now: Milliseconds
  ) {
    let caller = callers[index]
    switch message[1] {
    case LocalMessage.attach where passed.count == 2:
      callers.remove(at: index)
      let agent = agent(named: message)
      guard caller.descriptor.send([LocalMessage.version, LocalMessage.receipt]) else { return }
      server.add(
        input: passed[0].channel(forWriting: false), output: passed[1].channel(forWriting: true),
        process: caller.descriptor, agent: agent, from: LocalMessage.address(in: message), at: now)
    case LocalMessage.probe:
      guard !caller.descriptor.send([LocalMessage.version, LocalMessage.receipt]) else { return }
      callers.remove(at: index)
    case LocalMessage.kill:
      callers.remove(at: index)
      scheduleKill(message[2], at: now)
      _ = caller.descriptor.send([LocalMessage.version, HostStatus.success])
    case LocalMessage.wait where awaitsEnd && callers.count { $0.waits } < Self.waiterLimit:
      callers[index].waits = true
      server.lost.findCaller()
    case LocalMessage.hold where callers.count { $0.holds } < Self.waiterLimit:
      callers[index].holds = caller.descriptor.send([LocalMessage.version, LocalMessage.receipt])
      server.lost.findCaller()
    case LocalMessage.release: callers[index].holds = false
    case LocalMessage.rename:
      callers.remove(at: index)
      server.newName = files.newName
    default: callers.remove(at: index)
    }
  }

  private var awaitsEnd: Bool { state.phase != .ended || owesTombstone }

  /// The agent of an attaching process, which has made a link of this name to it.
  private func agent(named message: [UInt8]) -> String? {
    guard message.count >= LocalMessage.attachLength else { return nil }
    let token = message[3..<LocalMessage.attachLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let link = SessionFiles.agentLink(token)
    defer { files.directory.remove(link) }
    return files.directory.target(of: link)
  }

  /// A signal by its place in the list of the protocol; 0 for the whole ladder.
  private func scheduleKill(_ code: UInt8, at now: Milliseconds) {
    let signals = SessionSignal.allCases
    if code > 0, Int(code) <= signals.count {
      program.signalAll(signals[Int(code) - 1])
    } else {
      hangUp(at: now)
    }
  }

  /// Ends the program: it is hung up, terminated where that does not help, then killed.
  func hangUp(at now: Milliseconds) {
    guard killSteps.isEmpty else { return }
    killSteps = [(now, .hangup), (now + 2000, .terminate), (now + 7000, .kill)]
  }
}
