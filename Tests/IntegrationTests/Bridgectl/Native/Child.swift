import BridgeFaults
import Foundation
import Testing

/// The real `bridgectl` as a child process, in a session of its own, with a terminal or without.
struct Child: Sendable {
  enum Streams {
    /// Standard streams are these descriptors; there is no controlling terminal.
    case descriptors(input: Int32, output: Int32, error: Int32)
    /// All three are this terminal, which controls it.
    case terminal(String)
  }

  let pid: pid_t
  /// How it ended: its exit code, or 1000 + n after signal n.
  let ending: Ending

  /// Whether it is built with a sanitizer, which maps terabytes for its own use.
  static let isSanitized =
    unsafe dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil

  /// The binary beside the test bundle.
  static let program: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let own = String(decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return URL(fileURLWithPath: own).deletingLastPathComponent().path + "/bridgectl"
  }()

  /// Starts `program`, or `bridgectl`; `onEnd` is called when it has ended, before callers resume.
  init(
    _ arguments: [String], program: String = Self.program, environment: [String: String],
    streams: Streams,
    onEnd: @escaping @Sendable () -> Void = {}
  ) throws {
    let start =
      switch streams {
      case .descriptors(let input, let output, let error):
        ChildStart(
          input: .descriptor(input), output: .descriptor(output), error: .descriptor(error),
          group: .session, environment: environment)
      // The first terminal that a session's leader opens becomes its own.
      case .terminal(let path):
        ChildStart(
          input: .file(path, O_RDWR), output: .same(0), error: .same(0), group: .session,
          environment: environment)
      }
    pid = try start.start(program, arguments)
    ending = Ending(of: pid, onEnd)
  }

  func signal(_ number: Int32) { kill(pid, number) }

  /// Waits until it is stopped (SIGSTOP and its kin); its end can still be waited for.
  func untilStopped() async {
    await withCheckedContinuation { (stopped: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread { [pid] in
        var info = unsafe siginfo_t()
        let flags = Int32(WSTOPPED | WNOWAIT)
        while unsafe waitid(P_PID, id_t(pid), &info, flags) < 0, errno == EINTR {}
        stopped.resume()
      }
    }
  }

  /// Waits for a child on a thread of its own, once.
  final class Ending: Sendable {
    private let value: AsyncStream<Int32>

    fileprivate init(of child: pid_t, _ onEnd: @escaping @Sendable () -> Void) {
      let (stream, sink) = AsyncStream.makeStream(of: Int32.self)
      value = stream
      Thread.detachNewThread {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        onEnd()
        let number = status & 0x7F
        sink.yield(number == 0 ? status >> 8 & 0xFF : 1000 + number)
        sink.finish()
      }
    }

    func code() async -> Int32 {
      for await code in value { return code }
      return -1
    }
  }
}

/// A pseudo-terminal: what is typed into it, and what a screen would show.
final class Terminal: Sendable {
  let master: Int32
  let path: String
  /// What was written to it, as it came; it ends with the program.
  let output: AsyncStream<[UInt8]>
  /// Whether it was as before when the program ended, and what was typed that nothing has read.
  let restored: AsyncStream<(isCooked: Bool, unread: Int)>

  init(columns: UInt16 = 80, rows: UInt16 = 24) throws {
    // What posix_openpt(3), unlockpt(3) and ptsname(3) do: Swift's Glibc does not have them.
    master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var unlocked: Int32 = 0
    var number: UInt32 = 0
    let isReady =
      unsafe ioctl(master, Self.setLock, &unlocked) == 0
      && ioctl(master, Self.getNumber, &number) == 0
    try #require(isReady)
    path = "/dev/pts/\(number)"
    let (stream, sink) = AsyncStream.makeStream(of: [UInt8].self)
    output = stream
    (restored, result) = AsyncStream.makeStream()
    // Held open, so that it does not hang up before the child has it, nor forgets its modes.
    slave = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    resize(columns: columns, rows: rows)
    Thread.detachNewThread {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = unsafe read(self.master, &buffer, buffer.count)
        if count <= 0 { break }
        sink.yield(Array(buffer[..<count]))
      }
      sink.finish()
    }
  }

  deinit { close(master) }

  private let slave: Int32
  private let result: AsyncStream<(isCooked: Bool, unread: Int)>.Continuation
  /// TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)).
  private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

  /// Ends `output` once all was read: the program is gone.
  func hangUp() {
    result.yield((isCooked, unread))
    result.finish()
    close(slave)
  }

  /// It takes no more output, as after Ctrl-S.
  func stopOutput() { tcflow(slave, TCOOFF) }

  /// As after Ctrl-Q.
  func resumeOutput() { tcflow(slave, TCOON) }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe write(master, bytes, bytes.count)
  }

  func resize(columns: UInt16, rows: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  /// Sets the modes of a line that shows what is typed, as a shell does whose job was stopped.
  func cook() {
    var modes = termios()
    _ = unsafe tcgetattr(master, &modes)
    modes.c_lflag |= tcflag_t(ECHO | ICANON | ISIG)
    modes.c_oflag |= tcflag_t(OPOST)
    _ = unsafe tcsetattr(master, TCSANOW, &modes)
  }

  /// How many bytes were typed that no program has read, whether or not they end a line.
  private var unread: Int {
    var modes = termios()
    _ = unsafe tcgetattr(slave, &modes)
    unsafe cfmakeraw(&modes)
    _ = unsafe tcsetattr(slave, TCSANOW, &modes)
    var count: Int32 = 0
    _ = unsafe ioctl(slave, UInt(FIONREAD), &count)
    return Int(count)
  }

  /// The local modes that a raw terminal lacks: echo, lines, signals.
  var isCooked: Bool {
    var modes = termios()
    guard unsafe tcgetattr(master, &modes) == 0 else { return false }
    let wanted = tcflag_t(ECHO | ICANON | ISIG)
    return modes.c_lflag & wanted == wanted && modes.c_oflag & tcflag_t(OPOST) != 0
  }
}
