/// How to reach a server, verify it and log in.
public struct SSHConfiguration: Sendable {
  /// The policy for a host key that is in no known_hosts file. A changed one is always refused.
  public enum UnknownHostKey: Sendable, Equatable {
    /// `SSHInteraction.trust` decides; a trusted key is recorded.
    case ask
    /// Trust it and record it (trust on first use), unless the host is known by a key of
    /// another type.
    case acceptNew
    /// Refuse it.
    case refuse
  }

  /// The known_hosts files and the policy.
  public struct HostKeys: Sendable, Equatable {
    /// The files to read, the first of them the one that new keys are written to.
    public var files: [String]
    /// The policy for an unknown key.
    public var unknown: UnknownHostKey
    /// The name to look up instead of the host's (`HostKeyAlias`).
    public var alias: String?
    /// A program that tells more keys than the files; one that fails ends the login.
    public var command: KnownHostsCommand?
    /// A file with keys that no host may show, one a line (`RevokedHostKeys`). It must exist.
    public var revoked: String?
    /// Whether the name of a host whose key is added is hidden by a hash (`HashKnownHosts`); nil
    /// where it is if the file has such names.
    public var hidesNames: Bool?

    /// Keys from `files`.
    public init(
      files: [String], unknown: UnknownHostKey = .ask, alias: String? = nil,
      revoked: String? = nil
    ) {
      self.files = files
      self.unknown = unknown
      self.alias = alias
      self.revoked = revoked
    }

    /// The user's and the system's files.
    public static func standard(home: String) -> HostKeys {
      HostKeys(files: KnownHostsFile.defaults(home: home))
    }

    /// Every key is trusted and nothing is written. For tests on loopback: it hides an impostor.
    public static let anyKey = HostKeys(files: [], unknown: .acceptNew)
  }

  /// The addresses of a host that are dialed.
  public enum AddressFamily: Sendable, Equatable {
    /// Those of both families.
    case any
    /// IPv4 only.
    case ipv4
    /// IPv6 only.
    case ipv6
  }

  /// The end of the connection on this machine.
  public enum Source: Sendable, Equatable {
    /// The address that the system takes.
    case any
    /// An address of this machine, or a name for one.
    case address(String)
    /// An address of the network interface of this name.
    case interface(String)
  }

  /// What errors call the host, an alias for instance; nil for the name that is dialed.
  public var name: String?
  /// The remote user.
  public var user: String
  /// The credentials to offer, in order.
  public var credentials: [SSHCredential]
  /// The trusted host keys.
  public var hostKeys: HostKeys
  /// The algorithms to offer in the key exchange.
  public var algorithms: AlgorithmOffer
  /// How long each phase may take.
  public var timeouts: SSHTimeouts
  /// The prompts.
  public var interaction: SSHInteraction
  /// How many conversations a `keyboardInteractive` may have, each after one that was refused: a
  /// person may mistype. More than one only where the server takes no plain password.
  package var conversations = 1
  /// Which keys may be used, of the user and of the host.
  package var keyRules = KeyRules()
  /// The addresses that are dialed.
  public var addressFamily = AddressFamily.any
  /// Where it is dialed from: no effect behind a jump host or a proxy.
  public var source = Source.any
  /// Takes the facts of the connection, on the reactor's thread: it must not block.
  package var observer: (@Sendable (SSHFact) -> Void)?

  /// A configuration for `user`.
  public init(
    user: String, credentials: [SSHCredential] = [], hostKeys: HostKeys,
    algorithms: AlgorithmOffer = .standard, timeouts: SSHTimeouts = SSHTimeouts(),
    interaction: SSHInteraction = SSHInteraction()
  ) {
    self.user = user
    self.credentials = credentials
    self.hostKeys = hostKeys
    self.algorithms = algorithms
    self.timeouts = timeouts
    self.interaction = interaction
  }
}
