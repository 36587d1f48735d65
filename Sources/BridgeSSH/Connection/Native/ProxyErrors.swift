import BridgeWaiting
import Glibc

/// The standard error of a `ProxyCommand`, passed on in lines. Two threads may read it: one as it
/// comes, one when the program has ended.
@safe final class ProxyErrors: Sendable {
  private struct State {
    var line: [UInt8] = []
    /// The last line that says something.
    var lastLine = ""
  }

  /// Longer lines are passed on in parts.
  private static let lineLimit = 1024
  /// One reading takes no more: a process that was left behind may write for ever.
  private static let drainLimit = 64 << 10

  private let descriptor: Int32
  private let pass: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// Reads `descriptor`, the end of a pipe, and closes it.
  init(_ descriptor: Int32, _ pass: @escaping @Sendable (String) -> Void) {
    self.descriptor = descriptor
    self.pass = pass
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// The last line that says something, raw, whether or not a line feed ended it.
  var lastLine: String {
    state.withLock { state in
      let line = String(decoding: state.line, as: UTF8.self)
      return Self.saysSomething(line) ? line : state.lastLine
    }
  }

  /// Whether something came within so many milliseconds.
  func wait(upTo milliseconds: Int32) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe Glibc.poll(&poll, 1, milliseconds) > 0
  }

  /// Passes on what has come; false at its end.
  func drain() -> Bool {
    state.withLock { state in
      var buffer = [UInt8](repeating: 0, count: 4096)
      for _ in 0..<Self.drainLimit / buffer.count {
        let count = unsafe read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        for byte in buffer[..<count] {
          if byte != UInt8(ascii: "\n"), state.line.count < Self.lineLimit {
            state.line.append(byte)
          } else {
            passLine(&state)
            state.line = byte == UInt8(ascii: "\n") ? [] : [byte]
          }
        }
      }
      return true
    }
  }

  /// Passes on the rest, which no line feed ended.
  func finish() {
    state.withLock { state in
      if !state.line.isEmpty { passLine(&state) }
      state.line = []
    }
  }

  private func passLine(_ state: inout State) {
    let line = String(decoding: state.line, as: UTF8.self)
    if Self.saysSomething(line) { state.lastLine = line }
    pass(line)
  }

  private static func saysSomething(_ line: String) -> Bool {
    line.contains { !$0.isWhitespace }
  }
}
