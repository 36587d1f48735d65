import BridgeReactor

/// A reactor for the time of `body`.
func withReactor(_ body: (Reactor) async throws -> Void) async rethrows {
  let reactor = Reactor()
  do {
    try await body(reactor)
  } catch {
    await reactor.stop()
    throw error
  }
  await reactor.stop()
}

extension NetworkAddress {
  static let loopback = loopback(1)

  /// 127.0.0.`last`: Linux answers on all of 127/8.
  static func loopback(_ last: UInt8) -> NetworkAddress {
    guard let address = NetworkAddress(bytes: [127, 0, 0, last]) else {
      preconditionFailure("four bytes are an IPv4 address")
    }
    return address
  }
}
