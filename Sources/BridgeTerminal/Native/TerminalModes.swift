import BridgeTransport
import BridgeWaiting
import Glibc

/// The modes of the user's terminal: changed in one place, put back on every way out, and in the
/// foreground only (`JobControl`).
///
/// What was there before lies in memory that a signal handler may read, because a crash must not
/// leave a terminal without echo.
@safe package enum TerminalModes {
  /// A terminal mode (termios(3)).
  package enum Mode: Sendable {
    /// Every byte as it is typed; no echo, no signals.
    case raw
    /// Lines, with echo.
    case line
    /// Lines without echo; Ctrl-C works.
    case hidden
  }

  private struct Saved {
    var descriptor: Int32
    var modes: termios
  }

  private struct Wish {
    var mode: Mode?
    /// Where it was first wanted; -1 for nowhere.
    var descriptor: Int32 = -1
  }

  private static let lock = Mutex(Wish())
  private static let memory = Memory()
  /// Set for as long as the terminal differs from what it was.
  private static var saved: UnsafeMutablePointer<Saved> { unsafe memory.saved }

  /// Lives as long as the process.
  @safe private final class Memory: @unchecked Sendable {
    let saved: UnsafeMutablePointer<Saved>

    init() {
      unsafe saved = .allocate(capacity: 1)
      unsafe saved.initialize(to: Saved(descriptor: -1, modes: termios()))
    }
  }

  /// Whether `descriptor` is a terminal.
  package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The size of the terminal at `descriptor`; nil where it has none.
  package static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// The modes of the terminal at `descriptor`, which a remote terminal has too, as in RFC 4254, 8:
  /// opcode (1) and argument (4), in turn. Those from before the first change; empty where it is
  /// none.
  package static func encoded(of descriptor: Int32) -> [UInt8] {
    lock.withLock { _ in
      var modes = termios()
      if unsafe saved.pointee.descriptor == descriptor {
        modes = unsafe saved.pointee.modes
      } else if unsafe tcgetattr(descriptor, &modes) != 0 {
        return []
      }
      let keys = unsafe withUnsafeBytes(of: &modes.c_cc) { unsafe Array($0) }
      var encoded: [UInt8] = []
      for (code, index) in characters {
        let key = keys[Int(index)]
        // _POSIX_VDISABLE is 0 here.
        encoded += [code, 0, 0, 0, key == 0 ? 255 : key]
      }
      for (flags, field) in [
        (inputFlags, modes.c_iflag), (localFlags, modes.c_lflag), (outputFlags, modes.c_oflag),
      ] {
        for (code, flag) in flags {
          encoded += [code, 0, 0, 0, field & tcflag_t(flag) == 0 ? 0 : 1]
        }
      }
      return encoded
    }
  }

  private static let characters: [(UInt8, Int32)] = [
    (1, VINTR), (2, VQUIT), (3, VERASE), (4, VKILL), (5, VEOF), (6, VEOL), (7, VEOL2),
    (8, VSTART), (9, VSTOP), (10, VSUSP), (12, VREPRINT), (13, VWERASE), (14, VLNEXT),
    (18, VDISCARD),
  ]
  private static let inputFlags: [(UInt8, Int32)] = [
    (30, IGNPAR), (31, PARMRK), (32, INPCK), (33, ISTRIP), (34, INLCR), (35, IGNCR), (36, ICRNL),
    (38, IXON), (39, IXANY), (40, IXOFF), (41, IMAXBEL), (42, IUTF8),
  ]
  private static let localFlags: [(UInt8, Int32)] = [
    (50, ISIG), (51, ICANON), (53, ECHO), (54, ECHOE), (55, ECHOK), (56, ECHONL), (57, NOFLSH),
    (58, TOSTOP), (59, IEXTEN), (60, ECHOCTL), (61, ECHOKE),
  ]
  private static let outputFlags: [(UInt8, Int32)] = [
    (70, OPOST), (72, ONLCR), (73, OCRNL), (74, ONOCR), (75, ONLRET),
  ]

  /// The mode that was set; nil where the terminal is unchanged.
  package static var current: Mode? { lock.withLock { $0.mode } }

  /// Changes the terminal at `descriptor`; what it was is kept until `restore`. In the background
  /// the job is stopped, as by tcsetattr(3), and the terminal changes with the next `reapply`.
  ///
  /// - Parameter dropsInput: drops what was typed and not read: it was typed for another mode.
  package static func set(_ mode: Mode, on descriptor: Int32, dropsInput: Bool = false) {
    guard isTerminal(descriptor) else { return }
    if dropsInput, JobControl.isForeground(on: descriptor) { tcflush(descriptor, TCIFLUSH) }
    let isApplied = lock.withLock { wish in
      wish.mode = mode
      if wish.descriptor < 0 { wish.descriptor = descriptor }
      return apply(wish, to: descriptor)
    }
    if !isApplied { JobControl.stop() }
  }

  /// Applies the wish to the terminal at `descriptor`; false in the background, where the shell has
  /// set modes of its own.
  private static func apply(_ wish: Wish, to descriptor: Int32) -> Bool {
    guard JobControl.isForeground(on: descriptor) else { return false }
    var modes = termios()
    guard let mode = wish.mode, unsafe tcgetattr(descriptor, &modes) == 0 else { return true }
    if unsafe saved.pointee.descriptor < 0 {
      unsafe saved.pointee.modes = modes
      unsafe saved.pointee.descriptor = wish.descriptor
    } else {
      modes = unsafe saved.pointee.modes
    }
    change(&modes, to: mode)
    apply(&modes, to: descriptor)
    return true
  }

  /// Runs `stop`, which stops this process, with the terminal as it was before the first change.
  /// The mode in use is kept for `reapply`.
  package static func whileRestored(_ stop: () -> Void) {
    lock.withLock { wish in
      let descriptor = unsafe saved.pointee.descriptor
      if descriptor >= 0 {
        let isOurs = JobControl.isForeground(on: descriptor)
        if wish.mode == .hidden, isOurs { tcflush(descriptor, TCIFLUSH) }
        var modes = unsafe saved.pointee.modes
        apply(&modes, to: descriptor)
      }
      stop()
    }
  }

  /// Sets the mode in use again after this process was stopped or in the background: a shell has
  /// set its own meanwhile. False in the background, where nothing is changed.
  @discardableResult package static func reapply() -> Bool {
    lock.withLock { wish in wish.mode == nil || apply(wish, to: wish.descriptor) }
  }

  private static func change(_ modes: inout termios, to mode: Mode) {
    switch mode {
    case .raw:
      unsafe cfmakeraw(&modes)
    case .line:
      modes.c_lflag |= tcflag_t(ICANON | ISIG | ECHO | ECHOE | ECHOK)
      modes.c_iflag |= tcflag_t(ICRNL)
    case .hidden:
      modes.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK)
      modes.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
      modes.c_iflag |= tcflag_t(ICRNL)
    }
  }

  /// Puts back what was there before the first change. Safe to call again.
  ///
  /// - Parameter isAnswered: where what is typed is hidden, whether that was answered. Else what
  ///   was typed of the answer is discarded: a shell would show it.
  package static func restore(isAnswered: Bool = false) {
    lock.withLock { wish in
      let hasSecret = wish.mode == .hidden && !isAnswered
      wish = Wish()
      let descriptor = unsafe saved.pointee.descriptor
      guard descriptor >= 0 else { return }
      if hasSecret, JobControl.isForeground(on: descriptor) { tcflush(descriptor, TCIFLUSH) }
      var modes = unsafe saved.pointee.modes
      unsafe saved.pointee.descriptor = -1
      apply(&modes, to: descriptor)
    }
  }

  /// Signals of a crash.
  private static let crashes = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGSYS]
  /// The others that end a process by default (signal(7)), but for those that `Signals` answers.
  private static let deadly: [Int32] =
    [SIGUSR1, SIGUSR2, SIGALRM, 16, SIGXCPU, SIGVTALRM, SIGPROF, SIGIO, SIGPWR]
    + Array(__libc_current_sigrtmin()...__libc_current_sigrtmax())

  /// Restores the terminal when a signal ends this process, which it does as before. Only
  /// async-signal-safe calls (signal-safety(7)).
  package static func restoreOnFatalSignals() {
    _ = memory
    for number in crashes + deadly.filter({ !Signals.isIgnored($0) }) {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { number in
        TerminalModes.putBackInHandler()
        raise(number)
      }
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND) | UInt32(SA_NODEFER))
      // From the background tcsetattr would stop the process instead.
      unsafe sigaddset(&action.sa_mask, SIGTTOU)
      unsafe sigaction(number, &action, nil)
    }
  }

  private static func putBackInHandler() {
    let descriptor = unsafe saved.pointee.descriptor
    guard descriptor >= 0, JobControl.isForeground(on: descriptor) else { return }
    // It may be half of a secret.
    tcflush(descriptor, TCIFLUSH)
    unsafe _ = tcsetattr(descriptor, TCSANOW, &saved.pointee.modes)
  }

  /// Not in the background, where the modes are the shell's; the signal by which tcsetattr would
  /// stop the process there (SIGTTOU) is blocked even so, since that can change meanwhile. At once:
  /// a terminal that takes no output would hold up its caller for good.
  private static func apply(_ modes: inout termios, to descriptor: Int32) {
    guard JobControl.isForeground(on: descriptor) else { return }
    var block = sigset_t()
    var old = sigset_t()
    unsafe sigemptyset(&block)
    unsafe sigaddset(&block, SIGTTOU)
    unsafe pthread_sigmask(SIG_BLOCK, &block, &old)
    unsafe tcsetattr(descriptor, TCSANOW, &modes)
    unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
  }
}
