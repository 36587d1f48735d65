/// A message on its way to a peer.
public struct OutboxMessage: Sendable, Hashable, Codable {
  /// Its name, by which a peer recognizes one that comes again.
  public var id: String
  /// What the application sends.
  public var text: String

  /// A message.
  public init(id: String, text: String) {
    self.id = id
    self.text = text
  }
}
