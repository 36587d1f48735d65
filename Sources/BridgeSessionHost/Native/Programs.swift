import CSessionSystem
import Glibc

/// Child processes and signals.
enum Programs {
  /// Starts a program as leader of a session of its own.
  ///
  /// - Parameters:
  ///   - terminal: the device that becomes its controlling terminal and descriptors 0 to 2.
  ///   - descriptors: become its descriptors 0, 1, … and are all that it inherits.
  /// - Throws: also when the program could not be executed: then no process is left.
  static func spawn(
    _ path: String, _ arguments: [[UInt8]], environment: [[UInt8]], directory: [CChar]? = nil,
    terminal: String? = nil, descriptors: [Int32] = []
  ) throws(SystemError) -> Int32 {
    var process: pid_t = 0
    let code = unsafe withWords(arguments, environment) { argv, envp in
      unsafe bridge_spawn(
        &process, path, argv, envp, directory, terminal, descriptors, Int32(descriptors.count))
    }
    guard code == 0 else { throw SystemError("exec \(path)", code) }
    return process
  }

  /// Starts a program as leader of a session of its own, which is no child of this process.
  ///
  /// - Throws: also when the program could not be executed: then no process is left.
  static func spawnApart(
    _ path: String, _ arguments: [[UInt8]], environment: [[UInt8]], directory: String,
    descriptors: [Int32]
  ) throws(SystemError) {
    let code = unsafe withWords(arguments, environment) { argv, envp in
      unsafe bridge_spawn_apart(
        path, argv, envp, directory, descriptors, Int32(descriptors.count))
    }
    guard code == 0 else { throw SystemError("exec \(path)", code) }
  }

  private typealias Words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  private static func withWords(
    _ arguments: [[UInt8]], _ environment: [[UInt8]], _ body: (Words, Words) -> Int32
  ) -> Int32 {
    var argv = unsafe arguments.map { unsafe copy($0) } + [nil]
    var envp = unsafe environment.map { unsafe copy($0) } + [nil]
    defer {
      unsafe argv.forEach { unsafe free($0) }
      unsafe envp.forEach { unsafe free($0) }
    }
    return unsafe body(&argv, &envp)
  }

  private static func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? {
    unsafe (bytes + [0]).withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { return nil }
      return unsafe strdup(base.assumingMemoryBound(to: CChar.self))
    }
  }

  /// A process that ended: its id and wait status.
  struct Ended {
    var process: Int32
    var status: Int32

    var exitStatus: UInt8? { status & 0x7F == 0 ? UInt8((status >> 8) & 0xFF) : nil }
    var signal: UInt8 { UInt8(status & 0x7F) }
    var dumpedCore: Bool { status & 0x80 != 0 }
  }

  /// Reaps one child that ended; nil when none has.
  static func reap() -> Ended? {
    var status: Int32 = 0
    let process = unsafe waitpid(-1, &status, WNOHANG)
    return process > 0 ? Ended(process: process, status: status) : nil
  }

  /// Signals a process group; false when there is none.
  @discardableResult
  static func signalGroup(_ group: Int32, _ number: Int32) -> Bool {
    group > 1 && kill(-group, number) == 0
  }

  /// Signals a descendant.
  static func signal(process: Int32, _ number: Int32) {
    if process > 1 { kill(process, number) }
  }

  /// What a keeper changes of itself: adopts orphans, ignores what ends others at a logout, and
  /// receives ended children through the descriptor it returns.
  static func detach() throws(SystemError) -> Descriptor {
    for number in [SIGHUP, SIGPIPE, SIGINT, SIGQUIT, SIGTERM] { bridge_ignore(number) }
    _ = bridge_become_subreaper()
    _ = unsafe chdir("/")
    return Descriptor(try check("signalfd") { bridge_child_signals() })
  }

  /// A limit of the login that is reached is an error of a call, and not the end of this process.
  static func survivesLimits() { for number in [SIGXFSZ, SIGXCPU] { bridge_ignore(number) } }

  /// Raises what may be raised of the limits that a login gave this process: they are for its
  /// program, which has them already.
  static func raiseLimits() {
    for resource in [RLIMIT_FSIZE, RLIMIT_CPU] { bridge_raise_limit(Int32(resource.rawValue)) }
  }

  /// Signals a keeper to check its socket.
  static let socketSignal = SIGUSR1

  /// The signals that were delivered to a descriptor of `detach`.
  static func signals(from descriptor: Descriptor) -> [Int32] {
    let length = MemoryLayout<signalfd_siginfo>.size
    guard case .bytes(let bytes) = Channel(descriptor, .own).read(8 * length) else {
      return []
    }
    // The number is the first field, and below 128.
    return stride(from: 0, to: bytes.count, by: length).map { Int32(bytes[$0]) }
  }

  static var ownProcess: Int32 { getpid() }

  /// Whether a process that started at this time runs; nil where that cannot be found out.
  static func runs(process: UInt64, startedAt start: UInt64) -> Bool? {
    guard let process = Int32(exactly: process), process > 1 else { return false }
    if kill(process, 0) != 0, errno == ESRCH { return false }
    guard let fields = fields(of: process), fields.count > 20 else { return nil }
    return UInt64(fields[20]) == start && fields[1] != "Z"
  }

  /// What came of a signal to one process.
  enum Delivery: Equatable {
    case sent
    /// The process has ended.
    case gone
    /// It runs, and may not be signaled.
    case refused
  }

  /// Signals a process that started at this time. Kernels before 5.3 and some containers have no
  /// descriptors of processes: there its number might become another's between the look and the
  /// call.
  static func signal(process: UInt64, startedAt start: UInt64, _ number: Int32) -> Delivery {
    guard let process = Int32(exactly: process), process > 1 else { return .gone }
    let opened = bridge_open_process(process)
    if opened < 0, errno == ESRCH { return .gone }
    let descriptor = opened >= 0 ? Descriptor(opened) : nil
    guard startTime(of: process) == start else { return .gone }
    if let descriptor, bridge_signal_process(descriptor.number, number) == 0 { return .sent }
    guard kill(process, number) != 0 else { return .sent }
    return errno == ESRCH ? .gone : .refused
  }

  /// Ends other processes that run a verb of this program with an argument, and waits for their
  /// ends: what a lost link has left here must not write beside what comes after it.
  static func endOthers(running verb: String, _ argument: String) {
    _ = endOthers(running: verb) { commandLine(of: $0).contains(argument) }
  }

  /// Ends other processes that run a verb of this program and are among those that are meant, and
  /// waits for their ends; false where there was none.
  static func endOthers(running verb: String, where isMeant: (Int32) -> Bool) -> Bool {
    guard let folder = try? Directory("/proc") else { return false }
    var found = false
    for process in folder.names().compactMap({ Int32($0) }) where process != getpid() {
      // Read before: the number is that of no other process then.
      guard let start = startTime(of: process) else { continue }
      let words = commandLine(of: process)
      guard words.first?.hasSuffix("bridge-host") == true, words.dropFirst().first == verb,
        isMeant(process), signal(process: UInt64(process), startedAt: start, SIGKILL) == .sent
      else { continue }
      let end = Machine.milliseconds + endLimit
      while runs(process: UInt64(process), startedAt: start) == true, Machine.milliseconds < end {
        Poller.pause(1)
      }
      found = true
    }
    return found
  }

  /// Paths of a user begin in the home directory.
  static func enterHome() {
    if let home { _ = unsafe chdir(home) }
  }

  /// How long a process that was killed may take to end, in milliseconds.
  private static let endLimit: UInt64 = 5000

  private static func commandLine(of process: Int32) -> [String] {
    let folder = try? Directory("/proc/\(process)")
    let bytes = try? folder?.open("cmdline", O_RDONLY).read(at: 0, count: 4096)
    return (bytes ?? []).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// What a program prints, at most 64 KiB; nil where it fails, or takes longer than `limit`
  /// milliseconds.
  static func output(of path: String, _ arguments: [String], within limit: UInt64) -> String? {
    guard let pipe = try? Pipe(), let null = try? Directory("/dev").open("null", O_RDWR),
      let process = try? spawn(
        path, arguments.map { Array($0.utf8) }, environment: environment,
        descriptors: [null.number, pipe.writer.number, null.number])
    else { return nil }
    pipe.writer.closeNow()
    let end = Machine.milliseconds + limit
    var bytes: [UInt8] = []
    while bytes.count < 64 << 10 {
      let now = Machine.milliseconds
      let isReady = now < end && Poller.isReadable(pipe.reader.number, within: end - now)
      guard isReady, let more = Machine.readSome(from: pipe.reader.number) else { break }
      bytes += more
    }
    // It has closed its output, or is not waited for.
    if Machine.milliseconds >= end { kill(process, SIGKILL) }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Where a program is in PATH.
  static func find(_ name: String) -> String? {
    let folders = (variable("PATH") ?? "/usr/bin:/bin").split(separator: ":")
    return folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { unsafe access($0, X_OK) == 0 }
  }

  /// Whether a program may begin in a directory: it need not be allowed to list it.
  static func mayEnter(_ path: [CChar]) -> Bool {
    var status = stat()
    guard unsafe fstatat(AT_FDCWD, path, &status, 0) == 0, FileInfo(status).isDirectory else {
      return false
    }
    return unsafe faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0
  }

  /// The file that this process runs; nil where it was removed.
  static var ownFile: String? {
    guard let path = Directory.target(of: "/proc/self/exe"), unsafe access(path, X_OK) == 0 else {
      return nil
    }
    return path
  }

  static func ignoreBrokenPipes() { bridge_ignore(SIGPIPE) }

  static var environment: [[UInt8]] {
    var variables: [[UInt8]] = []
    guard var pointer = unsafe bridge_environment() else { return [] }
    while let entry = unsafe pointer.pointee {
      // Not as text: a value need not be UTF-8.
      let bytes = unsafe UnsafeRawBufferPointer(start: entry, count: strlen(entry))
      unsafe variables.append(Array(bytes))
      unsafe pointer += 1
    }
    return variables
  }

  static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// The path of the home directory with its zero byte, which need not be UTF-8; nil where the
  /// login has none.
  static var home: [CChar]? {
    unsafe getenv("HOME").map { home in
      unsafe Array(UnsafeBufferPointer(start: home, count: strlen(home) + 1))
    }
  }

  /// The socket of the ssh-agent of this login; nil for none.
  static var agent: String? { variable("SSH_AUTH_SOCK").flatMap { $0.hasPrefix("/") ? $0 : nil } }

  static var user: UInt32 { geteuid() }

  /// The time a process started, in clock ticks since boot: with its id and the boot id it names
  /// the process for good (proc(5), stat, field 22).
  static func startTime(of process: Int32) -> UInt64? {
    guard let fields = fields(of: process), fields.count > 20 else { return nil }
    return UInt64(fields[20])
  }

  /// What proc(5) has in `stat` from the name on: `)`, state, parent, group, session and so on.
  static func fields(of process: Int32) -> [Substring]? {
    guard let folder = try? Directory("/proc/\(process)"),
      let bytes = try? folder.open("stat", O_RDONLY).read(at: 0, count: 1024)
    else { return nil }
    // The name in parentheses may contain anything.
    let text = String(decoding: bytes, as: UTF8.self)
    guard let close = text.lastIndex(of: ")") else { return nil }
    return text[close...].split(separator: " ")
  }
}

extension SessionSignalNumber {
  static let all: [String: Int32] = [
    "HUP": SIGHUP, "INT": SIGINT, "QUIT": SIGQUIT, "KILL": SIGKILL, "USR1": SIGUSR1,
    "USR2": SIGUSR2, "ALRM": SIGALRM, "TERM": SIGTERM, "CONT": SIGCONT, "STOP": SIGSTOP,
    "TSTP": SIGTSTP,
  ]
}

/// Signals of the protocol by this machine's numbers.
enum SessionSignalNumber {
  /// The number of a signal's name.
  static func number(_ name: String) -> Int32 { all[name] ?? 0 }
}
