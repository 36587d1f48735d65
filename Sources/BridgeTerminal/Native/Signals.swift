import BridgeTransport
import BridgeWaiting
import Glibc

/// The signals that end or change a session: a handler writes their number into a pipe, and a
/// thread reads it there, so that ordinary code may answer them.
package final class Signals: Sendable {
  /// The meaning of a signal.
  package enum Event: Sendable, Equatable {
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT: end with this exit code.
    case end(Int32)
    /// SIGWINCH.
    case resized
    /// SIGTSTP: the process stops as soon as `stopNow` is called, or in a moment. Where nothing
    /// could continue it, `resumed` comes in its place.
    case stopping
    /// SIGCONT: the process was stopped, and its terminal may have another size.
    case resumed
  }

  /// The received signals, oldest first. One reader.
  package let events: AsyncStream<Event>
  private let sink: AsyncStream<Event>.Continuation
  private static let numbers = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT,
  ]
  /// How long an orderly end may take after a signal asked for it, in milliseconds.
  private static let exitTimeout: Int32 = 2000
  /// Likewise after a person has left: a terminal that takes nothing holds up all that is still to
  /// be written to it.
  private static let leaveTimeout: Int32 = 4000
  /// In the place of a signal's number: a person leaves.
  private static let leaving: UInt8 = 0
  /// Likewise: what was drawn on the terminal is taken back, and the process may stop.
  private static let ready: UInt8 = 255
  /// How long that may take, in milliseconds.
  private static let readyTimeout: Int32 = 300
  /// Signals that come so close together are one wish: timeout(1) sends its own to the process and
  /// to its group, systemd.kill(5) sends SIGTERM and SIGHUP. No person presses a key twice so fast.
  private static let oneWish = Duration.milliseconds(200)
  private static let hasEnding = Mutex(false)
  /// The last signal that asked for the end does not end this process.
  private let isForgiven = Mutex(false)
  /// The exit code of a run that a person has left.
  private let leftWith = Mutex<Int32>(0)
  /// Where the handler writes, and the thread reads.
  private static let wake = Wake()

  /// Writing to a closed pipe, or beyond the largest size of a file, is an error and no signal from
  /// here on.
  package static func ignoreWriteSignals() {
    for number in [SIGPIPE, SIGXFSZ] { _ = signal(number, SIG_IGN) }
  }

  /// Takes the signals, but for those that the parent process ignores (nohup, a job in the
  /// background), and but for all where descriptors have run out. Before that they end the process,
  /// as they do by default: there is nothing to be ended in order.
  private static func take() {
    for number in numbers where LocalEnvironment.hasDescriptors && wake.isOpen && !isIgnored(number)
    {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { Signals.record($0) }
      action.sa_flags = SA_RESTART
      unsafe sigaction(number, &action, nil)
    }
  }

  /// Takes the signals of the process, and starts the thread.
  package init() {
    (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
    Self.take()
    _ = NativeThread.start { [self] in run() }
  }

  /// In the handler: only async-signal-safe calls (signal-safety(7)).
  private static func record(_ number: Int32) {
    let saved = errno
    wake.signal(UInt8(truncatingIfNeeded: number))
    errno = saved
  }

  /// Whether `number` is ignored.
  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    let current = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    let ignored = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
    return current == ignored
  }

  private func run() {
    var ending: Int32?
    var limit = Self.exitTimeout
    var began = ContinuousClock.now
    // It has the keyboard and was continued in the background: it is stopped again, or waits. Not
    // at once: a signal that ends a stopped job comes with the one that continues it, or after.
    var isAway = false
    // A wait is over when the job is continued: the next one is for such a signal.
    var wasStopped = false
    // Waits for `stopNow`.
    var isStopping = false
    while true {
      let timeout =
        isStopping
        ? Self.readyTimeout : isAway ? JobControl.interval : ending == nil ? -1 : limit
      let next = Self.wake.wait(milliseconds: timeout)
      if isStopping, next == nil || next == Self.ready {
        isStopping = false
        TerminalModes.whileRestored { raise(SIGSTOP) }
        continue
      }
      guard let number = next else {
        if isForgiven.withLock({ $0.take() }) {
          ending = nil
          continue
        }
        if let ending { Self.exitAtOnce(ending) }
        isAway = !resume()
        if isAway && !wasStopped { JobControl.stop() }
        wasStopped = isAway && !wasStopped
        continue
      }
      switch Int32(number) {
      case Int32(Self.leaving):
        guard ending == nil else { continue }
        (ending, limit, began) = (leftWith.withLock(\.self), Self.leaveTimeout, .now)
      case SIGWINCH: sink.yield(.resized)
      case Int32(Self.ready): continue
      case SIGTSTP where JobControl.isOrphaned:
        isAway = ending == nil && !resume()
      case SIGTSTP:
        isStopping = ending == nil
        sink.yield(.stopping)
      case SIGCONT:
        isStopping = false
        isAway = ending == nil && !resume()
      case let number:
        if isForgiven.withLock({ $0.take() }) { ending = nil }
        // The second one, or an end that hangs, leaves at once.
        if let ending, ContinuousClock.now - began >= Self.oneWish { Self.exitAtOnce(ending) }
        guard ending == nil else { continue }
        (ending, limit, began) = (128 + number, Self.exitTimeout, .now)
        isAway = false
        Self.hasEnding.withLock { $0 = true }
        sink.yield(.end(128 + number))
      }
    }
  }

  /// False where the job has the keyboard and is in the background.
  private func resume() -> Bool {
    guard TerminalModes.reapply() else { return false }
    TerminalPrompt.askAgain()
    sink.yield(.resumed)
    return true
  }

  /// Goes on: what the last signal asked for was passed on to the program. The next one is the
  /// first again.
  package func goOn() {
    isForgiven.withLock { $0 = true }
    Self.hasEnding.withLock { $0 = false }
  }

  /// A person leaves: the process ends with this code by itself, or where that hangs.
  package func exitSoon(_ code: Int32) {
    leftWith.withLock { $0 = code }
    Self.wake.signal(Self.leaving)
  }

  /// Whether a signal has asked for the end of this process.
  static var isEnding: Bool { hasEnding.withLock(\.self) }

  /// Nothing of ours is on the terminal: what `stopping` has announced may be.
  package func stopNow() { Self.wake.signal(Self.ready) }

  /// Stops this process as Ctrl-Z does a program that reads lines.
  package static func suspend() { kill(getpid(), SIGTSTP) }

  private static let lastWords = Mutex<(@Sendable (_ code: Int32) -> Void)?>(nil)

  /// Has `body` called with the exit code where an end hangs, or a second signal does not wait for
  /// it. It must wait for nothing.
  package static func prepareLastWords(_ body: @escaping @Sendable (_ code: Int32) -> Void) {
    lastWords.withLock { $0 = body }
  }

  /// The end does not hang; whether they were not called.
  package static func takeLastWords() -> Bool { lastWords.withLock { $0.take() } != nil }

  private static func exitAtOnce(_ code: Int32) -> Never {
    lastWords.withLock { $0.take() }?(code)
    exit(code)
  }

  /// Ends the process now, with the terminal as it was.
  package static func exit(_ code: Int32) -> Never {
    TerminalModes.restore()
    _exit(code)
  }
}

extension Bool {
  /// Its value, which is false from now on.
  fileprivate mutating func take() -> Bool {
    defer { self = false }
    return self
  }
}
