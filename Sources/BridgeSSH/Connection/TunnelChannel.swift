import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// A channel to another machine as a byte channel.
struct TunnelChannel: ByteChannel {
  /// Closes the channel when nothing holds it any more.
  let carrier: ChannelCarrier

  func read() async throws(AppError) -> [UInt8]? { try await carrier.output.next() }

  func write(_ bytes: [UInt8]) async throws(AppError) {
    try await carrier.connection.write(bytes, to: carrier.number)
  }

  func finish() async throws(AppError) {
    try await carrier.connection.finishInput(of: carrier.number)
  }

  func close() async { await carrier.connection.closeChannel(carrier.number) }

  func ending() async -> ByteChannelEnding {
    do throws(AppError) {
      _ = try await carrier.ending.wait()
      return .finished(status: nil)
    } catch {
      if error == .cancelled { return .closed }
      return await carrier.connection.linkError.map { .lost($0) } ?? .finished(status: nil)
    }
  }
}
