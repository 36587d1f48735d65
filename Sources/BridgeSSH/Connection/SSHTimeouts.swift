/// The total time each phase of a connection may take; people's thinking at prompts is not counted.
public struct SSHTimeouts: Sendable, Equatable {
  /// Name resolution.
  public var resolve: Duration = .seconds(5)
  /// TCP, all addresses together.
  public var dial: Duration = .seconds(10)
  /// Version lines and key exchange together.
  public var handshake: Duration = .seconds(15)
  /// All authentication requests together. As long as sshd allows (LoginGraceTime): the server may
  /// ask a person for a confirmation elsewhere, or a slow directory.
  public var authenticate: Duration = .seconds(120)
  /// Opening a channel and starting what runs in it, each request of its own: how long the server
  /// may be silent meanwhile. The first channel has the time of `authenticate` where that is more:
  /// sshd opens the user's session (PAM, a home that is mounted) before it answers.
  ///
  /// libssh2 cannot abandon a request: one that a silent server does not answer ends the
  /// connection, with all other channels on it. A server that answers probes or sends anything
  /// else may take as long as it likes, while a caller waits for it.
  public var channel: Duration = .seconds(15)
  /// Sending the disconnect message.
  public var close: Duration = .seconds(1)

  /// The defaults.
  public init() {}
}
