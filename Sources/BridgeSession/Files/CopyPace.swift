import BridgeErrors
import BridgeSessionProtocol
import BridgeTransport
import BridgeWaiting

/// How many bytes a second all streams of a run carry together, of whichever sources.
package final class CopyPace: Sendable {
  /// In bytes a second.
  package let rate: UInt64
  /// When the bytes before are carried, in milliseconds of the clock.
  private let due = Mutex(0.0)
  private let clock: SessionClock

  /// A pace of `rate` bytes a second, at least one.
  package init<C: Clock>(
    bytesPerSecond rate: UInt64, clock: C = ContinuousClock()
  ) where C.Duration == Duration {
    self.rate = max(1, rate)
    self.clock = SessionClock(clock)
  }

  /// Waits until `count` bytes more are due.
  ///
  /// - Throws: `cancelled`.
  func wait(for count: Int) async throws(AppError) {
    let delay = delay(of: count, at: clock.now())
    guard delay > 0 else { return }
    await clock.sleep(delay)
    if Task.isCancelled { throw .cancelled }
  }

  /// How many bytes are sent at once: what an eighth of a second carries, so that the rate holds
  /// over short times too, and at least one.
  var piece: Int { max(1, Int(clamping: rate / 8)) }

  /// How long to wait before `count` bytes more, which are due then.
  func delay(of count: Int, at now: Milliseconds) -> Milliseconds {
    due.withLock { due in
      let start = max(due, Double(now))
      due = start + Double(count) * 1000 / Double(rate)
      return Milliseconds(start) - now
    }
  }
}

/// A channel that carries a copy no faster than its pace. Only the direction of the files is held
/// back.
final class PacedChannel: ByteChannel {
  private let channel: any ByteChannel
  private let pace: CopyPace
  private let isPut: Bool
  /// What was read and is not due yet.
  private let rest = Mutex<ArraySlice<UInt8>>([])

  init(_ channel: any ByteChannel, _ pace: CopyPace, isPut: Bool) {
    (self.channel, self.pace, self.isPut) = (channel, pace, isPut)
  }

  /// What is not read is held back by the host.
  func read() async throws(AppError) -> [UInt8]? {
    guard !isPut else { return try await channel.read() }
    if rest.withLock(\.isEmpty) {
      guard let bytes = try await channel.read() else { return nil }
      rest.withLock { $0 = bytes[...] }
    }
    let piece = rest.withLock { rest in
      let piece = Array(rest.prefix(pace.piece))
      rest = rest.dropFirst(piece.count)
      return piece
    }
    try await pace.wait(for: piece.count)
    return piece
  }

  func write(_ bytes: [UInt8]) async throws(AppError) {
    guard isPut else { return try await channel.write(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pace.piece))
      try await pace.wait(for: piece.count)
      try await channel.write(piece)
      rest = rest.dropFirst(piece.count)
    }
  }

  func finish() async throws(AppError) { try await channel.finish() }

  func close() async { await channel.close() }

  func peerAnswers() async -> Bool { await channel.peerAnswers() }

  func ending() async -> ByteChannelEnding { await channel.ending() }
}
