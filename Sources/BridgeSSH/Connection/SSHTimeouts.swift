/// The total time each phase of a connection may take; people's thinking at prompts is not counted.
public struct SSHTimeouts: Sendable, Equatable {
  /// Name resolution.
  public var resolve: Duration = .seconds(5)
  /// TCP, all addresses together.
  public var dial: Duration = .seconds(10)
  /// Version lines and key exchange together.
  public var handshake: Duration = .seconds(15)
  /// All authentication requests together.
  public var authenticate: Duration = .seconds(30)
  /// Opening a channel and starting what runs in it.
  public var channel: Duration = .seconds(15)
  /// Saying goodbye.
  public var close: Duration = .seconds(1)

  /// The defaults.
  public init() {}
}
