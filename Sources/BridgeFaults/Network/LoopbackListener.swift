import NIOCore
import NIOPosix

/// A loopback listener that closes and opens again on the same port. Lives on one event loop.
final class LoopbackListener {
  /// The port on 127.0.0.1 while it is open.
  let port: Int
  private let loop: any EventLoop
  private var channel: (any Channel)?
  private var descriptor: Int32 = -1
  private var opening: EventLoopPromise<Void>?
  private var isWanted = false

  /// True while clients are accepted.
  var isOpen: Bool { channel != nil }

  /// Attempts a millisecond apart: a child just forked may hold the old socket until it executes
  /// its program.
  private static let attempts = 20_000

  init(on loop: any EventLoop) throws(FaultError) {
    self.loop = loop
    port = try LoopbackPort.reserve()
  }

  /// Accepts clients, and gives each to `take`, until closed. Done at once when it is open.
  func open(_ take: @escaping @Sendable (any Channel) throws -> Void) -> EventLoopFuture<Void> {
    isWanted = true
    if channel != nil { return loop.makeSucceededVoidFuture() }
    if let opening { return opening.futureResult }
    let promise = loop.makePromise(of: Void.self)
    opening = promise
    attempt(Self.attempts, take)
    return promise.futureResult
  }

  /// Refuses clients from here on; those accepted live on. True when it was open.
  func close() -> Bool {
    isWanted = false
    guard let open = channel else { return false }
    channel = nil
    LoopbackPort.stopListening(descriptor)
    open.close(promise: nil)
    return true
  }

  private func attempt(_ left: Int, _ take: @escaping @Sendable (any Channel) throws -> Void) {
    guard isWanted else { return settle(.success(())) }
    guard let bound = LoopbackPort.bind(port) else { return again(left, take) }
    bootstrap(take).withBoundSocket(bound).assumeIsolated().whenComplete { result in
      switch result {
      case .success(let channel): self.opened(channel, bound)
      case .failure: self.again(left, take)
      }
    }
  }

  private func again(_ left: Int, _ take: @escaping @Sendable (any Channel) throws -> Void) {
    guard left > 0 else {
      return settle(.failure(.cannotListen(detail: "port \(port) is taken")))
    }
    loop.assumeIsolated().scheduleTask(in: .milliseconds(1)) { self.attempt(left - 1, take) }
  }

  private func opened(_ channel: any Channel, _ bound: Int32) {
    descriptor = bound
    self.channel = channel
    if !isWanted { _ = close() }
    settle(.success(()))
  }

  private func settle(_ result: Result<Void, FaultError>) {
    let promise = opening
    opening = nil
    promise?.completeWith(result.mapError { $0 as any Error })
  }

  private func bootstrap(
    _ take: @escaping @Sendable (any Channel) throws -> Void
  ) -> ServerBootstrap {
    ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 1_024)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelOption(.recvAllocator, value: LoopbackSocket.allocator)
      .childChannelOption(.writeBufferWaterMark, value: LoopbackSocket.waterMark)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try take(channel) }
      }
  }
}

/// How sockets on loopback are tuned: large reads and writes, as the proxy must not be the brake. A
/// read grows with what comes: a line that says little holds no 64 KiB for it.
enum LoopbackSocket {
  static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 1 << 18, high: 1 << 20)
  static let allocator = AdaptiveRecvByteBufferAllocator(
    minimum: 4_096, initial: 4_096, maximum: 1 << 19)

  /// A client's bootstrap with the same tuning, half-open and read on demand.
  static func client(_ loop: any EventLoop) -> ClientBootstrap {
    ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: false)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(.recvAllocator, value: allocator)
      .channelOption(.writeBufferWaterMark, value: waterMark)
  }
}
