import BridgeFaults
import Foundation

/// A process that the soak has started, and reaps.
struct SoakProcess: Sendable {
  private let program: PipedProgram

  var pid: Int32 { program.pid }

  /// Starts a program whose output is appended to `log`.
  init(_ path: String, _ arguments: [String], log: String) throws(FaultError) {
    let script = "log=$1; shift; exec \"$@\" </dev/null >>\"$log\" 2>&1"
    program = try PipedProgram(
      "/bin/sh", ["-c", script, "sh", log, path] + arguments, error: .same(1))
  }

  func send(_ signal: Int32) { _ = kill(pid, signal) }

  /// Waits until it ends; whether its status is 0.
  func end() async -> Bool {
    while !hasEnded { await rest(.milliseconds(5)) }
    return program.waitUntilExit()
  }

  /// The same within a limit; false, and it is killed, where it has not ended by then.
  func end(within limit: Duration) async -> Bool {
    let last = ContinuousClock.now + limit
    while !hasEnded, .now < last { await rest(.milliseconds(5)) }
    if !hasEnded { program.kill() }
    return await end()
  }

  /// Whether it waits to be reaped (proc_pid_stat(5): the state follows the name).
  private var hasEnded: Bool {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ") Z"
    return text[(text.lastIndex(of: ")") ?? text.startIndex)...].dropFirst(2).first == "Z"
  }

  /// Runs a program to its end.
  static func run(_ path: String, _ arguments: [String], log: String) async throws(FaultError) {
    guard try await SoakProcess(path, arguments, log: log).end() else {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      throw .notReady(program: path, log: String(text.suffix(2_000)))
    }
  }

  /// What the kernel says of a process in a line of its status (proc_pid_status(5)), in KiB.
  static func kibibytes(_ name: String, of pid: Int32) -> Int {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }
}

/// A PostgreSQL of the soak's own, on a unix socket.
struct SoakDatabase: Sendable {
  private let folder: String
  private let programs: String

  var connection: String { "host=\(folder) user=bridge dbname=postgres" }

  init(in folder: String) async throws {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    guard let version = versions.compactMap(Int.init).max() else {
      throw FaultError.cannotStart(program: "postgres", errno: ENOENT)
    }
    (self.folder, programs) = (folder, "\(root)/\(version)/bin")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if getuid() == 0 {
      try await SoakProcess.run("/bin/chown", ["postgres", folder], log: "/dev/null")
    }
    try await run(
      "initdb",
      [
        "-D", "\(folder)/data", "-U", "bridge", "--auth=trust", "-E", "UTF8", "--locale=C",
        "--no-sync",
      ])
    try await control("start")
  }

  /// `start`, `stop` or `restart`, as a crash does the latter two.
  func control(_ action: String) async throws {
    let options = "-k \(folder) -c listen_addresses='' -c max_connections=100"
    let mode = action == "start" ? [] : ["-m", "immediate"]
    try await run(
      "pg_ctl",
      ["-D", "\(folder)/data", "-l", "\(folder)/log", "-w"] + mode + ["-o", options, action])
  }

  private func run(_ program: String, _ arguments: [String]) async throws {
    // As root it does not run; from a directory that it cannot read neither.
    let words = ["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
    let path = "\(programs)/\(program)"
    let isRoot = getuid() == 0
    try await SoakProcess.run(
      isRoot ? "/usr/bin/setpriv" : path, isRoot ? words + [path] + arguments : arguments,
      log: "\(folder)/../database.log")
  }
}

/// The chat: a process that is killed and started again at the same port, and its record.
actor SoakChat {
  nonisolated let port: Int
  nonisolated let record: String
  private let program: String
  private let log: String
  private var process: SoakProcess?
  private var offset: UInt64 = 0
  private var rest = Data()

  init(in folder: String, port: Int) throws {
    self.port = port
    (record, program, log) = ("\(folder)/chat", "\(folder)/chat.py", "\(folder)/chat.log")
    try Data(AgentScripts.chat.utf8).write(to: URL(filePath: program))
  }

  func start() throws {
    process = try SoakProcess("/usr/bin/python3", [program, "\(port)", record], log: log)
  }

  func kill() async {
    guard let ending = process.take() else { return }
    ending.send(SIGKILL)
    _ = await ending.end()
  }

  /// The messages since the last call. One that was cut in two when the chat was killed has no
  /// acknowledgement and comes again.
  func entries() -> [ChatEntry] {
    guard let file = FileHandle(forReadingAtPath: record) else { return [] }
    defer { try? file.close() }
    guard (try? file.seek(toOffset: offset)) != nil,
      let data = try? file.readToEnd(), !data.isEmpty
    else { return [] }
    offset += UInt64(data.count)
    rest += data
    guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    let text = String(decoding: rest[...end], as: UTF8.self)
    rest = Data(rest[rest.index(after: end)...])
    return text.split(separator: "\n").compactMap { ChatEntry($0) }
  }
}
