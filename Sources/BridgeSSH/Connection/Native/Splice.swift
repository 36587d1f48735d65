import BridgeErrors
import BridgeReactor

/// Carries bytes between two carriers until both directions have ended, each by itself.
///
/// It reads from one side only what the other has taken, so that a slow reader holds back the
/// sender from end to end. On the reactor's thread.
@safe final class Splice: @unchecked Sendable {
  /// What went through, and whether nothing that was read is lost on the way: the host confirms
  /// that with the end of its channel, which it sends when its target has taken all, or no more.
  struct Summary: Sendable, Equatable {
    var sent: UInt64 = 0
    var received: UInt64 = 0
    var isWhole = false
    /// Why the host's channel was ended, where the host broke the rules for output.
    var damage: AppError?
  }

  private struct Direction {
    var pending: [UInt8] = []
    var start = 0
    var count: UInt64 = 0
    var isEnded = false
    var isFinished = false
  }

  /// What is left to do: the local side takes what came from `remote`.
  private struct Drain {
    var isWhole: Bool
    /// How much it had taken, and since when.
    var taken: Int64 = 0
    var since = ContinuousClock.now
    var timer: LoopTimer?
  }

  /// How long what came is kept for a local side that takes nothing of it: with the end of it,
  /// which the kernel delivers after that, or before an error.
  private static let drainLimit = (toEnd: Duration.seconds(60), toError: Duration.seconds(600))
  /// How often it is looked at whether it has taken all.
  private static let drainInterval = Duration.milliseconds(50)
  /// How long a target that takes nothing keeps the channel of a local side that is gone.
  private static let stuckLimit = Duration.seconds(10)
  /// How much one direction carries before others have their turn.
  private static let turnBudget = 256 << 10

  private let local: any Carrier
  private let remote: ChannelCarrier
  private let reactor: Reactor
  /// Set once nothing more goes to `remote`.
  private var drain: Drain?
  private var up = Direction()
  private var down = Direction()
  private var whenOver: ((Summary) -> Void)?
  /// Whether a local side that has ended waits for nothing more: it is the only user of `remote`,
  /// and a target that never ends its side would keep the channel for good.
  private let endsWithLocal: Bool
  /// Runs while the target has not taken all.
  private var stuck: LoopTimer?
  /// Called when nothing more goes to `remote`.
  var whenDelivering: (() -> Void)?

  /// `up` goes to `remote` before what comes from `local`, `down` the other way.
  init(
    _ local: any Carrier, _ remote: ChannelCarrier, up: [UInt8] = [], down: [UInt8] = [],
    endsWithLocal: Bool = false, on reactor: Reactor, whenOver: @escaping (Summary) -> Void
  ) {
    self.endsWithLocal = endsWithLocal
    self.local = local
    self.remote = remote
    self.reactor = reactor
    self.up.pending = up
    self.down.pending = down
    self.whenOver = whenOver
  }

  /// The bytes that went through so far.
  var counts: (sent: UInt64, received: UInt64) { (up.count, down.count) }

  /// Whether nothing more goes to `remote`, and the local side has not taken all that came.
  var isDelivering: Bool { drain != nil }

  /// Begins; false where the sockets cannot be watched.
  func start() -> Bool {
    let isWatched =
      local.start { [weak self] _ in self?.turn() }
      && remote.start { [weak self] _ in self?.turn() }
    if isWatched { turn() }
    return isWatched
  }

  /// Ends both sides at once. What the local side has not taken is left to the kernel, as with ssh;
  /// where nothing is, it sees an error.
  func end() {
    _ = discardInput()
    if !down.isFinished { _ = Self.carry(&down, from: remote, to: local, reactor.scratch) }
    let isWhole = down.isFinished && drain?.isWhole ?? false
    end(isWhole: isWhole, isInOrder: local.unsent ?? 0 > 0)
  }

  private func end(isWhole: Bool, isInOrder: Bool) {
    guard let whenOver = whenOver.take() else { return }
    drain?.timer?.cancel()
    stuck?.cancel()
    if isInOrder { local.close() } else { local.reset() }
    remote.close()
    whenOver(
      Summary(sent: up.count, received: down.count, isWhole: isWhole, damage: remote.damage))
  }

  private func turn() {
    guard whenOver != nil else { return }
    guard drain == nil else { return deliverRest() }
    let scratch = reactor.scratch
    guard Self.carry(&up, from: local, to: remote, scratch),
      Self.carry(&down, from: remote, to: local, scratch)
    else { return finish(isWhole: false) }
    if endsWithLocal {
      guard !up.isFinished || !remote.hasSentAll else {
        return end(isWhole: false, isInOrder: true)
      }
      lookForEnd()
    }
    // A local side that takes nothing hides the end of the channel behind what came before it.
    if remote.isOver, remote.isLost { return finish(isWhole: false) }
    if down.isFinished, remote.isOver {
      // Handed to a channel is not yet sent: its window may be shut. A target that takes no more
      // has closed its end: as with ssh, all that it sent is delivered.
      let isUpSent = up.pending.isEmpty && remote.hasSentAll
      return finish(isWhole: isUpSent)
    }
    // Sent is not yet received: it waits for the end of the channel, as ssh does, however slowly
    // the target reads. The loss of its connection ends that.
    local.watch(for: Self.interest(reading: up, writing: down))
    remote.watch(for: Self.interest(reading: down, writing: up))
  }

  /// What the target does not take hides the end of the local side behind it.
  private func lookForEnd() {
    guard stuck == nil, up.isEnded || !up.pending.isEmpty else { return }
    let taken = remote.acknowledged
    stuck = LoopTimer(after: Self.stuckLimit, on: reactor) { [weak self] in
      guard let self, whenOver != nil else { return }
      stuck = nil
      if local.isHungUp, remote.acknowledged == taken {
        end(isWhole: false, isInOrder: true)
      } else {
        lookForEnd()
      }
    }
  }

  private func finish(isWhole: Bool) {
    if case .failed = local.condition { return end(isWhole: false, isInOrder: false) }
    drain = Drain(isWhole: isWhole)
    whenDelivering?()
    deliverRest()
  }

  /// An error or a close would overtake what came from `remote` before: that is written first, and
  /// taken by the kernel of the local side's peer.
  private func deliverRest() {
    // What the local side sent last is lost.
    if discardInput() { drain?.isWhole = false }
    if !down.isFinished {
      let isCarried = Self.carry(&down, from: remote, to: local, reactor.scratch)
      // The local side takes no more at all.
      if !isCarried, !down.pending.isEmpty { return end(isWhole: false, isInOrder: false) }
    }
    guard let unsent = local.unsent else { return end(isWhole: false, isInOrder: false) }
    let taken = Int64(down.count) - Int64(unsent)
    let now = ContinuousClock.now
    if taken > drain?.taken ?? 0 {
      drain?.taken = taken
      drain?.since = now
    }
    let isDelivered = unsent == 0 && down.pending.isEmpty && (down.isFinished || remote.isAtEnd())
    let limit = down.isFinished ? Self.drainLimit.toEnd : Self.drainLimit.toError
    guard !isDelivered, now < (drain?.since ?? now) + limit else {
      let isInOrder = down.isFinished && (!remote.isLost || !isDelivered)
      return end(isWhole: drain?.isWhole ?? false, isInOrder: isInOrder)
    }
    local.watch(for: down.pending.isEmpty ? [] : .writable)
    remote.watch(for: [])
    drain?.timer = LoopTimer(after: Self.drainInterval, on: reactor) { [weak self] in self?.turn() }
  }

  /// What comes from the local side goes nowhere any more: unread, it would turn a close into an
  /// error, and a peer that only writes would never read. True where there was something.
  private func discardInput() -> Bool {
    var budget = Self.turnBudget
    while budget > 0, case .bytes(let count) = unsafe local.receive(into: reactor.scratch.bytes) {
      budget -= count
    }
    return budget < Self.turnBudget
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
