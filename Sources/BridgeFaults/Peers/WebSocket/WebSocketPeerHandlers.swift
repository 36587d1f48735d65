import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Collects the upgrade request of one socket; after it, bytes pass through to the frame decoder.
final class UpgradeHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let peer: ScriptedWebSocketPeer
  private var connection = 0
  private var head = ByteBuffer()
  private var isDone = false

  /// The longest request head that is read, in bytes.
  private static let capacity = 1 << 16

  init(_ peer: ScriptedWebSocketPeer) { self.peer = peer }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    connection = peer.assumeIsolated { $0.accept(channel) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return context.fireChannelRead(data) }
    head.writeImmutableBuffer(unwrapInboundIn(data))
    let end = Array("\r\n\r\n".utf8)
    guard let range = head.readableBytesView.firstRange(of: end) else {
      if head.readableBytes > Self.capacity { requested("", context) }
      return
    }
    let text = head.readString(length: range.lowerBound - head.readerIndex) ?? ""
    head.moveReaderIndex(forwardBy: end.count)
    requested(text, context)
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

  private func requested(_ text: String, _ context: ChannelHandlerContext) {
    isDone = true
    let connection = connection
    let pipeline = context.pipeline.syncOperations
    try? pipeline.addHandler(
      ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: ScriptedWebSocketPeer.frameCapacity))
    )
    try? pipeline.addHandler(FrameHandler(peer, connection))
    peer.assumeIsolated { $0.requested(text, by: connection) }
    if head.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(head)) }
    head = ByteBuffer()
  }

  private func report(_ step: @Sendable (isolated ScriptedWebSocketPeer, Int) -> Void) {
    let connection = connection
    peer.assumeIsolated { step($0, connection) }
  }
}

/// Hands a client's frames to the peer.
final class FrameHandler: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame

  private let peer: ScriptedWebSocketPeer
  private let connection: Int

  init(_ peer: ScriptedWebSocketPeer, _ connection: Int) {
    self.peer = peer
    self.connection = connection
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    let received = ReceivedFrame(
      isFinal: frame.fin, opcode: UInt8(webSocketOpcode: frame.opcode),
      payload: Array(frame.unmaskedData.readableBytesView))
    let connection = connection
    peer.assumeIsolated { $0.received(received, from: connection) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    let connection = connection
    peer.assumeIsolated { $0.malformed(connection) }
    context.close(promise: nil)
  }
}

/// A client's frame, unmasked.
struct ReceivedFrame: Sendable {
  var isFinal: Bool
  var opcode: UInt8
  var payload: [UInt8]
}
