import BridgeSessionProtocol
import BridgeTerminalState

/// The process that holds one session: its program, its journal and its attachments.
///
/// A single-threaded poll loop. It ends when the program has ended and no client is attached.
final class Keeper {
  let files: SessionFiles
  let spec: SessionSpec
  let server: SessionServer
  let program: KeptProgram
  var state: StateRecord
  /// The socket of local requests, and which file it is: its name may be removed under it.
  private(set) var listener: Descriptor
  private var socketNumber: UInt64?
  let children: Descriptor
  private let liveFile: Descriptor?
  /// Local connections that have not sent their request, or wait for the end.
  var callers: [Caller] = []
  /// How the leader ended, from when on, before its output is complete.
  private(set) var leaderEnd: (end: ProgramEnd, at: Milliseconds)?
  var killSteps: [(at: Milliseconds, signal: SessionSignal)] = []
  private var written = LiveRecord()
  /// The client has all of the session, which is removed once no other process reads it.
  private var isDone = false
  private(set) var retryAt: Milliseconds = 0
  /// When the files are touched next.
  private(set) var touchAt = Machine.milliseconds + Keeper.touchPeriod
  /// That the disk takes nothing was reported.
  private var isDegraded = false
  /// When output that was sent before it was written is written.
  private(set) var settleAt: Milliseconds?
  /// When the keeper returns what memory is free; nil where nothing was done since it did.
  var tidyAt: Milliseconds?
  /// The end could not be recorded: the disk is full.
  private(set) var owesTombstone = false
  private var agent = AgentSource.start(Programs.agent)
  private var saidLineTruncated = false
  var tracker = TerminalState()
  /// What the terminal shows; nil on pipes.
  var checkpoint: ScreenCheckpoint?
  /// When the checkpoint takes in what was printed since; nil where it has all.
  var screenAt: Milliseconds?
  /// When output was read last.
  var printedAt: Milliseconds = 0
  /// Since when no client is attached.
  var alone = Alone.no
  /// When attached clients are asked for a sign of life; nil where that is not needed.
  var askAt: Milliseconds?
  /// The true size, to be set after another one was: programs redraw when the size changes.
  var redraw: (at: Milliseconds, size: WindowSize)?

  /// Whose agent the program finds.
  private enum AgentSource {
    /// That of the login that started it, until a writer attaches.
    case start(String?)
    case writer(String?)
  }

  struct Caller {
    let descriptor: Descriptor
    let since: Milliseconds
    /// Until the end, which closes the connection.
    var waits = false
    /// Keeps the session from being removed.
    var holds = false

    /// It may stay for as long as it likes.
    var isKnown: Bool { waits || holds }
  }

  enum Token {
    case listener
    case children
    case caller(Int32)
    case output(ProgramStream)
    case programInput
    case attachment(SessionServer.Token)
  }

  static let callerLimit = 64
  static let waiterLimit = 256
  static let callerTimeout: Milliseconds = 10_000
  /// How long a terminal's output may follow its leader's end.
  static let terminalTail: Milliseconds = 100
  /// More than a terminal holds that was not read (64 KiB and a line, drivers/tty/tty_buffer.c).
  private static let terminalBuffer = 128 << 10
  private static let diskRetry: Milliseconds = 1000
  static let tidyDelay: Milliseconds = 1000
  /// A day: what is not used for ten may be removed from directories of temporary files.
  private static let touchPeriod: Milliseconds = 24 * 3_600_000
  /// Longer than the program and the server need to go on with a key: on a busy machine they wait
  /// for this process, and the write would come first.
  private static let settleDelay: Milliseconds = 2

  /// Takes over a session whose program was just started.
  init(
    _ files: SessionFiles, _ spec: SessionSpec, _ state: StateRecord, _ program: KeptProgram,
    listener: Descriptor, children: Descriptor
  ) {
    self.files = files
    self.spec = spec
    self.state = state
    self.program = program
    self.listener = listener
    self.children = children
    socketNumber = files.directory.number(of: Directory.socketName)
    liveFile = try? files.directory.create(LiveRecord.name)
    // Its place is taken before the disk is full.
    try? liveFile?.write(LiveRecord().bytes, at: 0)
    var configuration = HostSession.Configuration(
      session: spec.session, epoch: state.epoch, kind: spec.kind,
      cap: spec.cap.map { max($0, Segment.shortest) }, whenFull: spec.whenFull)
    configuration.survivesLogout = state.survivesLogout
    let length = Segment.length(spec.kind, cap: configuration.cap)
    server = SessionServer(
      HostSession(configuration), Journal(files.directory, segmentLength: length))
    if spec.kind == .terminal {
      server.machine.size = spec.size
      server.journal.modes = { [unowned self] in self.tracker.checkpoint }
      checkpoint = ScreenCheckpoint(spec.size)
      server.screen = { [unowned self] in self.screenPoint(for: $0) }
      server.screenOfNow = { [unowned self] in self.screenOfNow() }
    }
  }

  /// Runs until the program has ended and no client is attached.
  func run() {
    Machine.keepFreedMemory()
    defer { files.unlinkAgent() }
    var list = PollList<Token>()
    while true {
      let now = Machine.milliseconds
      step(at: now)
      // What it kept is there for those that come back, as that of a session that was detached.
      if isDone, server.lost.areExpected(at: now) {
        isDone = false
        files.keep()
      }
      if isDone {
        guard isHeld(at: now) else { return discard() }
        // Should it be killed first, the last reader removes the session.
        files.markForRemoval()
      }
      if mayLeave { return removeSocketName() }
      let permission = server.readPermission(at: now)
      list.removeAll()
      fill(&list, permission)
      list.wait(timeout(permission, at: now))
      serve(list, at: Machine.milliseconds)
    }
  }

  /// Others read it or are about to, and the answer to its client may still be under way.
  private func isHeld(at now: Milliseconds) -> Bool {
    callers.contains { $0.holds || !$0.isKnown }
      || server.connections.contains { !$0.isFinished(at: now) }
  }

  /// Output that is only in memory, and an end that is not on disk, would go with the keeper. Where
  /// the session's directory was removed there is no place for either, and no client can come.
  private var mayLeave: Bool {
    guard state.phase == .ended, server.connections.isEmpty else { return false }
    return owesDisk ? files.directory.isRemoved : callers.isEmpty
  }

  /// What is due without an event.
  private func step(at now: Milliseconds) {
    apply(server.takeProgramEffects(), at: now)
    if let settleAt, now >= settleAt {
      self.settleAt = nil
      server.journal.settle()
    }
    noticeDegraded(at: now)
    server.pump(at: now)
    followAbsence(at: now)
    while let next = killSteps.first, next.at <= now {
      killSteps.removeFirst()
      program.signalAll(next.signal)
      if next.signal == .hangup { program.signalAll(.continue) }
    }
    if let redraw, redraw.at <= now {
      self.redraw = nil
      program.resize(redraw.size)
    }
    advanceScreen(at: now)
    callers.removeAll { !$0.isKnown && now >= $0.since + Self.callerTimeout }
    if owesDisk, now >= retryAt {
      retryAt = now + Self.diskRetry
      if writesAgain() {
        isDegraded = false
        if state.phase == .ended { recordEnd() }
      }
    }
    finishIfComplete(at: now)
    if let tidyAt, now >= tidyAt {
      self.tidyAt = nil
      Machine.returnFreedMemory()
    }
    if now >= touchAt {
      touchAt = now + Self.touchPeriod
      files.directory.touch()
    }
    // What a peer that is gone had sent.
    apply(server.takeProgramEffects(), at: now)
    writeLive()
    followWriter()
  }

  /// What the client has stored makes space, where the disk has none for the rest.
  private func writesAgain() -> Bool {
    if server.journal.retry() { return true }
    guard server.machine.configuration.whenFull == .wait else { return false }
    dropCommitted()
    return server.journal.retry()
  }

  func dropCommitted() {
    server.journal.dropMemory(below: server.machine.committed)
    server.machine.dropped(below: server.journal.oldest)
  }

  var owesDisk: Bool { server.journal.failure != nil || owesTombstone }

  /// Only with the output before it: who reads the files takes what they have for all of it.
  private func recordEnd() {
    guard server.journal.failure == nil else { return owesTombstone = true }
    do throws(SystemError) {
      try server.journal.finish()
      try files.record(state, syncs: true)
      owesTombstone = false
      callers.removeAll { $0.waits }
    } catch {
      owesTombstone = true
    }
  }

  private func apply(_ effects: [HostSession.Effect], at now: Milliseconds) {
    for effect in effects {
      switch effect {
      case .writeInput(let bytes): program.queueInput(bytes)
      case .closeInput: program.closeInput()
      case .resize(let size): resize(to: size, at: now)
      case .signal(let signal): program.signal(signal)
      case .discard: isDone = true
      case .send, .end: server.execute([effect], at: now)
      }
    }
    if program.hasPendingInput { writeInput(at: now) }
  }

  func writeInput(at now: Milliseconds) {
    let count = program.writeInput()
    if let count, count > 0 { server.execute(server.machine.inputWritten(count, at: now), at: now) }
    if count == nil { server.execute(server.machine.inputClosed(at: now), at: now) }
    for effect in server.takeProgramEffects() where effect == .closeInput { program.closeInput() }
    guard program.hasLongLine, !saidLineTruncated else { return }
    saidLineTruncated = true
    let text =
      "The terminal drops what exceeds \(KeptProgram.longestLine) bytes of a line: "
      + "send long input through pipes."
    server.notify(Notice(.lineTruncated, text))
  }

  // MARK: The program

  /// Reads output once; how many bytes there were.
  @discardableResult
  func read(_ stream: ProgramStream, at now: Milliseconds) -> Int {
    switch program.read(stream) {
    case .nothing: return 0
    case .end:
      program.closeOutput(stream)
      return 0
    case .bytes(let bytes):
      let journal = server.journal
      journal.keepsNewest = server.machine.attachedCount > 0
      journal.append(stream, bytes)
      if stream == .terminal { track(bytes) }
      server.machine.produced(bytes.count, at: now)
      followScreen(at: now)
      _ = journal.drop(below: server.machine.dropTarget)
      server.machine.dropped(below: journal.oldest)
      if journal.isPending { settleAt = now + Self.settleDelay }
      return bytes.count
    }
  }

  private func noticeDegraded(at now: Milliseconds) {
    let failure = server.journal.failure
    defer { isDegraded = failure != nil }
    guard let failure, !isDegraded else { return }
    retryAt = now + Self.diskRetry
    let text = "The journal cannot be written (\(failure.text)): the newest output is in memory."
    server.notify(Notice(.degraded, text))
  }

  func reap(at now: Milliseconds) {
    if Programs.signals(from: children).contains(Programs.socketSignal) { renewSocket() }
    while let ended = Programs.reap() {
      guard ended.process == program.process, leaderEnd == nil else { continue }
      let end =
        ended.exitStatus.map { ProgramEnd.exited(status: $0) }
        ?? .signaled(number: ended.signal, dumpedCore: ended.dumpedCore)
      leaderEnd = (end, now)
      program.isReaped = true
      state.phase = .exited
      state.end = end
      try? files.record(state, syncs: false)
    }
  }

  /// The tombstone is synced before the end is announced.
  private func finishIfComplete(at now: Milliseconds) {
    guard let leaderEnd, state.phase != .ended else { return }
    if program.isTerminal, now >= leaderEnd.at + Self.terminalTail { cutTerminal(at: now) }
    guard program.outputs.isEmpty else { return }
    program.forgetInput()
    state.phase = .ended
    state.newest = server.machine.newest
    state.input = server.machine.inputRecord
    state.endedAt = Machine.seconds
    recordEnd()
    server.execute(server.machine.end(leaderEnd.end, at: now), at: now)
    server.pump(at: now)
  }

  /// What runs on in the background is not waited for, but what it and the leader have printed is
  /// read, once the session may take it.
  private func cutTerminal(at now: Milliseconds) {
    guard mayRead(at: now) else { return }
    var left = Self.terminalBuffer
    while left > 0 {
      let count = read(.terminal, at: now)
      guard count > 0 else { break }
      left -= count
    }
    program.closeOutputs()
  }

  private func writeLive() {
    let live = LiveRecord(
      committed: server.machine.committed, attached: UInt64(server.machine.attachedCount),
      memory: !owesDisk ? nil : state.phase == .ended ? .end : .output,
      waitsForReader: waitsForReader, aloneSince: alone.wallClock,
      memoryStart: owesDisk ? server.journal.memoryStart : nil)
    guard live != written else { return }
    written = live
    try? liveFile?.write(live.bytes, at: 0)
  }

  /// Makes the socket again where its name was removed or taken by another file.
  private func renewSocket() {
    let found = files.directory.number(of: Directory.socketName)
    guard found == nil || found != socketNumber, let made = try? files.directory.listen() else {
      return
    }
    listener = made
    socketNumber = files.directory.number(of: Directory.socketName)
  }

  /// The agent and the environment file are the writer's; with it the agent goes, so that ssh fails
  /// at once and does not wait for an answer.
  private func followWriter() {
    let writer = server.connections.last { server.machine.isWriter($0.id) }
    switch agent {
    case .start where writer == nil: break
    case .start(let old), .writer(let old):
      if writer?.agent != old { files.directory.link(SessionFiles.agentName, to: writer?.agent) }
      agent = .writer(writer?.agent)
    }
    guard let variables = server.takeEnvironment() else { return }
    let file = EnvironmentFile(variables).bytes
    try? files.directory.replace(EnvironmentFile.name, file, syncs: false)
  }

  private func removeSocketName() { files.directory.remove(Directory.socketName) }

  /// The client was answered before the files go: much output takes a while to remove.
  private func discard() { files.remove() }
}
