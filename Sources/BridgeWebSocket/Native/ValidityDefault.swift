package import BridgeReactor
import BridgeWaiting

/// The default of libwebsockets for connections that have no policy of their own.
package enum ValidityDefault {
  /// Gives the connections of `reactor`, which has none yet, a default in seconds in the place of
  /// the library's own: a test turns down what else takes minutes.
  package static func set(ping: UInt16, hangUp: UInt16, on reactor: Reactor) {
    let validity = PeerValidity(ping: ping, hangUp: hangUp)
    kept.withLock { $0.append(validity) }
    _ = WebSocketContext.make(on: reactor, validity: validity)
  }

  /// The library keeps their pointers.
  private static let kept = Mutex<[PeerValidity]>([])
}
