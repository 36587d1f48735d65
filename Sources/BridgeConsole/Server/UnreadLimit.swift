import NIOCore

/// Ends a connection once its peer takes nothing of what is sent for so long: a stream that cannot
/// write would hold its place until the kernel gives up, after a quarter of an hour.
final class UnreadLimit: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let limit: Duration

  init(_ limit: Duration) { self.limit = limit }

  func handlerAdded(context: ChannelHandlerContext) {
    // Linux, tcp(7): TCP_USER_TIMEOUT, also of a peer whose window stays closed.
    let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
    let value = SocketOptionValue(limit / .milliseconds(1))
    _ = context.channel.setOption(option, value: value)
  }
}
