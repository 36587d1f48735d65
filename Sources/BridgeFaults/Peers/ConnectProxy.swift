import NIOCore
import NIOPosix

/// A loopback HTTP proxy that opens tunnels (CONNECT: RFC 9110, 9.3.6) to servers of a test, and
/// resets them at will.
///
/// ```swift
/// let proxy = try await ConnectProxy(to: ["server.example:443": server.port])
/// ```
public actor ConnectProxy {
  /// The port on 127.0.0.1.
  public nonisolated let port: Int

  nonisolated let loop: any EventLoop
  private let listener: LoopbackListener
  private let targets: [String: Int]
  private let credentials: String?
  private var greeting: [UInt8] = []
  private var heads: [String] = []
  private var channels: [ObjectIdentifier: any Channel] = [:]

  /// What the proxy does about a request.
  enum Decision {
    case tunnel(port: Int, head: [UInt8])
    case refusal([UInt8])
  }

  /// The event loop, as the executor of this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.lane }

  /// Listens; a tunnel to a name and port that is a key of `targets` leads to that port of
  /// 127.0.0.1, and there is no other (403). With `credentials` a request must have them as its
  /// Proxy-Authorization (407).
  ///
  /// - Throws: `cannotListen`.
  public init(to targets: [String: Int], credentials: String? = nil) async throws(FaultError) {
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.targets = targets
    self.credentials = credentials
    listener = try LoopbackListener(on: loop)
    port = listener.port
    let proxy = self
    let opened = listener.open {
      try $0.pipeline.syncOperations.addHandler(ConnectProxyHandler(proxy))
    }
    do { try await opened.get() } catch { throw .cannotListen(detail: "\(error)") }
  }

  /// The heads of the requests, in order.
  public var requests: [String] { heads }

  /// How many sockets are open, two a tunnel.
  public var openSockets: Int { channels.count }

  /// Sends these bytes right behind the head of each answer that opens a tunnel.
  public func greet(with bytes: [UInt8]) { greeting = bytes }

  /// Resets every tunnel at both ends.
  public func reset() {
    for channel in channels.values { channel.closeWithReset() }
  }

  /// Closes everything it opened.
  public func stop() async {
    _ = listener.close()
    let open = channels.values
    for channel in open { channel.close(promise: nil) }
    for channel in open { try? await channel.closeFuture.get() }
  }

  func opened(_ channel: any Channel) { channels[ObjectIdentifier(channel)] = channel }

  func closed(_ channel: any Channel) { channels[ObjectIdentifier(channel)] = nil }

  func decide(_ head: String) -> Decision {
    heads.append(head)
    let lines = head.split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    if let credentials, !lines.contains("Proxy-Authorization: \(credentials)") {
      let lines = "HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"
      return .refusal(Array(lines.utf8))
    }
    guard words.count == 3, words[0] == "CONNECT", let port = targets[String(words[1])] else {
      return .refusal(Array("HTTP/1.1 403 Not this one\r\nContent-Length: 0\r\n\r\n".utf8))
    }
    return .tunnel(
      port: port, head: Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8) + greeting)
  }
}

/// One socket of a tunnel: reads on when the other one has taken what came. Lives on the loop.
final class ConnectProxyHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private static let endOfHead = Array("\r\n\r\n".utf8)
  private let proxy: ConnectProxy
  private var partner: (any Channel)?
  private var head: [UInt8] = []

  init(_ proxy: ConnectProxy, partner: (any Channel)? = nil) {
    self.proxy = proxy
    self.partner = partner
  }

  func channelActive(context: ChannelHandlerContext) {
    let channel = context.channel
    proxy.assumeIsolated { $0.opened(channel) }
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    if let partner {
      partner.writeAndFlush(bytes).assumeIsolated().whenComplete { _ in context.read() }
      return
    }
    head += bytes.readableBytesView
    guard head.suffix(4).elementsEqual(Self.endOfHead) else { return context.read() }
    answer(context)
  }

  private func answer(_ context: ChannelHandlerContext) {
    let text = String(decoding: head, as: UTF8.self)
    head = []
    switch proxy.assumeIsolated({ $0.decide(text) }) {
    case .refusal(let bytes):
      let channel = context.channel
      channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenComplete { _ in
        channel.close(promise: nil)
      }
    case .tunnel(let port, let head): connect(context, port, head)
    }
  }

  private func connect(_ context: ChannelHandlerContext, _ port: Int, _ head: [UInt8]) {
    let (proxy, client) = (proxy, context.channel)
    LoopbackSocket.client(context.eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            ConnectProxyHandler(proxy, partner: client))
        }
      }
      .connect(host: "127.0.0.1", port: port).assumeIsolated().whenComplete { result in
        switch result {
        case .success(let server):
          self.partner = server
          client.writeAndFlush(ByteBuffer(bytes: head), promise: nil)
          context.read()
        case .failure:
          let answer = ByteBuffer(string: "HTTP/1.1 502 Bad Gateway\r\n\r\n")
          client.writeAndFlush(answer).whenComplete { _ in client.close(promise: nil) }
        }
      }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event as? ChannelEvent == .inputClosed else { return }
    guard let partner else { return context.close(promise: nil) }
    partner.close(mode: .output, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    let channel = context.channel
    proxy.assumeIsolated { $0.closed(channel) }
    partner?.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    partner?.closeWithReset()
    context.close(promise: nil)
  }
}
