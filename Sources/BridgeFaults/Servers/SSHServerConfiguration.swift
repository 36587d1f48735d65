/// The settings of sshd_config(5); nil leaves sshd's default.
public struct SSHServerConfiguration: Sendable {
  /// Host keys it makes and offers, first one first.
  public var hostKeys: [SSHKeyType] = [.ed25519]
  /// `HostKeyAlgorithms`.
  public var hostKeyAlgorithms: String?
  /// `KexAlgorithms`.
  public var keyExchanges: String?
  /// `Ciphers`.
  public var ciphers: String?
  /// `MACs`.
  public var messageAuthenticationCodes: String?
  /// `RekeyLimit`, such as `1M` or `64K 10s`.
  public var rekeyLimit: String?
  /// `MaxStartups`, such as `1:100:1`; the default here is high, for many links at once.
  public var maxStartups: String? = "1000:30:2000"
  /// `MaxAuthTries`.
  public var maxAuthTries: Int?
  /// `MaxSessions` a connection; the default here is high.
  public var maxSessions: Int? = 1000
  /// `LoginGraceTime` in seconds.
  public var loginGraceTime: Int?
  /// `AuthenticationMethods`, such as `publickey,password`.
  public var authenticationMethods: String?
  /// `PasswordAuthentication`: offered, and refused unless the account has a password.
  public var offersPassword = false
  /// `KbdInteractiveAuthentication`, by way of PAM: it asks, and refuses unless the account has a
  /// password.
  public var offersKeyboardInteractive = false
  /// The crypt(5) hash of a password: the user's as this server sees it. Only where
  /// `SSHServer.canReplacePasswords` says so.
  public var passwordHash: String?
  /// The hash of "open sesame" by `openssl passwd -6`.
  public static let hashOfOpenSesame =
    "$6$bridge$G8Ffj/DfNJWCq8rgwOthw2ANytFIAnAM51IUexUB31lHH1BD8ZXDHfuvLqpXB2rPV4u9h4prrDtmc1dX"
    + "v4.hk."
  /// The hash of "close sesame", likewise.
  public static let hashOfCloseSesame =
    "$6$hop$2QqZ4LPKXFIkJh9sZdIjiLq38Gzb5FDqbF3In.GdAe.zGN6XhE//.5TvLZ.6rXY3vFooLu5.kvsAqjsErZvsh0"
  /// `ForceCommand`.
  public var forceCommand: String?
  /// Whether a command runs to its end without a report of how it ended: its session's process is
  /// killed first, perhaps with the last of what it wrote.
  public var withholdsExitStatus = false
  /// Text shown before authentication (`Banner`).
  public var banner: String?
  /// `PerSourcePenalties`, where this sshd has them: addresses whose links break are refused for a
  /// while then.
  public var penalties = "no"
  /// The home directory, whose start-up files the shells read; nil for the server's folder and
  /// shells that read none.
  public var home: String?
  /// `ClientAliveInterval` in seconds; 0 never asks.
  public var clientAliveInterval = 0
  /// Further lines, as they are to stand in the file.
  public var lines: [String] = []

  /// The defaults: one Ed25519 host key, publickey only.
  public init() {}

  /// The file's text, for a server in `folder`.
  func text(port: Int, folder: TemporaryFolder) -> String {
    var all = [
      "Port \(port)", "ListenAddress 127.0.0.1", "PidFile \(folder.file("pid"))",
      "AuthorizedKeysFile \(folder.file("authorized_keys"))", "StrictModes no",
      "UsePAM \(offersKeyboardInteractive ? "yes" : "no")",
      "KbdInteractiveAuthentication \(offersKeyboardInteractive ? "yes" : "no")",
      "PubkeyAuthentication yes", "UseDNS no",
      "PermitRootLogin yes", "PrintMotd no", "PrintLastLog no", "LogLevel VERBOSE",
      "PasswordAuthentication \(offersPassword ? "yes" : "no")",
      "ClientAliveInterval \(clientAliveInterval)", "Subsystem sftp internal-sftp",
      // The user's own start-up files are slow, write to standard error, and must not be killed.
      // One line: of several, sshd takes the first. Below level 2, bash under sshd reads .bashrc.
      home.map { "SetEnv HOME=\($0)" } ?? "SetEnv HOME=\(folder.path) SHLVL=5",
    ]
    all += hostKeys.map { "HostKey \(folder.file(Self.hostKeyFile($0)))" }
    // Links are broken on purpose here; since OpenSSH 9.8 their address would be refused for that.
    if SSHServerProgram.hasPenalties { all.append("PerSourcePenalties \(penalties)") }
    all += optional("HostKeyAlgorithms", hostKeyAlgorithms)
    all += optional("KexAlgorithms", keyExchanges)
    all += optional("Ciphers", ciphers)
    all += optional("MACs", messageAuthenticationCodes)
    all += optional("RekeyLimit", rekeyLimit)
    all += optional("MaxStartups", maxStartups)
    all += optional("MaxAuthTries", maxAuthTries)
    all += optional("MaxSessions", maxSessions)
    all += optional("LoginGraceTime", loginGraceTime)
    all += optional("AuthenticationMethods", authenticationMethods)
    all += optional("ForceCommand", forcedCommand)
    if banner != nil { all.append("Banner \(folder.file("banner"))") }
    return (all + lines).joined(separator: "\n") + "\n"
  }

  /// The shell that runs it is a child of the session's process.
  private var forcedCommand: String? {
    guard withholdsExitStatus else { return forceCommand }
    return "(\(forceCommand ?? #"eval "$SSH_ORIGINAL_COMMAND""#)); kill -KILL $PPID"
  }

  /// The only line of the shadow(5) file it sees, if it sees one of its own.
  func shadow(of user: String) -> String? {
    passwordHash.map { "\(user):\($0):19000:0:99999:7:::\n" }
  }

  static func hostKeyFile(_ type: SSHKeyType) -> String { "host_\(type.rawValue)" }

  private func optional(_ keyword: String, _ value: (some CustomStringConvertible)?) -> [String] {
    value.map { ["\(keyword) \($0)"] } ?? []
  }
}
