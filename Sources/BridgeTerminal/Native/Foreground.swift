import BridgeTransport
import BridgeWaiting
import Glibc

/// The process in the foreground of a run that goes to the background: a process with threads
/// cannot fork, so the run is another one from the beginning.
package enum Foreground {
  private static let variable = "BRIDGECTL_DETACH_FD"
  private static let sharing = "BRIDGECTL_SHARES"

  /// The descriptor by which this process says that it is in the background; nil where no other
  /// one waits for that. What it starts does not see the variable.
  package static func takeDescriptor() -> Int32? {
    guard let text = unsafe getenv(variable) else { return nil }
    let descriptor = unsafe Int32(String(cString: text))
    _ = unsafe unsetenv(variable)
    guard let descriptor, descriptor > 2, fcntl(descriptor, F_GETFD) >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    takeName()
    _ = NativeThread.start { endWithForeground(descriptor) }
    return descriptor
  }

  /// Whether this process was started to share its connection in the background. What it starts
  /// does not see the variable.
  package static func takeSharing() -> Bool {
    defer { _ = unsafe unsetenv(sharing) }
    return unsafe getenv(sharing) != nil
  }

  /// Gives this process the name of its program, by which pgrep and top find it: it was started as
  /// `/proc/self/exe`, and is called `exe` therefore.
  private static func takeName() {
    guard let name = LocalEnvironment.arguments.first?.split(separator: "/").last else { return }
    // Of the process, not of the thread that writes it (proc(5)). The kernel cuts it.
    let file = unsafe open("/proc/self/comm", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = DescriptorWriter.writeAll(Array(name.utf8), to: file)
    close(file)
  }

  private static let isDetached = Mutex(false)

  /// Ends this process like SIGTERM where the one in the foreground is gone before this one is in
  /// the background: its pipe has no reader then.
  private static func endWithForeground(_ descriptor: Int32) {
    var wait = pollfd(fd: descriptor, events: 0, revents: 0)
    while unsafe poll(&wait, 1, -1) < 0, errno == EINTR {}
    if !isDetached.withLock(\.self) { kill(getpid(), SIGTERM) }
  }

  /// Starts this program again, and ends with 0 when that is in the background, or as it ended
  /// before.
  package static func run() async -> Never {
    // Before it starts: none may end this process and not that one.
    let signals = Signals()
    guard let (child, source) = start() else { Signals.exit(71) }
    _ = NativeThread.start { Signals.exit(outcome(of: child, source)) }
    for await event in signals.events {
      guard case .end(let code) = event else { continue }
      // Of the terminal's signals it has its own, and ends by them.
      _ = poll(nil, 0, ownEnd)
      kill(child, code - 128)
    }
    Signals.exit(0)
  }

  /// Starts this program again to share its connection; nil when it does that in the background, or
  /// how it ended before. A signal that ends this process ends that one.
  package static func share() async -> Int32? {
    _ = unsafe setenv(sharing, "1", 1)
    let started = start()
    for name in [sharing, variable] { _ = unsafe unsetenv(name) }
    guard let (child, source) = started else { return 71 }
    let code = await NativeThread.result { outcome(of: child, source) }
    close(source)
    return code == 0 ? nil : code ?? 71
  }

  private static func start() -> (child: pid_t, source: Int32)? {
    var pipe: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&pipe) == 0 else { return nil }
    _ = fcntl(pipe[0], F_SETFD, FD_CLOEXEC)
    _ = unsafe setenv(variable, "\(pipe[1])", 1)
    let program = ChildProgram(
      LocalEnvironment.arguments, path: "/proc/self/exe", signals: .inherited)
    let child = try? program.start()
    close(pipe[1])
    guard let child else {
      close(pipe[0])
      return nil
    }
    return (child, pipe[0])
  }

  /// The milliseconds that a run has to end by a signal that came to both processes.
  private static let ownEnd: Int32 = 300

  /// The number of this process.
  package static var processID: Int32 { getpid() }

  /// Says to another process that a terminal which it was passed may have another size.
  package static func sendResize(to process: Int32) {
    if process > 1 { kill(process, SIGWINCH) }
  }

  /// Leaves the terminal's session: its signals.
  package static func leaveSession() { setsid() }

  /// Says by `descriptor` that this process is in the background.
  ///
  /// - Parameter closed: those of standard output and error that it needs no more: a terminal
  ///   or a pipe, whose reader would wait for their end, is left first. A file stays.
  package static func report(to descriptor: Int32, closing closed: [Int32]) {
    isDetached.withLock { $0 = true }
    let nothing = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
    for output in closed where nothing >= 0 && isWaitedFor(output) { dup2(nothing, output) }
    Glibc.close(nothing)
    _ = DescriptorWriter.writeAll([1], to: descriptor)
    close(descriptor)
  }

  private static func isWaitedFor(_ output: Int32) -> Bool {
    var status = stat()
    guard unsafe fstat(output, &status) == 0 else { return false }
    return isatty(output) == 1 || [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  private static func outcome(of child: pid_t, _ source: Int32) -> Int32 {
    var byte: UInt8 = 0
    var count = -1
    repeat { count = unsafe read(source, &byte, 1) } while count < 0 && errno == EINTR
    guard count <= 0 else { return 0 }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }
}
