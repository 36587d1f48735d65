import BridgeSessionProtocol
import BridgeTransport

/// The time that a session sees: milliseconds since it was made, and waits.
struct SessionClock: Sendable {
  let now: @Sendable () -> Milliseconds
  /// Returns early when the task is canceled.
  let sleep: @Sendable (Milliseconds) async -> Void

  init<C: Clock>(_ clock: C) where C.Duration == Duration {
    let origin = clock.now
    now = {
      let (seconds, attoseconds) = origin.duration(to: clock.now).components
      return Milliseconds(max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000))
    }
    sleep = { try? await clock.sleep(for: .milliseconds(Int64(clamping: $0))) }
  }
}

extension ByteChannel {
  /// Returns when the host has had so much time, early in a canceled task. The time in which the
  /// link is silent does not count: it says nothing of the host.
  func hostHasHad(_ limit: Milliseconds, _ clock: SessionClock) async {
    repeat {
      await clock.sleep(limit)
      guard !Task.isCancelled else { return }
    } while await waitsForPeer(clock)
  }

  /// Returns whether the peer did not answer at once; waits until it does.
  func waitsForPeer(_ clock: SessionClock) async -> Bool {
    var hasWaited = false
    while !Task.isCancelled, await !peerAnswers() {
      hasWaited = true
      await clock.sleep(1000)
    }
    return hasWaited
  }

  /// The reason why it ended, once its bytes have. It does not wait for a peer that reports none:
  /// a program whose output a start-up file has redirected may wait for input. It is closed for a
  /// caller that is canceled, as by a lost link: nothing is known of the program.
  func ending(_ clock: SessionClock) async -> ByteChannelEnding {
    await withTaskGroup(of: ByteChannelEnding.self) { group in
      group.addTask { await self.ending() }
      group.addTask {
        await clock.sleep(5000)
        // On a link that is silent the end may be on its way, or that of the link.
        _ = await self.waitsForPeer(clock)
        return Task.isCancelled ? .closed : .finished(status: nil)
      }
      defer { group.cancelAll() }
      return await group.next() ?? .closed
    }
  }
}

/// How often an attachment may end without having brought anything. A link that was lost is the
/// business of the caller that retries; a host whose program ends again and again is not attached
/// to forever.
struct AttachProgress: Sendable, Equatable {
  /// Ends in a row without anything new.
  static let limit = 5

  private(set) var fruitless = 0
  private var received: UInt64 = 0
  private var taken: UInt64 = 0

  /// An attachment ended here; false when another one is pointless.
  mutating func ended(received: UInt64, taken: UInt64, linkWasLost: Bool) -> Bool {
    let isProgress = received > self.received || taken > self.taken
    (self.received, self.taken) = (received, taken)
    fruitless = isProgress || linkWasLost ? 0 : fruitless + 1
    return fruitless < Self.limit
  }
}
