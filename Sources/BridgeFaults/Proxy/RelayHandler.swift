import NIOCore

/// Tells the proxy what one socket of a relay sees. Lives on the proxy's loop.
final class RelayHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let proxy: FaultProxy
  private let direction: Direction
  private var relay: Int?
  private var hasFailed = false

  /// The socket whose bytes travel in `direction`; without a number it is a client, and is given
  /// one when it is active.
  init(_ proxy: FaultProxy, _ direction: Direction, relay: Int? = nil) {
    self.proxy = proxy
    self.direction = direction
    self.relay = relay
  }

  func channelActive(context: ChannelHandlerContext) {
    guard relay == nil else { return }
    let channel = context.channel
    relay = proxy.assumeIsolated { $0.accept(channel) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    report { $0.received(bytes, of: $1, $2) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    report { $0.readMore(of: $1, $2) }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    // Space toward this socket is space for the other one's bytes.
    guard context.channel.isWritable else { return }
    report { proxy, relay, direction in
      proxy.readMore(of: relay, direction.opposite)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { report { $0.sourceFinished(of: $1, $2) } }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let hasFailed = hasFailed
    report { $0.sourceClosed(of: $1, $2, byError: hasFailed) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    hasFailed = true
    context.close(promise: nil)
  }

  private func report(_ step: @Sendable (isolated FaultProxy, Int, Direction) -> Void) {
    guard let relay else { return }
    let direction = direction
    proxy.assumeIsolated { step($0, relay, direction) }
  }
}
