import BridgeFaults
import Foundation
import Testing

/// What one run without a terminal came to.
struct Outcome: Sendable {
  let code: Int32
  let output: [UInt8]
  let error: String

  var text: String { String(decoding: output, as: UTF8.self) }
  /// The last line of standard error that is not indented: the cause of a failure, above what can
  /// be done about it.
  var lastLine: Substring { error.split(separator: "\n").last { !$0.hasPrefix("  ") } ?? "" }
}

/// A folder that is home to one test: no configuration, no keys, no known hosts but its own.
final class Home: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "/bridgectl-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    let folder = URL(fileURLWithPath: file(name)).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
  }

  func read(_ name: String) -> String {
    (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
  }

  /// The environment of a user who has only this home.
  var environment: [String: String] {
    ["HOME": path, "PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"]
  }

  /// Runs bridgectl without any terminal.
  func run(
    _ arguments: [String], through script: String? = nil, input: [UInt8] = [],
    environment extra: [String: String] = [:], program: String = Child.program
  ) async throws -> Outcome {
    let running = try start(
      arguments, through: script, input: input, environment: extra, program: program)
    return try await running.outcome()
  }

  /// Starts it likewise. A `script` is run by bash and ends with `exec "$0" "$@"`, the program.
  func start(
    _ arguments: [String], through script: String? = nil, input: [UInt8] = [],
    environment extra: [String: String] = [:], program: String = Child.program
  ) throws -> Running {
    let name = UUID().uuidString
    try Data(input).write(to: URL(fileURLWithPath: file("in-" + name)))
    for stream in ["out-", "err-"] {
      try Data().write(to: URL(fileURLWithPath: file(stream + name)))
    }
    let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: file("in-" + name)))
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: file("out-" + name)))
    let error = try FileHandle(forWritingTo: URL(fileURLWithPath: file("err-" + name)))
    let child = try Child(
      (script.map { ["-c", $0, program] } ?? []) + arguments,
      program: script == nil ? program : "/bin/bash",
      environment: environment.merging(extra) { $1 },
      streams: .descriptors(
        input: input.fileDescriptor, output: output.fileDescriptor, error: error.fileDescriptor))
    return Running(child: child, home: self, name: name)
  }

  /// A shell with one job: it stops with the job, and continues it where it is continued.
  private static let shell = """
    import os, signal, sys
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(sys.argv[1], sys.argv[1:])
    signal.signal(signal.SIGTSTP, lambda *_: os.killpg(job, signal.SIGTSTP))
    while True:
        status = os.waitpid(job, os.WUNTRACED)[1]
        if not os.WIFSTOPPED(status):
            os._exit(os.waitstatus_to_exitcode(status))
        os.tcsetpgrp(0, os.getpgrp())
        os.kill(os.getpid(), signal.SIGSTOP)
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
    """

  /// Starts it on a terminal: alone, or as a job of a shell that can continue it.
  func start(
    _ arguments: [String], on terminal: Terminal, environment extra: [String: String] = [:],
    inShell: Bool = false
  ) throws -> Screen {
    let child = try Child(
      (inShell ? ["-c", Self.shell, Child.program] : []) + arguments,
      program: inShell ? "/usr/bin/python3" : Child.program,
      environment: environment.merging(extra) { $1 }, streams: .terminal(terminal.path),
      onEnd: terminal.hangUp)
    return Screen(terminal, child)
  }

  /// A run under way.
  struct Running: Sendable {
    let child: Child
    let home: Home
    let name: String

    func outcome() async throws -> Outcome {
      let code = await child.ending.code()
      return Outcome(
        code: code,
        output: Array(try Data(contentsOf: URL(fileURLWithPath: home.file("out-" + name)))),
        error: home.read("err-" + name))
    }
  }
}

/// The screen and keyboard of a person at a terminal.
struct Screen {
  private let terminal: Terminal
  private let child: Child
  private var output: AsyncStream<[UInt8]>.Iterator
  private(set) var transcript = ""
  /// Whether the terminal was as before when it ended.
  private(set) var isRestored = false
  /// How many bytes of what was typed nothing had read when it ended.
  private(set) var unread = 0
  private var unseen = ""

  init(_ terminal: Terminal, _ child: Child) {
    self.terminal = terminal
    self.child = child
    output = terminal.output.makeAsyncIterator()
  }

  /// Waits until `text` is written; what came before it is seen.
  mutating func see(_ text: String) async throws {
    while true {
      if take(text) { return }
      do { try await readMore() } catch {
        let isOver = !Task.isCancelled
        let ending = isOver ? "it ended with \(await child.ending.code())" : "it goes on"
        Issue.record("\"\(text)\" never came and \(ending); the screen:\n\(transcript)")
        throw error
      }
    }
  }

  /// Waits until `text` is written; false where the program ended, or the wait, without it.
  mutating func shows(_ text: String) async -> Bool {
    while true {
      if take(text) { return true }
      // A flood is searched once; a line of ours may be broken in it.
      unseen = String(unseen.suffix(2 * text.count + 1))
      guard (try? await readMore()) != nil else { return false }
    }
  }

  /// Whether `text` is among what was not seen; all before its end is seen then.
  private mutating func take(_ text: String) -> Bool {
    if take(text, from: unseen) { return true }
    // A flood has no such line, and is read faster than it could be joined.
    return unseen.contains("\n  ") && take(text, from: Self.joined(unseen))
  }

  private mutating func take(_ text: String, from shown: String) -> Bool {
    guard let range = shown.range(of: text) else { return false }
    unseen = String(shown[range.upperBound...])
    return true
  }

  /// The transcript with each line of bridgectl's own in one piece, however wide the terminal is.
  var words: String { Self.joined(transcript) }

  /// A terminal that is not raw adds a CR of its own, and a banner erases the rest of its lines.
  private static func joined(_ text: String) -> String {
    text.replacing(
      /(?:\x{1B}\[K)?\r*\n {2}/.matchingSemantics(.unicodeScalar), with: " ")
  }

  /// Waits until more is written.
  mutating func readMore() async throws {
    guard let bytes = await output.next(isolation: #isolation) else { throw CancellationError() }
    let chunk = String(decoding: bytes, as: UTF8.self)
    transcript += chunk
    unseen += chunk
  }

  func type(_ text: String) { terminal.type(text) }

  func signal(_ number: Int32) { child.signal(number) }

  func untilStopped() async { await child.untilStopped() }

  /// Waits for the end; all that was written is in `transcript` after it.
  mutating func end() async -> Int32 {
    let code = await child.ending.code()
    for await end in terminal.restored { (isRestored, unread) = (end.isCooked, end.unread) }
    while let bytes = await output.next(isolation: #isolation) {
      transcript += String(decoding: bytes, as: UTF8.self)
    }
    return code
  }
}

extension SSHServer {
  /// How to reach it, trust it and log in there.
  nonisolated func options(
    _ home: Home, knownHosts: String = "known_hosts", port: Int? = nil
  ) -> [String] {
    [
      "connect", "-p", "\(port ?? self.port)", "-i", identityFile, "--known-hosts",
      home.file(knownHosts),
    ]
  }
}

/// Runs `body` with a real sshd that the home knows, both gone after.
func withServer(
  _ configuration: SSHServerConfiguration = .init(), isKnown: Bool = true,
  _ body: (SSHServer, Home) async throws -> Void
) async throws {
  let home = try Home()
  let server = try await SSHServer(configuration)
  do {
    if isKnown { try home.write(await server.knownHosts, to: "known_hosts") }
    try await body(server, home)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

/// With an interactive shell that has a quiet prompt and is ready.
func withShell(
  _ options: [String] = [], inShell: Bool = false,
  _ body: (SSHServer, Terminal, inout Screen) async throws -> Void
) async throws {
  try await withServer { server, home in
    let terminal = try Terminal()
    var screen = try home.start(
      server.options(home) + options + ["127.0.0.1"], on: terminal, inShell: inShell)
    screen.type("PS1=; stty -echo; echo rea''dy\r")
    try await screen.see("ready\r\n")
    try await body(server, terminal, &screen)
  }
}
