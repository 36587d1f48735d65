import NIOCore

/// Tells a scripted peer what one of its sockets sees. Lives on the peer's loop.
final class PeerHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let peer: ScriptedTCPPeer
  private var connection = 0

  init(_ peer: ScriptedTCPPeer) { self.peer = peer }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    connection = peer.assumeIsolated { $0.accept(channel) }
    // Only now: a write may fail at once, and be reported here before it returns.
    report { $0.begin($1) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = Array(unwrapInboundIn(data).readableBytesView)
    report { $0.received(bytes, of: $1) }
  }

  func channelReadComplete(context: ChannelHandlerContext) { report { $0.readMore(of: $1) } }

  func channelWritabilityChanged(context: ChannelHandlerContext) { report { $0.hasSpace($1) } }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { report { $0.clientFinished($1) } }
  }

  func channelInactive(context: ChannelHandlerContext) { report { $0.closed($1) } }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func report(_ step: @Sendable (isolated ScriptedTCPPeer, Int) -> Void) {
    let connection = connection
    peer.assumeIsolated { step($0, connection) }
  }
}
