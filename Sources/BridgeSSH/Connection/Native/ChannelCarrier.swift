import BridgeErrors
import BridgeReactor
import BridgeWaiting
import Glibc

/// A channel of another connection as a carrier: what arrives there is read from its mailbox, and
/// what is sent joins its pending writes.
///
/// Both sides are bounded: a mailbox that is not read holds back the channel's window, and pending
/// writes above a limit hold back who writes. Both connections are on one reactor, so that nothing
/// is copied between threads.
@safe final class ChannelCarrier: Carrier, @unchecked Sendable {
  /// Pending writes above this hold back who sends.
  private static let writeLimit = 256 << 10

  let connection: SSHConnection
  private let channel: ChannelState
  let ending: ChannelEnding
  private let isShut = Mutex(false)
  private var rest: ArraySlice<UInt8> = []
  private(set) var condition = SocketCondition.open
  private var ready: ((DescriptorWatcher.Readiness) -> Void)?
  private var interest: DescriptorWatcher.Readiness = []
  private var isTurnQueued = false
  /// `ready` was called because the channel is over.
  private var isEndTold = false
  /// `ready` was called because the end of what this side sends has left.
  private var isFinishTold = false
  private var isClosed = false

  init(_ channel: ChannelState, _ ending: ChannelEnding, of connection: SSHConnection) {
    self.channel = channel
    self.ending = ending
    self.connection = connection
    channel.onTurn = { [weak self] in self?.arm() }
  }

  deinit { close() }

  /// Our number of the channel.
  var number: UInt32 { channel.native.number }
  /// Whether nothing more is read or written.
  var isOver: Bool { channel.isOver }
  /// Whether it ended with its link, and not by the server.
  var isLost: Bool { channel.isLost }
  /// Why it was ended, where its server broke the rules for output.
  var damage: AppError? { channel.damage }
  /// What arrives.
  var output: ByteMailbox { channel.output }

  /// No descriptor: libssh2 only wants it not to be negative.
  var descriptor: Int32 { .max }

  /// What the other end of the channel has taken from its window: sshd opens that again when it
  /// has handed the bytes on.
  var acknowledged: UInt64 { channel.native.taken(of: channel.sent) }

  var unsent: Int? { channel.outgoing.count }

  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
    guard buffer.count > 0 else { return .bytes(0) }
    if isShut.withLock({ $0 }) { return ended(.endOfFile) }
    if rest.isEmpty {
      switch channel.output.poll() {
      case nil: return .wouldBlock
      case .success(let bytes?)?: rest = bytes[...]
      case .success(nil)?: return ended(.endOfFile)
      case .failure?: return ended(.failed(errno: ECONNRESET))
      }
    }
    let count = min(buffer.count, rest.count)
    unsafe rest.withUnsafeBytes { unsafe buffer.copyMemory(from: .init(rebasing: $0[..<count])) }
    rest = rest.dropFirst(count)
    return .bytes(count)
  }

  func send(_ bytes: UnsafeRawBufferPointer) -> Socket.Transfer {
    if channel.isOver || channel.isInputFinished || isClosed {
      return ended(.failed(errno: EPIPE))
    }
    let space = Self.writeLimit - channel.outgoing.count
    guard space > 0 else { return .wouldBlock }
    let count = min(space, bytes.count)
    unsafe channel.outgoing.append(Array(bytes.prefix(count)), id: 0) { _ in }
    connection.assumeIsolated { $0.queueTurn() }
    return .bytes(count)
  }

  func finish() {
    channel.isInputFinished = true
    connection.assumeIsolated { $0.queueTurn() }
  }

  /// Whether nothing that was sent would be lost by closing.
  var hasSentAll: Bool { channel.outgoing.isEmpty && channel.isInputFinished == channel.isEndSent }

  func isAtEnd() -> Bool { rest.isEmpty && channel.output.isAtEnd }

  func acknowledgeAtOnce() {}

  func start(_ ready: @escaping (DescriptorWatcher.Readiness) -> Void) -> Bool {
    self.ready = ready
    return true
  }

  func watch(for interest: DescriptorWatcher.Readiness) {
    self.interest = interest
    arm()
  }

  func stopWatching() { ready = nil }

  func shutDown() { isShut.withLock { $0 = true } }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    ready = nil
    // Not always on the reactor's thread.
    connection.reactor.execute { [connection, native = channel.native] in
      connection.assumeIsolated { $0.letGo(of: native) }
    }
  }

  func reset() { close() }

  private func ended(_ seen: SocketCondition) -> Socket.Transfer {
    if condition == .open { condition = seen }
    return .ended
  }

  private var state: DescriptorWatcher.Readiness {
    var state: DescriptorWatcher.Readiness = []
    if !rest.isEmpty || channel.output.isReadable { state.insert(.readable) }
    if channel.isOver || channel.outgoing.count < Self.writeLimit { state.insert(.writable) }
    return state
  }

  /// What is said once, whatever is watched for.
  private var isNews: Bool {
    channel.isOver && !isEndTold || channel.isEndSent && !isFinishTold
  }

  /// Calls `ready` in the next turn of the loop, if something that is watched for is true.
  private func arm() {
    guard !isTurnQueued, ready != nil, isNews || !interest.isDisjoint(with: state) else { return }
    isTurnQueued = true
    connection.reactor.execute { [weak self] in
      guard let self else { return }
      isTurnQueued = false
      let seen = interest.intersection(state)
      guard let ready, isNews || !seen.isEmpty else { return }
      isEndTold = channel.isOver
      isFinishTold = channel.isEndSent
      ready(seen)
      arm()
    }
  }
}
