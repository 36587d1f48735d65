import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A state directory of a test's own and the `bridge-host` to run in it.
final class SessionBench {
  let folder: URL
  var environment: [String: String]
  /// What a shell does before it executes `bridge-host`.
  var prelude: String?
  /// Where the sessions are, if not in `folder`.
  var stateFolder: URL?
  /// Ids differ between runs of a test: sessions of two runs must never meet.
  let client = ClientID(high: Machine.entropy(), low: Machine.entropy())

  static let marker = "7f3a-marker"
  static var program: String { TestMachine.products.appending(path: "bridge-host").path }

  init() throws {
    _ = TestMachine.ignoresBrokenPipes
    let id = Identifier(high: Machine.entropy(), low: Machine.entropy())
    folder = FileManager.default.temporaryDirectory.appending(path: "bridge-host-\(id)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    environment = [
      "XDG_STATE_HOME": folder.path, "HOME": folder.path, "BRIDGE_SHELL": "/bin/sh",
      "PATH": "/usr/bin:/bin", "LC_ALL": "C",
      // The address sanitizer keeps what is freed, which is no memory of the keeper's.
      "ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0",
    ]
  }

  /// Ends every program and keeper that is left and removes the directory.
  deinit {
    for session in sessions {
      for process in keepers(of: session) {
        _ = try? run(["kill", "--session", session.description, "--signal", "KILL"])
        TestMachine.kill(process)
      }
    }
    try? FileManager.default.removeItem(at: folder)
  }

  var sessionsFolder: URL { (stateFolder ?? folder).appending(path: "bridge/s") }

  var sessions: [SessionID] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: sessionsFolder.path)) ?? []
    return names.compactMap(Identifier.init(text:))
  }

  /// Everything in the directory of sessions, half-made ones too, but for what belongs to all.
  var names: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: sessionsFolder.path)) ?? []
    return names.filter { ![".place", ".names"].contains($0) }
  }

  func file(_ name: String) -> String { folder.appending(path: name).path }

  func text(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  /// The keeper's process: the one whose third descriptor is the session's directory.
  func keepers(of session: SessionID) -> [Int32] {
    let directory = sessionsFolder.appending(path: session.description).path
    let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return processes.compactMap { Int32($0) }.filter { process in
      let link = "/proc/\(process)/fd/3"
      let arguments = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == directory
        && String(decoding: arguments, as: UTF8.self).contains("keep")
    }
  }

  /// Kills the keeper of a session, and waits until it is gone. A process that ends has no list of
  /// descriptors any more before they are closed: its lock goes last.
  func killKeeper(of session: SessionID) throws {
    for keeper in keepers(of: session) { TestMachine.kill(keeper) }
    try waitUntil {
      let files = (try? root).flatMap { SessionFiles(session, in: [$0]) }
      return keepers(of: session).isEmpty && files?.life != .alive
    }
  }

  func spec(_ command: String, _ change: (inout SessionSpec) -> Void = { _ in }) -> SessionSpec {
    var spec = SessionSpec(
      session: SessionID(high: Machine.entropy(), low: Machine.entropy()))
    spec.command = Array(command.utf8)
    change(&spec)
    return spec
  }

  func launch(_ arguments: [String]) throws -> RunningProcess {
    let shell = prelude.map { ["/bin/sh", "-c", "\($0) \"$0\" \"$@\""] } ?? []
    return try RunningProcess(shell + [Self.program] + arguments, environment: environment)
  }

  /// Runs a verb to its end: the frames after the marker and the exit status.
  func run(
    _ arguments: [String], input: [UInt8] = []
  ) throws -> (frames: [Frame], status: Int32) {
    let process = try launch(arguments + ["--marker", Self.marker])
    let (output, status) = process.finish(input)
    return (try Self.frames(in: output), status)
  }

  /// Runs `start` to its answer.
  func start(_ spec: SessionSpec) throws -> Frame {
    let (frames, _) = try run(["start"], input: Frame.start(spec).encoded)
    return try #require(frames.last)
  }

  var root: StateRoot {
    get throws { StateRoot(directory: try Directory(sessionsFolder.path)) }
  }

  func files(of session: SessionID) throws -> SessionFiles {
    try #require(SessionFiles(session, in: [try root]))
  }

  func status(_ session: SessionID) throws -> SessionStatus? {
    let (frames, _) = try run(["list"])
    return frames.compactMap { frame -> SessionStatus? in
      guard case .status(let status) = frame, status.session == session else { return nil }
      return status
    }.first
  }

  /// Attaches to a session that was started.
  func attach(
    _ session: SessionID, client: ClientID? = nil, resume: ResumePoint? = nil,
    change: (inout ClientSession.Configuration) -> Void = { _ in }
  ) throws -> AttachedClient {
    var configuration = ClientSession.Configuration(
      session: session, client: client ?? self.client)
    change(&configuration)
    let attached = AttachedClient(
      ClientSession(configuration, resume: resume), bench: self)
    try attached.connect()
    return attached
  }

  static func frames(in output: [UInt8]) throws -> [Frame] {
    let marker = Array(marker.utf8)
    let start = try #require(output.firstRange(of: marker), "no marker").upperBound
    var parser = FrameParser()
    parser.append(output[start...])
    var frames: [Frame] = []
    while let frame = try parser.next() { frames.append(frame) }
    return frames
  }
}

/// A client machine connected to `bridge-host attach` by pipes.
final class AttachedClient {
  var machine: ClientSession
  private let bench: SessionBench
  private(set) var process: RunningProcess?
  private var parser = FrameParser()
  private var outbox: [UInt8] = []
  private var markerLeft = true
  private var received: [UInt8] = []
  /// What came, in order.
  private(set) var output: [ProgramStream: [UInt8]] = [:]
  private(set) var all: [UInt8] = []
  private(set) var gaps: [Range<UInt64>] = []
  /// What was left out, and what was drawn for it.
  private(set) var omitted: [(range: Range<UInt64>, screen: [UInt8])] = []
  /// The sizes of the terminal that came in the output.
  private(set) var sizes: [WindowSize] = []
  private(set) var welcome: Welcome?
  private(set) var end: ProgramEnd?
  private(set) var refusal: Refusal?
  private(set) var notices: [Notice] = []
  private(set) var losses: [ClientSession.InputLoss] = []
  private(set) var isClosed = false

  init(_ machine: ClientSession, bench: SessionBench) {
    self.machine = machine
    self.bench = bench
  }

  /// Runs a new `attach`, or `start --attach`.
  func connect(starting spec: SessionSpec? = nil) throws {
    cut()
    let session = machine.configuration.session.description
    let verb = spec == nil ? ["attach", "--session", session] : ["start", "--attach"]
    process = try bench.launch(verb + ["--marker", SessionBench.marker])
    parser = FrameParser()
    outbox = spec.map { Frame.start($0).encoded } ?? []
    (received, markerLeft, isClosed) = ([], true, false)
    machine.connect()
  }

  /// Kills the attaching process: what is under way is lost.
  func cut() {
    process?.end()
    process = nil
    machine.disconnect()
  }

  /// Sends and receives until `condition` holds or the channel is closed.
  func pump(until condition: (AttachedClient) -> Bool) throws {
    let begun = Machine.milliseconds
    while !condition(self), !isClosed {
      // A hang is a failure of the test and not of the machine that runs it.
      try #require(Machine.milliseconds - begun < 120_000, "nothing came for two minutes")
      try turn()
    }
  }

  /// Sends and receives once.
  func pumpOnce() throws { if !isClosed { try turn() } }

  private func turn() throws {
    let now = Machine.milliseconds
    while outbox.count < 64 << 10, let frame = machine.nextFrame(at: now) {
      outbox += frame.encoded
    }
    if !outbox.isEmpty, case .wrote(let count)? = process?.input?.write(outbox, from: 0) {
      outbox.removeFirst(count)
    }
    switch process?.output.read(64 << 10) {
    case .bytes(let bytes): try receive(bytes)
    case .end, nil:
      isClosed = true
      machine.disconnect()
    case .nothing:
      let isDue = machine.acknowledgementDeadline != nil
      if isDue { TestMachine.pause() } else { process?.wait(writes: !outbox.isEmpty) }
    }
  }

  private func receive(_ bytes: [UInt8]) throws {
    if markerLeft {
      received += bytes
      guard let range = received.firstRange(of: Array(SessionBench.marker.utf8)) else { return }
      markerLeft = false
      parser.append(received[range.upperBound...])
    } else {
      parser.append(bytes)
    }
    while let frame = try parser.next() {
      for event in try machine.receive(frame, at: Machine.milliseconds) { take(event) }
    }
  }

  private func take(_ event: ClientSession.Event) {
    let now = Machine.milliseconds
    switch event {
    case .attached(let answer): welcome = answer
    case .output(let offset, let stream, let bytes):
      output[stream, default: []] += bytes
      all += bytes
      machine.commit(through: offset + UInt64(bytes.count), at: now)
    case .gap(let from, let to):
      gaps.append(from..<to)
      machine.commit(through: to, at: now)
    case .screen(let from, let to, let bytes):
      omitted.append((from..<to, bytes))
      machine.commit(through: to, at: now)
    case .size(let size, _): sizes.append(size)
    case .ended(let end, _): self.end = end
    case .refused(let refusal): self.refusal = refusal
    case .notice(let notice): notices.append(notice)
    case .inputDropped(let loss): losses.append(loss)
    case .inputTaken, .controlsDone, .pong: break
    }
  }

  var hasUnsent: Bool { !outbox.isEmpty }

  var text: String { String(decoding: all, as: UTF8.self) }

  /// Waits for the welcome.
  func greet() throws { try pump { $0.machine.phase != .greeting } }

  func type(_ text: String) throws {
    if machine.phase == .greeting { try greet() }
    _ = try machine.write(Array(text.utf8))
  }

  /// Commits everything and leaves; the attaching process's exit status.
  func close() throws -> Int32 {
    try pump { $0.end != nil && $0.machine.phase == .attached }
    try machine.detach(closes: true)
    try pump { _ in false }
    return process?.exitStatus() ?? -1
  }
}
