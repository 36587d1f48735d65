import NIOCore
import NIOPosix

/// The way in: listening, accepting, dialing the server.
extension FaultProxy {
  func listen() async throws(FaultError) {
    let opened = openListener()
    do { try await opened.get() } catch { throw .cannotListen(detail: "\(error)") }
  }

  /// Listens on the proxy's port, unless it does.
  func openListener() -> EventLoopFuture<Void> {
    let proxy = self
    let opened = listener.open { client in
      try client.pipeline.syncOperations.addHandler(RelayHandler(proxy, .toServer))
    }
    return opened.map { proxy.assumeIsolated { $0.reportListening() } }
  }

  func stopListening() {
    isListening = false
    if listener.close() { report(.refusing) }
  }

  /// Takes in a client; its number.
  func accept(_ client: any Channel) -> Int {
    let id = makeRelay(client)
    report(.accepted(admission), id)
    let steps = standing + once
    once = []
    for step in steps { take(step, on: id) }
    switch admission {
    case .forward: dial(id)
    case .hold: held.append(id)
    case .ignore: relays[id]?.isIgnored = true
    }
    return id
  }

  /// Connects everything that was held.
  func releaseHeld() {
    let waiting = held
    held = []
    for id in waiting { dial(id) }
  }

  private func reportListening() {
    guard listener.isOpen, !isListening else { return }
    isListening = true
    report(.listening)
  }

  private func dial(_ id: Int) {
    guard relays[id] != nil else { return }
    let proxy = self
    let bootstrap = LoopbackSocket.client(loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(RelayHandler(proxy, .toClient, relay: id))
      }
    }
    // By address: a name would go through the resolver's threads.
    let address = Result { try SocketAddress(ipAddress: "127.0.0.1", port: serverPort) }
    let dialed: EventLoopFuture<any Channel> =
      switch address {
      case .success(let address): bootstrap.connect(to: address)
      case .failure(let error): loop.makeFailedFuture(error)
      }
    dialed.whenComplete { result in proxy.assumeIsolated { $0.dialed(id, result) } }
  }

  private func dialed(_ id: Int, _ result: Result<any Channel, any Error>) {
    switch result {
    case .success(let channel):
      guard relays[id] != nil else { return channel.close(promise: nil) }
      relays[id]?.server = channel
      report(.connected, id)
      for direction in Direction.allCases {
        pump(id, direction)
        readMore(of: id, direction)
      }
    case .failure:
      guard relays[id] != nil else { return }
      report(.serverUnreachable, id)
      conclude(id, abruptly: true)
    }
  }
}
