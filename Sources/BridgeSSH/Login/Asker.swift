import BridgeErrors
public import BridgeTransport

/// The account that a question of a login is about: a secret that is typed for it goes to no other.
public struct Asker: Sendable, Hashable {
  /// The account.
  public let user: String
  /// The host and the port of its server.
  public let endpoint: Endpoint
  /// Its number among the hosts on the way, from 0; nil for the host that they lead to.
  public let hop: Int?

  /// The account `user` at `endpoint`.
  public init(user: String, endpoint: Endpoint, hop: Int? = nil) {
    self.user = user
    self.endpoint = endpoint
    self.hop = hop
  }

  /// Its host as questions show it: with the port where that is not 22, marked where it is on the
  /// way.
  package var place: String {
    let place = endpoint.port == 22 ? endpoint.host : endpoint.description
    return PeerText.escaped(place, limit: 256) + (hop == nil ? "" : " (jump host)")
  }
}
