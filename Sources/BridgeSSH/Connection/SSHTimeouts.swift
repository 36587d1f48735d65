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
  /// Opening a channel and starting what runs in it, each request of its own.
  ///
  /// libssh2 cannot abandon a request: one whose answer takes longer ends the connection, with all
  /// other channels on it. Give it more where commands of hours share a connection with requests
  /// that a busy server answers late; a server that is gone is found by probes in any case.
  public var channel: Duration = .seconds(15)
  /// Sending the disconnect message.
  public var close: Duration = .seconds(1)

  /// The defaults.
  public init() {}
}
