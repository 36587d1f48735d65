import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// A channel that gives back its place on a connection when it is closed.
final class PooledChannel: ByteChannel {
  private let channel: any ByteChannel
  private let release: Mutex<(@Sendable () -> Void)?>

  init(_ channel: any ByteChannel, release: @escaping @Sendable () -> Void) {
    self.channel = channel
    self.release = Mutex(release)
  }

  deinit { release.withLock { $0.take() }?() }

  func read() async throws(AppError) -> [UInt8]? { try await channel.read() }
  func write(_ bytes: [UInt8]) async throws(AppError) { try await channel.write(bytes) }
  func post(_ bytes: () -> [UInt8]) -> Bool { channel.post(bytes) }
  func finish() async throws(AppError) { try await channel.finish() }
  func ending() async -> ByteChannelEnding { await channel.ending() }
  func peerAnswers() async -> Bool { await channel.peerAnswers() }

  func close() async {
    await channel.close()
    release.withLock { $0.take() }?()
  }
}
