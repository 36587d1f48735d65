import BridgeWaiting
import CSessionSystem
import Dispatch
import FoundationEssentials
import Glibc

/// A program that is started as a child process (posix_spawn(3)).
package struct ChildProgram {
  /// The signals with which it begins.
  package enum Signals {
    /// None is blocked, and each does what it does by default.
    case unset
    /// As this process has them: what it ignores is ignored.
    case inherited
  }

  /// Why it could not be started.
  package struct StartFailure: Error {
    /// As the call that failed has it.
    package let errno: Int32

    /// A failure with this `errno`.
    package init(errno: Int32) { self.errno = errno }

    /// The system's words.
    package var words: String { unsafe String(cString: strerror(errno)) }
  }

  /// How a program ended.
  package enum Ending: Sendable, Equatable {
    /// By itself, with this status.
    case exited(Int32)
    /// By this signal.
    case signaled(Int32)
    /// It was killed with all that it had started, for its time was over.
    case overdue
  }

  private let words: [String]
  private let path: String
  private let streams: KeyValuePairs<Int32, Int32>
  private let empty: [Int32]
  private let signals: Signals

  /// A program that is not started.
  ///
  /// - Parameters:
  ///   - words: its name and its arguments.
  ///   - path: its file; nil for its name, which is looked for in PATH.
  ///   - streams: its descriptors, each with the one of this process that it is; the others are
  ///     inherited unless they are close-on-exec.
  ///   - empty: its descriptors that are `/dev/null`.
  package init(
    _ words: [String], path: String? = nil, streams: KeyValuePairs<Int32, Int32> = [:],
    empty: [Int32] = [], signals: Signals = .unset
  ) {
    self.words = words
    self.path = path ?? words.first ?? ""
    self.streams = streams
    self.empty = empty
    self.signals = signals
  }

  /// Starts it; returns its process id, which the caller reaps.
  package func start() throws(StartFailure) -> Int32 { try start(output: nil) }

  /// Likewise, with a descriptor of this process that its standard output is.
  private func start(output: Int32?) throws(StartFailure) -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (its, ours) in streams { unsafe posix_spawn_file_actions_adddup2(&actions, ours, its) }
    if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, 1) }
    for its in empty {
      unsafe posix_spawn_file_actions_addopen(&actions, its, "/dev/null", O_RDWR, 0)
    }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    switch signals {
    case .unset: unsetSignals(in: &attributes)
    case .inherited: break
    }
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var child = pid_t()
    let code = unsafe posix_spawnp(&child, path, &actions, &attributes, &arguments, Glibc.environ)
    guard code == 0 else { throw StartFailure(errno: code) }
    return child
  }

  /// Starts it and waits for its end, at most for `limit`. It blocks.
  package func run(within limit: Duration) throws(StartFailure) -> Ending {
    try Self.wait(for: try start(), within: limit)
  }

  /// Likewise, with what it writes to its standard output until all who have that have closed it;
  /// nil where that is more than `most` bytes.
  package func output(
    within limit: Duration, most: Int
  ) throws(StartFailure) -> (ending: Ending, bytes: [UInt8]?) {
    let end = ContinuousClock.now + limit
    var pipe: [Int32] = [-1, -1]
    guard unsafe bridge_pipe(&pipe) == 0 else { throw StartFailure(errno: errno) }
    defer { close(pipe[0]) }
    let started = Result { () throws(StartFailure) in try start(output: pipe[1]) }
    close(pipe[1])
    let child = try started.get()
    let bytes = Self.read(pipe[0], most: most, until: end)
    // What it still writes is read by none.
    let rest = bytes == nil ? .zero : max(.zero, end - .now)
    return (try Self.wait(for: child, within: rest), bytes)
  }

  /// Reads to the end, or for as long as there is time; nil for more than `most` bytes.
  private static func read(
    _ descriptor: Int32, most: Int, until end: ContinuousClock.Instant
  ) -> [UInt8]? {
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while result.count <= most {
      let rest = Int32(max(0, (end - .now) / .milliseconds(1)).rounded(.up))
      var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&wait, 1, rest)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { return result }
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return result }
      result += chunk[..<count]
    }
    return nil
  }

  /// Waits for the end of a child, at most for `limit`.
  private static func wait(
    for child: Int32, within limit: Duration
  ) throws(StartFailure) -> Ending {
    let status = Mutex(Int32(0))
    let ended = DispatchSemaphore(value: 0)
    // This thread reaps it: until then the number belongs to no other process.
    let isReaped = DetachedThread.start {
      var value: Int32 = 0
      while unsafe waitpid(child, &value, 0) < 0, errno == EINTR {}
      status.withLock { $0 = value }
      ended.signal()
    }
    guard isReaped else {
      killTree(child)
      while waitpid(child, nil, 0) < 0, errno == EINTR {}
      throw StartFailure(errno: EAGAIN)
    }
    let time = DispatchTimeInterval.milliseconds(Int(limit / .milliseconds(1)))
    guard ended.wait(timeout: .now() + time) == .timedOut else {
      let value = status.withLock { $0 }
      return value & 0x7F == 0 ? .exited(value >> 8 & 0xFF) : .signaled(value & 0x7F)
    }
    killTree(child)
    ended.wait()
    return .overdue
  }

  /// Kills a child and what it has started, from the leaves on. Not by its process group: it is in
  /// ours, so that Ctrl-C reaches it and it may ask on the terminal.
  private static func killTree(_ process: Int32, depth: Int = 0) {
    stop(process)
    let path = "/proc/\(process)/task/\(process)/children"
    let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    for child in children.split(separator: " ").compactMap({ Int32($0) }) where depth < 32 {
      killTree(child, depth: depth + 1)
    }
    kill(process, SIGKILL)
  }

  /// Stops a process, which starts no other one then.
  private static func stop(_ process: Int32) {
    kill(process, SIGSTOP)
    for _ in 0..<10_000 {
      let text = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
      // The state follows the name, which is in parentheses (proc(5)).
      let state = text.split(separator: ")").last?.dropFirst().first
      guard let state, "RSD".contains(state) else { return }
      sched_yield()
    }
  }

  private func unsetSignals(in attributes: inout posix_spawnattr_t) {
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    // sigfillset(3) leaves out 32 and 33, the C library's own: posix_spawn(3) of glibc ignores them
    // then.
    _ = unsafe withUnsafeMutableBytes(of: &all) {
      unsafe $0.initializeMemory(as: UInt8.self, repeating: 0xFF)
    }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
  }
}
