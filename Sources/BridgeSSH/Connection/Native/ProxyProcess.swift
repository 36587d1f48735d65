import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import Glibc

/// A child process for a `ProxyCommand`: started once, reaped once, never signaled after that.
@safe final class ProxyProcess: @unchecked Sendable {
  private struct State {
    var status: Int32?
    var isEnding = false
    var whenReaped: (@Sendable () -> Void)?
  }

  /// One thread for each process that runs and one for its standard error.
  private static let waiting = BlockingThreads(name: "bridge-proxy", limit: 256)
  /// The time between asking it to end and killing it.
  private static let killDelay = Duration.seconds(1)

  /// Our ends of its standard input and output.
  let streams: PipePair
  private let process: pid_t
  private let reactor: Reactor
  private let state = Mutex(State())
  private let errors: ProxyErrors
  private var killing: LoopTimer?

  /// Starts `command`.
  init(_ command: ProxyCommand, on reactor: Reactor) throws(ChildProgram.StartFailure) {
    let (streams, ends) = try PipePair.make()
    let errors: (read: Int32, write: Int32)
    do throws(ChildProgram.StartFailure) {
      errors = try PipePair.ends()
    } catch {
      close(ends.input)
      close(ends.output)
      throw error
    }
    defer { for end in [ends.input, ends.output, errors.write] { close(end) } }
    do throws(ChildProgram.StartFailure) {
      process = try ChildProgram(
        [command.shell, "-c", "exec " + command.line],
        streams: [0: ends.input, 1: ends.output, 2: errors.write]
      ).start()
    } catch {
      close(errors.read)
      throw error
    }
    self.streams = streams
    self.reactor = reactor
    self.errors = ProxyErrors(errors.read, command.standardError)
    Self.waiting.start { [self] in reap() }
    Self.waiting.start { [self] in readErrors() }
  }

  /// Whether it runs no more.
  var hasEnded: Bool { state.withLock { $0.status != nil } }

  /// How it ended and what it wrote last, as the end of a sentence; nil while it runs.
  var ending: String? {
    state.withLock { $0.status }.map { status in
      let line = errors.lastLine
      let signal = status & 0x7F
      let end =
        signal == 0
        ? "the ProxyCommand ended with status \(status >> 8 & 0xFF)"
        : "signal \(signal) ended the ProxyCommand"
      return line.isEmpty ? end : "\(end): \(line)"
    }
  }

  /// Calls `body` when it has ended.
  func whenReaped(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.status == nil { state.whenReaped = body }
      return state.status != nil
    }
    if isOver { body() }
  }

  /// Asks it to end, as OpenSSH does, and kills it a second later.
  func end() {
    state.withLock { state in
      guard state.status == nil, !state.isEnding else { return }
      state.isEnding = true
      kill(process, SIGHUP)
    }
    reactor.execute { [self] in
      guard !hasEnded else { return }
      killing = LoopTimer(after: Self.killDelay, on: reactor) { [self] in
        signal(SIGKILL)
        killing = nil
      }
    }
  }

  private func signal(_ number: Int32) {
    state.withLock { state in
      if state.status == nil { kill(process, number) }
    }
  }

  private func reap() {
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(process), &info, Int32(WEXITED | WNOWAIT)) < 0, errno == EINTR {
    }
    // Its last words are known by the time its end is.
    _ = errors.drain()
    let whenReaped = state.withLock { state in
      var status: Int32 = 0
      while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
      state.status = status
      return state.whenReaped.take()
    }
    whenReaped?()
    reactor.execute { [self] in
      killing?.cancel()
      killing = nil
    }
  }

  /// What it writes is passed on until it has ended and nothing more comes: a process that it left
  /// behind may keep the pipe.
  private func readErrors() {
    while errors.wait(upTo: 200) || !hasEnded {
      guard errors.drain() else { break }
    }
    errors.finish()
  }
}

/// A child process as a carrier. Its end of file is held back until it is known how it ended, if
/// that is soon.
@safe final class ProxyCarrier: Carrier, @unchecked Sendable {
  /// How long an end of file waits for the process's end.
  private static let grace = Duration.seconds(1)

  let process: ProxyProcess
  private let reactor: Reactor
  private var reader: DescriptorWatcher?
  private var writer: DescriptorWatcher?
  private var ready: ((DescriptorWatcher.Readiness) -> Void)?
  private var interest: DescriptorWatcher.Readiness = []
  private var isHolding = false
  private var isReleased = false
  private var timer: LoopTimer?

  init(_ process: ProxyProcess, on reactor: Reactor) {
    self.process = process
    self.reactor = reactor
  }

  deinit { process.end() }

  private var streams: PipePair { process.streams }
  var descriptor: Int32 { streams.descriptors.reading }
  var condition: SocketCondition { isHolding ? .open : streams.condition }
  var acknowledged: UInt64 { 0 }
  var unsent: Int? { streams.unsent }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    let result = unsafe streams.receive(into: buffer)
    guard result == .ended, !isReleased, !process.hasEnded else { return result }
    hold()
    return .wouldBlock
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer { unsafe streams.send(bytes) }

  func finish() {
    writer?.close()
    writer = nil
    streams.finish()
  }

  func isAtEnd() -> Bool { streams.isAtEnd() }

  func acknowledgeAtOnce() {}

  func start(_ ready: @escaping (DescriptorWatcher.Readiness) -> Void) -> Bool {
    self.ready = ready
    let (reading, writing) = streams.descriptors
    reader = DescriptorWatcher(reading, on: reactor) { [weak self] _ in self?.ready?(.readable) }
    writer = writing.flatMap {
      DescriptorWatcher($0, on: reactor) { [weak self] _ in self?.ready?(.writable) }
    }
    return reader != nil && writer != nil
  }

  func watch(for interest: DescriptorWatcher.Readiness) {
    self.interest = interest
    reader?.watch(for: isHolding ? [] : interest.intersection(.readable))
    writer?.watch(for: interest.intersection(.writable))
  }

  func stopWatching() {
    reader?.close()
    writer?.close()
    (reader, writer) = (nil, nil)
    ready = nil
    timer?.cancel()
    timer = nil
  }

  func shutDown() { streams.shutDown() }

  func close() {
    stopWatching()
    streams.close()
    process.end()
  }

  func reset() { close() }

  private func hold() {
    guard !isHolding else { return }
    isHolding = true
    // A helper thread may be the reader.
    reactor.execute { [weak self] in
      guard let self, isHolding else { return }
      timer = LoopTimer(after: Self.grace, on: reactor) { [weak self] in self?.letGo() }
      process.whenReaped { [weak self, reactor] in
        reactor.execute { [weak self] in self?.letGo() }
      }
    }
  }

  private func letGo() {
    guard isHolding else { return }
    isHolding = false
    isReleased = true
    timer?.cancel()
    timer = nil
    watch(for: interest)
    ready?(.readable)
  }
}
