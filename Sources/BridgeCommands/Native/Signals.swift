import BridgeTransport
import Foundation

/// The signals that end or change a session, taken by a thread that waits for them: no code runs in
/// a handler, so all of ours may run.
final class Signals: Sendable {
  /// What a signal means here.
  enum Event: Sendable, Equatable {
    /// SIGINT, SIGTERM or SIGHUP: end with this exit code.
    case end(Int32)
    /// SIGWINCH.
    case resized
    /// SIGCONT after SIGTSTP: the terminal's modes were put back meanwhile.
    case resumed
  }

  /// What came, oldest first. One reader.
  let events: AsyncStream<Event>
  private let sink: AsyncStream<Event>.Continuation
  /// Without those that whoever started us wants ignored (nohup, a job in the background): a
  /// blocked signal comes even so (signal(7)).
  private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP].filter { number in
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return true }
    let current = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    let ignored = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
    return current != ignored
  }
  /// How long an orderly end may take after a signal asked for it.
  private static let patience = timespec(tv_sec: 2, tv_nsec: 0)

  /// Keeps the signals for `Signals`. Call it before any thread starts, because threads inherit
  /// the mask; writing to a closed pipe is an error and no signal from here on.
  static func hold() {
    var set = signalSet
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = signal(SIGPIPE, SIG_IGN)
  }

  /// Starts the thread.
  init() {
    (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    _ = NativeThread.start { [self] in run() }
  }

  private static var signalSet: sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for number in numbers { unsafe sigaddset(&set, number) }
    return set
  }

  private func run() {
    var set = Self.signalSet
    var ending: Int32?
    while true {
      var number: Int32 = 0
      if ending == nil {
        guard unsafe sigwait(&set, &number) == 0 else { continue }
      } else {
        var patience = Self.patience
        number = unsafe sigtimedwait(&set, nil, &patience)
      }
      switch number {
      case SIGWINCH: sink.yield(.resized)
      case SIGTSTP: suspend()
      case SIGINT, SIGTERM, SIGHUP:
        // The second one, or an end that hangs, leaves at once.
        if let ending { Self.leave(ending) }
        ending = 128 + number
        sink.yield(.end(128 + number))
      default:
        if let ending, errno == EAGAIN { Self.leave(ending) }
      }
    }
  }

  private func suspend() {
    TerminalModes.restore()
    raise(SIGSTOP)
    sink.yield(.resumed)
  }

  /// Ends the process now, with the terminal as it was.
  static func leave(_ code: Int32) -> Never {
    TerminalModes.restore()
    _exit(code)
  }
}
