import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import CLibSSH2
import Glibc

/// Our ends of two pipes, one to a child process and one from it.
///
/// Pipes and not sockets, as with OpenSSH: a script that opens /dev/stdin or /dev/stdout by name
/// cannot open a socket. On the reactor's thread; `receive` and `shutDown` also where a helper
/// thread has the session.
@safe final class PipePair: @unchecked Sendable {
  /// The child's ends, which belong to the caller.
  struct Ends {
    var input: Int32
    var output: Int32
  }

  private let reading: Int32
  private var writing: Int32?
  private var isClosed = false
  private let isShut = Mutex(false)
  /// Stays at the first end of file or error.
  private(set) var condition = SocketCondition.open

  /// Two pipes, and the child's ends of them.
  ///
  /// - Throws: the `errno` where the system has none.
  static func make() throws(ChildProgram.StartFailure) -> (PipePair, Ends) {
    let input = try ends()
    let output: (read: Int32, write: Int32)
    do throws(ChildProgram.StartFailure) {
      output = try ends()
    } catch {
      Glibc.close(input.read)
      Glibc.close(input.write)
      throw error
    }
    for descriptor in [input.write, output.read] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    return (
      PipePair(reading: output.read, writing: input.write),
      Ends(input: input.read, output: output.write)
    )
  }

  /// One pipe.
  ///
  /// - Throws: the `errno` where the system has none.
  static func ends() throws(ChildProgram.StartFailure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe bridge_private_pipe(&ends) == 0 else {
      throw ChildProgram.StartFailure(errno: errno)
    }
    return (ends[0], ends[1])
  }

  private init(reading: Int32, writing: Int32) {
    self.reading = reading
    self.writing = writing
  }

  deinit { close() }

  /// What the child's output is read from, and what its input is written to until that is finished.
  var descriptors: (reading: Int32, writing: Int32?) { (reading, writing) }

  /// Bytes that were sent and that the child has not read.
  var unsent: Int? {
    guard let writing, !isClosed else { return nil }
    var count: Int32 = 0
    return unsafe ioctl(writing, UInt(FIONREAD), &count) == 0 ? Int(count) : nil
  }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    guard buffer.count > 0 else { return .bytes(0) }
    guard !isClosed, !isShut.withLock({ $0 }) else { return ended(.endOfFile) }
    while true {
      let count = unsafe read(reading, buffer.baseAddress, buffer.count)
      if count > 0 { return .bytes(count) }
      if count == 0 { return ended(.endOfFile) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      case let code: return ended(.failed(errno: code))
      }
    }
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer {
    guard let writing, !isClosed, !isShut.withLock({ $0 }) else {
      return ended(.failed(errno: EPIPE))
    }
    while true {
      let (count, code) = unsafe Self.write(bytes, to: writing)
      if count >= 0 { return .bytes(count) }
      switch code {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      case _: return ended(.failed(errno: code))
      }
    }
  }

  /// A pipe without a reader raises a signal, which must not end this process.
  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
  ) -> (count: Int, errno: Int32) {
    var pipe = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
    unsafe sigpending(&pending)
    let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
    let count = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    let code = errno
    if count < 0, code == EPIPE, !wasPending {
      var now = timespec()
      unsafe sigtimedwait(&pipe, nil, &now)
    }
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    return (count, code)
  }

  /// Whether the child has ended its output, with nothing left to read.
  func isAtEnd() -> Bool {
    guard !isClosed, condition == .open else { return true }
    var poll = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
    guard unsafe Glibc.poll(&poll, 1, 0) > 0 else { return false }
    return poll.revents & Int16(POLLIN) == 0
  }

  /// Ends the child's input.
  func finish() {
    guard let end = writing.take() else { return }
    Glibc.close(end)
  }

  /// Lets a reader on another thread see the end.
  func shutDown() { isShut.withLock { $0 = true } }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    finish()
    Glibc.close(reading)
  }

  private func ended(_ seen: SocketCondition) -> Socket.Transfer {
    if condition == .open { condition = seen }
    return .ended
  }
}
