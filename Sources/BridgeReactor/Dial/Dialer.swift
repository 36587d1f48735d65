public import BridgeErrors
public import BridgeTransport

/// Connects to an endpoint: resolves its name and races its addresses.
public enum Dialer {
  /// A TCP connection to `endpoint`, made on `reactor`: non-blocking, close-on-exec, TCP_NODELAY.
  ///
  /// The addresses of two families are raced (RFC 8305); the one that won the last dial to the same
  /// endpoint is tried first. `entered` is called with `.resolve`, then `.dial`.
  ///
  /// - Throws: what ended the phase. Nothing is left open then, whichever it was.
  public static func dial(
    _ endpoint: Endpoint, on reactor: Reactor, resolveTimeout: Duration = .seconds(5),
    dialTimeout: Duration = .seconds(10),
    entered: @Sendable (ConnectionPhase) -> Void = { _ in }
  ) async throws(DialFailure) -> Socket {
    try await Route(endpoint, on: reactor)
      .dial(resolveTimeout: resolveTimeout, dialTimeout: dialTimeout, entered: entered)
  }

  /// The same over addresses of one family only, and from an address of this machine's that is
  /// given; a host that has none of the family is an unknown name.
  ///
  /// - Throws: what ended the phase.
  package static func dial(
    _ endpoint: Endpoint, over family: NetworkAddress.Family?, from source: DialSource? = nil,
    on reactor: Reactor,
    resolveTimeout: Duration, dialTimeout: Duration,
    observe: @escaping DialFact.Observer = { _ in },
    entered: @Sendable (ConnectionPhase) -> Void
  ) async throws(DialFailure) -> Socket {
    try await Route(endpoint, on: reactor)
      .dial(
        over: family, from: source, resolveTimeout: resolveTimeout, dialTimeout: dialTimeout,
        observe: observe,
        entered: entered)
  }

  /// The addresses of `endpoint`'s host in the order in which a dial would try them.
  ///
  /// - Throws: what ended the lookup, in phase `.resolve`.
  package static func resolve(
    _ endpoint: Endpoint, on reactor: Reactor, timeout: Duration = .seconds(5)
  ) async throws(DialFailure) -> [NetworkAddress] {
    try await Route(endpoint, on: reactor).resolve(within: timeout)
  }

  /// The one of `addresses` that a connection can be made to: connects to it and closes it again.
  ///
  /// For a library that takes no open socket. Worth its round trip only where there is something to
  /// race (`hasTwoFamilies`), or to learn why a connection failed. The winner is remembered.
  ///
  /// - Throws: what ended the race, in phase `.dial`.
  package static func probe(
    _ addresses: [NetworkAddress], of endpoint: Endpoint, on reactor: Reactor,
    timeout: Duration = .seconds(10)
  ) async throws(DialFailure) -> NetworkAddress {
    try await Route(endpoint, on: reactor).probe(addresses, within: timeout)
  }
}
