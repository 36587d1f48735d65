import BridgeSessionProtocol

/// `keep`: the keeper. Not for people: descriptors 3 to 6 are the session's directory, its lock,
/// its socket and the pipe on which the start is reported.
enum KeepVerb {
  static let name = "keep"

  static func run() -> UInt8 {
    let directory = Directory(Descriptor(3))
    let lock = Descriptor(4)
    let listener = Descriptor(5)
    var report: Descriptor? = Descriptor(6)
    for descriptor in [directory.descriptor, lock, listener, report] {
      descriptor?.closesOnExec()
    }
    do throws(SystemError) {
      let keeper = try start(directory, listener)
      send(nil, to: report)
      report = nil
      keeper.run()
    } catch {
      send(error, to: report)
      report = nil
    }
    lock.closeNow()
    sweep()
    return HostStatus.success
  }

  /// Removes what is kept too long: no client waits for a keeper that leaves, as for one that
  /// starts.
  private static func sweep() {
    guard let roots = try? StateRoot.open(creates: false) else { return }
    Retention(roots: roots, now: Machine.seconds).sweep()
  }

  private static func start(
    _ directory: Directory, _ listener: Descriptor
  ) throws(SystemError) -> Keeper {
    let children = try Programs.detach()
    let bytes = try directory.read("spec", limit: Int(Limits.start))
    guard let spec = try? SessionSpec(bytes[...]) else { throw SystemError("read spec", 22) }
    let files = SessionFiles(spec.session, directory: directory)
    guard var state = files.state else { throw SystemError("read state", 22) }
    state.phase = .starting
    (state.boot, state.node) = (Machine.boot, Machine.node)
    state.keeper = UInt64(Programs.ownProcess)
    state.keeperStart = Programs.startTime(of: Programs.ownProcess)
    try directory.sync("spec")
    try files.record(state, syncs: true)
    try Directory("..", in: directory).sync()
    do throws(SystemError) {
      // It may ask before its client has attached.
      directory.link(SessionFiles.agentName, to: Programs.agent)
      if Programs.agent != nil { files.linkAgent() }
      let program = try KeptProgram(spec, place: directory.path)
      Programs.raiseLimits()
      state.phase = .running
      state.process = UInt64(program.process)
      state.processStart = Programs.startTime(of: program.process)
      try? files.record(state, syncs: false)
      return Keeper(files, spec, state, program, listener: listener, children: children)
    } catch {
      // Nothing was executed: the id is free again.
      files.unlinkAgent()
      files.remove()
      throw error
    }
  }

  // MARK: The report

  /// Empty for success; else the error number in 4 bytes and the call.
  private static func send(_ error: SystemError?, to pipe: Descriptor?) {
    guard let pipe else { return }
    var bytes: [UInt8] = [0]
    if let error {
      let code = UInt32(bitPattern: error.code)
      bytes = [1] + (0..<4).map { UInt8(truncatingIfNeeded: code >> UInt32(24 - $0 * 8)) }
      bytes += Array(error.call.utf8.prefix(200))
    }
    Machine.write(bytes, to: pipe.number)
  }

  /// What became of a start.
  enum Report: Equatable {
    /// The program was executed.
    case started
    /// It was not, and the session was removed.
    case failed(SystemError)
    /// The keeper ended without a word.
    case died
  }

  /// Waits for the report.
  static func read(report pipe: Pipe) -> Report {
    pipe.writer.closeNow()
    guard let first = Machine.read(1, from: pipe.reader.number) else { return .died }
    guard first[0] != 0 else { return .started }
    let number = Machine.read(4, from: pipe.reader.number) ?? [0, 0, 0, 5]
    let code = number.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    var call: [UInt8] = []
    while let byte = Machine.read(1, from: pipe.reader.number) { call += byte }
    return .failed(SystemError(String(decoding: call, as: UTF8.self), Int32(bitPattern: code)))
  }
}
