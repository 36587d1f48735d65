import BridgeErrors
import BridgeReactor

/// Carries bytes between two carriers until both directions have ended, each by itself.
///
/// It reads from one side only what the other has taken, so that a slow reader holds back the
/// sender from end to end. On the reactor's thread.
@safe final class Splice: @unchecked Sendable {
  /// What went through, and whether nothing that was read is lost.
  struct Summary: Sendable, Equatable {
    var sent: UInt64 = 0
    var received: UInt64 = 0
    var isWhole = false
  }

  private struct Direction {
    var pending: [UInt8] = []
    var start = 0
    var count: UInt64 = 0
    var isEnded = false
    var isFinished = false
  }

  /// How much one direction carries before others have their turn.
  private static let turnBudget = 256 << 10

  private let local: any Carrier
  private let remote: ChannelCarrier
  private let scratch: ScratchBuffer
  private var up = Direction()
  private var down = Direction()
  private var whenOver: ((Summary) -> Void)?

  /// `up` goes to `remote` before what comes from `local`, `down` the other way.
  init(
    _ local: any Carrier, _ remote: ChannelCarrier, up: [UInt8] = [], down: [UInt8] = [],
    on reactor: Reactor, whenOver: @escaping (Summary) -> Void
  ) {
    self.local = local
    self.remote = remote
    scratch = reactor.scratch
    self.up.pending = up
    self.down.pending = down
    self.whenOver = whenOver
  }

  /// The bytes that went through so far.
  var counts: (sent: UInt64, received: UInt64) { (up.count, down.count) }

  /// Begins; false where the sockets cannot be watched.
  func start() -> Bool {
    let isWatched =
      local.start { [weak self] _ in self?.turn() }
      && remote.start { [weak self] _ in self?.turn() }
    if isWatched { turn() }
    return isWatched
  }

  /// Ends both sides; the local one sees an error unless they ended `isInOrder`.
  func end(isWhole: Bool = false, isInOrder: Bool = false) {
    guard let whenOver = whenOver.take() else { return }
    if isInOrder { local.close() } else { local.reset() }
    remote.close()
    whenOver(Summary(sent: up.count, received: down.count, isWhole: isWhole))
  }

  private func turn() {
    guard whenOver != nil else { return }
    guard Self.carry(&up, from: local, to: remote, scratch),
      Self.carry(&down, from: remote, to: local, scratch)
    else { return end() }
    // Handed to a channel is not yet sent: its window may be shut.
    let isUpSent = up.pending.isEmpty && remote.hasSentAll
    if down.isFinished, (up.isFinished && isUpSent) || remote.isOver {
      // A target that takes no more has closed its end: as with ssh, all that it sent is delivered.
      return end(isWhole: isUpSent, isInOrder: isUpSent || !remote.isLost)
    }
    local.watch(for: Self.interest(reading: up, writing: down))
    remote.watch(for: Self.interest(reading: down, writing: up))
  }

  private static func interest(
    reading: Direction, writing: Direction
  ) -> DescriptorWatcher.Readiness {
    var interest: DescriptorWatcher.Readiness = []
    if !reading.isEnded, reading.pending.isEmpty { interest.insert(.readable) }
    if !writing.pending.isEmpty { interest.insert(.writable) }
    return interest
  }

  /// False when a side has failed.
  private static func carry(
    _ direction: inout Direction, from: any Carrier, to: any Carrier, _ scratch: ScratchBuffer
  ) -> Bool {
    var budget = turnBudget
    while true {
      guard direction.pending.isEmpty else {
        switch write(&direction, to: to) {
        case .bytes: continue
        case .wouldBlock: return true
        case .ended: return false
        }
      }
      if direction.isEnded {
        if !direction.isFinished { to.finish() }
        direction.isFinished = true
        return true
      }
      guard budget > 0 else { return true }
      switch unsafe from.receive(into: scratch.bytes) {
      case .bytes(let count):
        budget -= count
        direction.pending = unsafe Array(scratch.bytes[..<count])
      case .wouldBlock: return true
      case .ended:
        guard from.condition == .endOfFile else { return false }
        direction.isEnded = true
      }
    }
  }

  private static func write(_ direction: inout Direction, to: any Carrier) -> Socket.Transfer {
    let start = direction.start
    let result = unsafe direction.pending.withUnsafeBytes { bytes in
      unsafe to.send(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
    if case .bytes(let count) = result {
      direction.count += UInt64(count)
      direction.start += count
      if direction.start == direction.pending.count {
        (direction.pending, direction.start) = ([], 0)
      }
    }
    return result
  }
}
