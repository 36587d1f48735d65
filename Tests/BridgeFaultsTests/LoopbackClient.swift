import NIOCore
import NIOPosix

/// A plain client: sends bytes and tells what came back and how it ended.
final class LoopbackClient: Sendable {
  /// How the connection ended, as the client's kernel saw it.
  enum End: Equatable, Sendable {
    case finished
    case reset
  }

  struct Received: Sendable {
    var bytes: [UInt8] = []
    var end: End?
  }

  let channel: any Channel
  private let updates: AsyncStream<Received>

  init(port: Int) async throws {
    let (updates, source) = AsyncStream.makeStream(
      of: Received.self, bufferingPolicy: .bufferingNewest(1))
    self.updates = updates
    channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Recorder(source))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
  }

  func send(_ bytes: [UInt8]) async throws {
    try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
  }

  func send(_ text: String) async throws { try await send(Array(text.utf8)) }

  func finish() async throws { try await channel.close(mode: .output).get() }

  /// Waits until `count` bytes have come, or the end.
  func receive(_ count: Int) async -> Received { await receive { $0.bytes.count >= count } }

  /// Waits until the peer ends it.
  func receiveToEnd() async -> Received { await receive { _ in false } }

  func close() async { try? await channel.close().get() }

  /// Waits until it is enough, or the end.
  func receive(until isEnough: (Received) -> Bool) async -> Received {
    for await received in updates where isEnough(received) || received.end != nil {
      return received
    }
    return Received()
  }

  private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let source: AsyncStream<Received>.Continuation
    private var received = Received()

    init(_ source: AsyncStream<Received>.Continuation) { self.source = source }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received.bytes += unwrapInboundIn(data).readableBytesView
      source.yield(received)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event as? ChannelEvent == .inputClosed { end(.finished) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      end(.reset)
      context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { end(.finished) }

    private func end(_ end: End) {
      if received.end == nil { received.end = end }
      source.yield(received)
    }
  }
}

extension String {
  var bytes: [UInt8] { Array(utf8) }
}
