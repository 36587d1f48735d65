import BridgeSessionProtocol

/// `start`: claims the id, starts the keeper, answers once the program was executed. The same id
/// and spec give the same answer any number of times; the program is started at most once.
struct StartVerb {
  let answer: Answer
  /// An id is looked for in all of them before it is claimed in the first.
  let roots: [StateRoot]
  /// Why sessions may be where they cannot be seen now; nil where they are not.
  let hidden: String?

  private enum Claim {
    /// This process holds the lock of a session that was never started.
    case ours(SessionFiles, lock: Descriptor, listener: Descriptor?)
    /// Another process starts it or has started it.
    case known(SessionFiles)
    case declined(Refusal.Code, String)
  }

  /// Starts the program of the start frame on standard input; nil when it was declined.
  func run() -> (session: SessionFiles?, status: UInt8) {
    guard let spec = Self.readSpec() else {
      let causes = "a start-up file of the login reads standard input, or the link stood still"
      return (nil, answer.decline(.noStart, "the start frame did not come whole: \(causes)"))
    }
    switch claim(spec) {
    case .declined(let code, let text): return (nil, answer.decline(code, text))
    case .known(let files): return report(files, spec)
    case .ours(let files, let lock, let listener): return start(files, lock, listener, spec)
    }
  }

  private func start(
    _ files: SessionFiles, _ lock: Descriptor, _ listener: Descriptor?, _ spec: SessionSpec
  ) -> (session: SessionFiles?, status: UInt8) {
    for _ in 0..<Self.keepers {
      switch startKeeper(files, lock, listener) {
      case .started: return report(files, spec)
      case .failed(let error):
        let isExec = error.call.hasPrefix("exec")
        return (nil, answer.decline(isExec ? .cannotExecute : .storage, error.text))
      case .died:
        // With the lock held the phase is final: from the next one on the program may have run.
        guard files.state?.phase == .claimed else {
          lock.closeNow()
          return report(files, spec)
        }
      }
    }
    files.remove()
    return (nil, answer.decline(.storage, "The keeper ended while it started, several times."))
  }

  /// So many keepers are killed before they start the program.
  private static let keepers = 3

  /// Reads exactly one frame: what follows it belongs to the attachment. A client sends it with the
  /// command, so what does not come was read by another program.
  static func readSpec(from input: Int32 = 0, within timeout: UInt64 = timeout) -> SessionSpec? {
    guard let header = Machine.read(Limits.headerLength, from: input, timeout: timeout),
      let verified = try? FrameHeader(header[...]), verified.type == .start,
      let payload = Machine.read(Int(verified.length), from: input, timeout: timeout)
    else { return nil }
    return try? SessionSpec(payload[...])
  }

  /// In milliseconds, for each further byte: a client declares a link dead that is silent for as
  /// long.
  private static let timeout: UInt64 = 60_000

  // MARK: Claiming

  private func claim(_ spec: SessionSpec) -> Claim {
    // One of its name may run there.
    if spec.isOnlyOfItsName, spec.name != nil, let hidden {
      return .declined(.outcomeUnknown, hidden)
    }
    let names: Descriptor?
    do throws(SystemError) {
      names = try holdNames(for: spec)
    } catch {
      return .declined(.storage, error.text)
    }
    defer { names?.closeNow() }
    for _ in 0..<Self.attempts {
      if let files = SessionFiles(spec.session, in: roots) {
        guard files.specBytes == spec.payload else {
          return .declined(.conflict, "Session \(spec.session) has another program.")
        }
        if let claim = reclaim(files) { return claim }
        continue
      }
      if names != nil, let other = SessionNames(roots: roots).running(spec.name) {
        return .declined(.nameTaken, "Session \(other) has the name already.")
      }
      do throws(SystemError) {
        guard let claim = try create(spec) else { continue }
        return claim
      } catch {
        guard error.exists else { return .declined(.storage, error.text) }
        // Another process was first, or a directory that is not safe to use has the name.
        if SessionFiles(spec.session, in: roots) == nil {
          return .declined(.directory, "\(spec.session) is not a directory of this user only.")
        }
      }
    }
    return .declined(.storage, "Session \(spec.session) is being removed and made again.")
  }

  private static let attempts = 20

  /// Holds the names of sessions that are to be the only ones of theirs; nil for others.
  private func holdNames(for spec: SessionSpec) throws(SystemError) -> Descriptor? {
    guard spec.isOnlyOfItsName, spec.name != nil else { return nil }
    return try SessionNames(roots: roots).hold()
  }

  /// Claims the id where new sessions are kept, or in the other place where that has no space. Nil
  /// to look again.
  private func create(_ spec: SessionSpec) throws(SystemError) -> Claim? {
    let claim: Claim
    do throws(SystemError) {
      claim = try create(spec, in: roots[0].directory)
    } catch {
      guard error.isUnsuitablePlace, let other = StateRoot.openLast() else { throw error }
      claim = try create(spec, in: other.directory)
    }
    guard case .ours(let files, _, _) = claim else { return claim }
    // Another process may have claimed it in the other place: one of the two sees both.
    let places = (try? StateRoot.open(creates: false)) ?? []
    let claims = places.filter { SessionFiles(spec.session, in: [$0]) != nil }
    guard claims.count > 1 else { return claim }
    files.remove()
    return nil
  }

  /// Claims by renaming a complete directory, whose lock is held.
  private func create(_ spec: SessionSpec, in root: Directory) throws(SystemError) -> Claim {
    let name = spec.session.description
    let temporary = ".new-\(name)-\(Machine.entropy())"
    try root.makeDirectory(temporary)
    do throws(SystemError) {
      let files = SessionFiles(
        spec.session, directory: try Directory(temporary, in: root))
      let lock = try files.directory.create("lock")
      guard try lock.lock() else { throw SystemError("lock", 11) }
      // Before the id is taken: the file system may have no sockets.
      let listener = try files.directory.listen()
      // Synced by the keeper with the phase in which the program may run: until then a session that
      // the machine forgets was not started.
      try files.directory.replace("spec", spec.payload, syncs: false)
      var state = StateRecord(phase: .claimed, boot: Machine.boot, epoch: Machine.entropy())
      state.survivesLogout = Logout.answer()
      state.startedAt = Machine.seconds
      state.node = Machine.node
      try files.record(state, syncs: false)
      try root.claim(name, from: temporary)
      return .ours(files, lock: lock, listener: listener)
    } catch {
      root.removeDirectory(temporary)
      throw error
    }
  }

  /// A session that is there: starts one that was claimed only and whose starter died. Nil to look
  /// again.
  private func reclaim(_ files: SessionFiles) -> Claim? {
    guard let state = files.state else { return .known(files) }
    guard state.phase == .claimed else { return .known(files) }
    do throws(SystemError) {
      let lock = try files.directory.create("lock")
      guard try lock.lock() else {
        // It is being started.
        Poller.pause(5)
        return files.life == .dead ? nil : waitForStart(files)
      }
      // With the lock held the phase is final.
      guard files.state?.phase == .claimed else { return .known(files) }
      return .ours(files, lock: lock, listener: nil)
    } catch {
      return error.isMissing ? nil : .declined(.storage, error.text)
    }
  }

  private func waitForStart(_ files: SessionFiles) -> Claim? {
    for _ in 0..<2000 {
      let isAlive = files.life != .dead
      guard isAlive, files.state?.phase == .claimed || files.state?.phase == .starting else {
        return isAlive || files.state?.phase != .claimed ? .known(files) : nil
      }
      Poller.pause(5)
    }
    return .known(files)
  }

  // MARK: The keeper

  /// Starts the keeper, which inherits the lock; returns once it has executed the program.
  private func startKeeper(
    _ files: SessionFiles, _ lock: Descriptor, _ listener: Descriptor?
  ) -> KeepVerb.Report {
    do throws(SystemError) {
      var listener = listener
      if listener == nil { listener = try files.directory.listen() }
      guard let listener else { throw SystemError("bind", 22) }
      if let scope = Logout.scope {
        let report = try spawn(scope.path, scope.arguments, files, lock, listener)
        // The keeper was not executed: the phase records it, and no other process has the report.
        guard report != .started, files.state?.phase == .claimed else { return report }
        try recordLogout(Logout.answerWithoutScope, files)
      }
      let arguments = [Array("bridge-host".utf8), Array(KeepVerb.name.utf8)]
      return try spawn("/proc/self/exe", arguments, files, lock, listener)
    } catch {
      files.remove()
      return .failed(error)
    }
  }

  private func spawn(
    _ path: String, _ arguments: [[UInt8]], _ files: SessionFiles, _ lock: Descriptor,
    _ listener: Descriptor
  ) throws(SystemError) -> KeepVerb.Report {
    let report = try Pipe()
    let null = try Directory("/dev").openForReading("null")
    try Programs.spawnApart(
      path, arguments, environment: Programs.environment, directory: "/",
      descriptors: [
        null.number, null.number, null.number, files.directory.descriptor.number, lock.number,
        listener.number, report.writer.number,
      ])
    return KeepVerb.read(report: report)
  }

  private func recordLogout(_ answer: String, _ files: SessionFiles) throws(SystemError) {
    guard var state = files.state else { throw SystemError("read state", 22) }
    state.survivesLogout = answer
    try files.record(state, syncs: false)
  }

  private func report(
    _ files: SessionFiles, _ spec: SessionSpec
  ) -> (session: SessionFiles?, status: UInt8) {
    guard let status = files.status() else {
      let text = "Session \(spec.session) has no readable state."
      return (nil, answer.decline(.unknownSession, text))
    }
    switch status.state {
    case .claimed:
      return (nil, answer.decline(.notStarted, "Session \(spec.session) was not started."))
    case .running, .ended, .keeperDied, .rebooted:
      answer.send(.status(status))
      return (files, HostStatus.success)
    }
  }
}
