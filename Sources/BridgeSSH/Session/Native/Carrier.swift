import BridgeErrors
import BridgeReactor

/// What carries a stream of bytes each way: a socket of ours, or a channel of another connection.
///
/// On the reactor's thread; `receive` and `shutDown` also where a helper thread has the session.
protocol Carrier: AnyObject {
  /// A number for libssh2, which keeps it and reads and writes by our callbacks.
  var descriptor: Int32 { get }
  /// Stays at the first end of file or error.
  var condition: SocketCondition { get }
  /// Bytes of ours that have left for good, as far as the next machine says so.
  var acknowledged: UInt64 { get }
  /// Bytes that were sent and have not reached the next machine; nil where they never will.
  var unsent: Int? { get }

  /// Takes what has come.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer
  /// Sends as much as the carrier takes now.
  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer
  /// Ends what this side sends, after all that was sent.
  func finish()
  /// Whether the peer has ended or the carrier failed, with nothing left to read. Takes nothing.
  func isAtEnd() -> Bool
  /// Whether nothing goes either way any more, whatever is left to read; false where that cannot be
  /// seen.
  var isHungUp: Bool { get }
  /// Asks for an immediate acknowledgement of what was received.
  func acknowledgeAtOnce()

  /// Calls `ready` from now on when something that is watched for has come true; false where
  /// nothing can be watched.
  func start(_ ready: @escaping (DescriptorWatcher.Readiness) -> Void) -> Bool
  /// From now on, watch for this (level-triggered) and nothing else.
  func watch(for interest: DescriptorWatcher.Readiness)
  /// No call of `ready` comes after this.
  func stopWatching()

  /// Ends both directions, so that a reader on another thread sees the end.
  func shutDown()
  /// Ends it without a word to the peer of what was not sent. Closing twice does nothing.
  func close()
  /// Ends it so that the peer sees an error where that is possible, and not an end of file.
  func reset()
}

/// What a read without waiting came to.
enum Reading {
  case bytes([UInt8])
  case nothing
  case ended
}

extension Carrier {
  /// Cannot be seen.
  var isHungUp: Bool { false }

  /// Takes what has come.
  func read(through scratch: ScratchBuffer) -> Reading {
    switch unsafe receive(into: scratch.bytes) {
    case .bytes(let count): unsafe .bytes(Array(scratch.bytes[..<count]))
    case .wouldBlock: .nothing
    case .ended: .ended
    }
  }

  /// Sends a few bytes that there is space for.
  func sendAll(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    _ = unsafe bytes.withUnsafeBytes { unsafe send($0) }
  }
}

/// A socket with its watcher.
final class SocketCarrier: Carrier {
  private let socket: Socket
  private let reactor: Reactor
  private var watcher: DescriptorWatcher?

  init(_ socket: Socket, on reactor: Reactor) {
    self.socket = socket
    self.reactor = reactor
  }

  deinit { watcher?.close() }

  var descriptor: Int32 { socket.descriptor }
  var condition: SocketCondition { socket.condition }
  var acknowledged: UInt64 { socket.acknowledged }
  var unsent: Int? { socket.unsent }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    unsafe socket.receive(into: buffer)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer { unsafe socket.send(bytes) }

  func finish() { socket.finish() }

  func isAtEnd() -> Bool { socket.isAtEnd() }

  var isHungUp: Bool { socket.isHungUp }

  func acknowledgeAtOnce() { socket.acknowledgeAtOnce() }

  func start(_ ready: @escaping (DescriptorWatcher.Readiness) -> Void) -> Bool {
    watcher = DescriptorWatcher(socket.descriptor, on: reactor, ready: ready)
    return watcher != nil
  }

  func watch(for interest: DescriptorWatcher.Readiness) { watcher?.watch(for: interest) }

  func stopWatching() {
    watcher?.close()
    watcher = nil
  }

  func shutDown() { socket.shutDown() }

  func close() {
    stopWatching()
    socket.shutDown()
    socket.close()
  }

  func reset() {
    stopWatching()
    socket.reset()
  }
}
