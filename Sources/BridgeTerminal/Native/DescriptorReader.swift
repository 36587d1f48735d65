import BridgeTransport
import BridgeWaiting
import Glibc

/// Reads a descriptor that may block, on a thread of its own, only on request: what is not
/// requested stays where it is, for the next reader.
///
/// The descriptor's flags are left alone (a non-blocking terminal would surprise the shell that
/// shares it). A terminal is read in the foreground only: what is typed while this process is in
/// the background is the shell's.
package final class DescriptorReader: Sendable {
  /// The result of a read.
  package enum Chunk: Sendable {
    case bytes([UInt8])
    /// All was read. A read that failed is no end: what was read may be a part only.
    case end
    /// The task that waited was canceled, or the reader was stopped. Nothing is lost.
    case cancelled
  }

  /// The rest of an answer whose question is gone: it is dropped.
  private struct LostAnswer {
    /// It is over when nothing was typed for so long.
    let quiet: Duration
    /// When something was typed last.
    var newest = ContinuousClock.now
    /// How many bytes were dropped.
    var count = 0
    let onEnd: @Sendable (_ count: Int) -> Void

    /// The bytes that end a line, or leave it: ^C, ^D.
    private static let ends: Set<UInt8> = [3, 4, 10, 13]

    /// Takes what belongs to it from the beginning of `bytes`; false where it is over.
    mutating func take(_ bytes: inout [UInt8], at now: ContinuousClock.Instant) -> Bool {
      guard now - newest < quiet else { return false }
      newest = now
      guard let end = bytes.firstIndex(where: Self.ends.contains) else {
        count += bytes.count
        bytes = []
        return true
      }
      count += end + 1
      bytes.removeFirst(end + 1)
      return false
    }
  }

  private struct State {
    var lostAnswer: LostAnswer?
    var reader: Promise<Chunk>?
    var leftover: [UInt8]?
    var hasEnded = false
    var hasFailed = false
    var isStopped = false
    var isHeld = false
    var isStarted = false
    /// When something was read last.
    var newest: ContinuousClock.Instant?
  }

  private let descriptor: Int32
  private let size: Int
  private let ownsDescriptor: Bool
  private let isTerminal: Bool
  private let onFailure: (@Sendable (_ errno: Int32) -> Void)?
  private let state = Mutex(State())
  private let wake = Wake()

  /// A reader that takes at most `size` bytes at once, and closes the descriptor in the end when it
  /// owns it. A read that fails calls `onFailure` and nothing is read after it; without it a failed
  /// read is the end. A descriptor that is open for writing only is empty.
  package init(
    _ descriptor: Int32, size: Int = 32 << 10, ownsDescriptor: Bool = false,
    onFailure: (@Sendable (_ errno: Int32) -> Void)? = nil
  ) {
    self.descriptor = descriptor
    self.onFailure = onFailure
    isTerminal = isatty(descriptor) == 1
    self.size = size
    self.ownsDescriptor = ownsDescriptor
    let flags = fcntl(descriptor, F_GETFL)
    let isWriteOnly = flags >= 0 && flags & O_ACCMODE == O_WRONLY
    state.withLock { $0.hasEnded = isWriteOnly }
  }

  /// Some bytes, as they come. One reader at a time; a second sends the first away.
  package func read() async -> Chunk {
    let reader = Promise<Chunk>()
    ask(reader)
    return await reader.value { self.dismiss(reader) }
  }

  private func dismiss(_ reader: Promise<Chunk>) {
    let isThere = state.withLock { state in
      guard state.reader === reader else { return false }
      state.reader = nil
      return true
    }
    if isThere { reader.fulfill(.cancelled) }
    wake.signal()
  }

  /// Whether there is something to read now.
  package var hasMore: Bool {
    if state.withLock({ $0.leftover != nil }) { return true }
    var count: Int32 = 0
    return unsafe ioctl(descriptor, UInt(FIONREAD), &count) == 0 && count > 0
  }

  /// Whether a terminal was read: what is typed there belongs to somewhere else already.
  package var isTypedInto: Bool { isTerminal && state.withLock { $0.newest != nil } }

  /// Waits until nothing was typed for `time`, or the task is canceled; at once for what is no
  /// terminal.
  package func untilQuiet(for time: Duration) async {
    guard isTerminal else { return }
    while let newest = state.withLock({ $0.newest }), newest + time > .now {
      guard (try? await ContinuousClock().sleep(until: newest + time)) != nil else { return }
    }
  }

  /// Drops the rest of an answer that a person types, whose question is gone: up to the end of its
  /// line, or until nothing was typed for `quiet`. It is no input. Only of a terminal.
  ///
  /// - Parameter onEnd: called once it is over, where something was dropped.
  package func dropAnswer(quiet: Duration, onEnd: @escaping @Sendable (_ count: Int) -> Void) {
    guard isTerminal else { return }
    state.withLock { $0.lostAnswer = LostAnswer(quiet: quiet, onEnd: onEnd) }
  }

  /// What is input of `bytes`.
  private func withoutLostAnswer(_ bytes: [UInt8]) -> [UInt8] {
    let (rest, ended) = state.withLock { state -> ([UInt8], LostAnswer?) in
      var rest = bytes
      guard state.lostAnswer?.take(&rest, at: .now) == false else { return (rest, nil) }
      return (rest, state.lostAnswer.take())
    }
    if let ended, ended.count > 0 { ended.onEnd(ended.count) }
    return rest
  }

  /// Pauses reading, so that another program can read, or resumes it.
  package func hold(_ isHeld: Bool) {
    state.withLock { $0.isHeld = isHeld }
    wake.signal()
  }

  /// Ends the thread, which closes the descriptor if it is its own.
  package func stop() {
    let (reader, isStarted) = state.withLock { state in
      state.isStopped = true
      return (state.reader.take(), state.isStarted)
    }
    reader?.fulfill(.cancelled)
    if isStarted { wake.signal() } else { giveBack() }
  }

  private func giveBack() {
    if ownsDescriptor { close(descriptor) }
  }

  private func ask(_ reader: Promise<Chunk>) {
    let isCancelled = Task.isCancelled
    let (sentAway, answer, starts) = state.withLock {
      state -> (Promise<Chunk>?, Chunk?, Bool) in
      if isCancelled || state.isStopped || state.hasFailed { return (nil, .cancelled, false) }
      if let bytes = state.leftover.take() { return (nil, .bytes(bytes), false) }
      if state.hasEnded { return (nil, .end, false) }
      let sentAway = state.reader
      state.reader = reader
      defer { state.isStarted = true }
      return (sentAway, nil, !state.isStarted)
    }
    sentAway?.fulfill(.cancelled)
    if let answer {
      reader.fulfill(answer)
      return
    }
    if starts {
      if !NativeThread.start({ [self] in run() }) { finish(.end) }
    } else {
      wake.signal()
    }
  }

  private func run() {
    var buffer = [UInt8](repeating: 0, count: size)
    var wasInBackground = false
    while true {
      let (isWanted, isStopped) = state.withLock { state in
        (state.reader != nil && !state.isHeld, state.isStopped)
      }
      if isStopped { return giveBack() }
      let isReadable = isWanted && isInForeground
      if isReadable && wasInBackground { TerminalModes.reapply() }
      if isWanted { wasInBackground = !isReadable }
      var waits = [
        pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: isReadable ? descriptor : -1, events: Int16(POLLIN), revents: 0),
      ]
      let timeout = isWanted && !isReadable ? JobControl.interval : -1
      guard unsafe poll(&waits, 2, timeout) > 0 else { continue }
      if waits[0].revents != 0 {
        wake.clear()
      } else if waits[1].revents != 0, isInForeground {
        take(into: &buffer)
      }
    }
  }

  private var isInForeground: Bool { !isTerminal || JobControl.isForeground(on: descriptor) }

  private func take(into buffer: inout [UInt8]) {
    let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
    if count > 0 {
      state.withLock { $0.newest = .now }
      let bytes = withoutLostAnswer(Array(buffer[..<count]))
      if !bytes.isEmpty { finish(.bytes(bytes)) }
    } else if count == 0 {
      finish(.end)
    } else if case let errno = errno, errno != EINTR, errno != EAGAIN {
      // It was put into the background meanwhile: the terminal has not ended.
      if errno == EIO, !isInForeground { return }
      fail(errno)
    }
  }

  private func fail(_ errno: Int32) {
    // A terminal that hung up says EIO: nothing more comes from it.
    guard let onFailure, !(isTerminal && errno == EIO) else { return finish(.end) }
    state.withLock { $0.hasFailed = true }
    onFailure(errno)
    finish(.cancelled)
  }

  private func finish(_ chunk: Chunk) {
    let reader = state.withLock { state -> Promise<Chunk>? in
      switch chunk {
      case .end: state.hasEnded = true
      case .bytes(let bytes): if state.reader == nil { state.leftover = bytes }
      case .cancelled: break
      }
      return state.reader.take()
    }
    reader?.fulfill(chunk)
  }
}
