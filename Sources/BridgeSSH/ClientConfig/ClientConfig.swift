package import BridgeErrors
package import BridgeReactor

/// The settings of ssh_config and the `-o` options for one host: ready to use, tokens replaced.
package struct ClientConfig: Sendable, Equatable {
  /// How a host key that is not known is dealt with. A changed or revoked one is always refused.
  package enum HostKeyChecking: String, Sendable, CaseIterable {
    case ask
    case acceptNew = "accept-new"
    case strict = "yes"
  }

  /// When a terminal is requested.
  package enum TTY: String, Sendable, CaseIterable {
    case no
    case auto
    case yes
    case force
  }

  /// What runs on the host.
  package enum SessionType: String, Sendable, CaseIterable {
    case none
    case subsystem
    case `default`
  }

  /// The key that begins an escape at the start of a line.
  package enum Escape: Sendable, Equatable {
    case none
    case byte(UInt8)

    /// `none`, a character, or `^` and a letter for a control character (ssh(1), -e); nil for
    /// another text.
    package init?(_ text: String) {
      let bytes = Array(text.utf8)
      if bytes.count == 2, bytes[0] == UInt8(ascii: "^"), (64..<128).contains(bytes[1]) {
        self = .byte(bytes[1] & 31)
      } else if bytes.count == 1 {
        self = .byte(bytes[0])
      } else if text.lowercased() == "none" {
        self = .none
      } else {
        return nil
      }
    }

    /// As it is written.
    package var text: String {
      switch self {
      case .none: "none"
      case .byte(let byte) where byte < 32: "^" + String(UnicodeScalar(byte | 64))
      case .byte(let byte): String(UnicodeScalar(byte))
      }
    }
  }

  /// How much is said, least first.
  package enum LogLevel: String, Sendable, CaseIterable {
    case quiet
    case fatal
    case error
    case info
    case verbose
    case debug
    case debug1
    case debug2
    case debug3
  }

  /// What may be offered in a login, and what may be asked for.
  package struct Login: Sendable, Equatable {
    /// BatchMode: nothing is asked.
    package var isBatch = false
    /// PasswordAuthentication.
    package var allowsPasswords = true
    /// KbdInteractiveAuthentication.
    package var allowsQuestions = true
    /// NumberOfPasswordPrompts.
    package var passwordPrompts = 3
    /// PreferredAuthentications, best first; nil where not set.
    package var methods: [String]?
    /// PubkeyAcceptedAlgorithms and RequiredRSASize.
    package var keys = KeyRules()

    /// The defaults of OpenSSH.
    package init() {}

    /// Whether `method` (as RFC 4252 names it) may be used.
    package func allows(_ method: String) -> Bool {
      switch method {
      case "password" where !allowsPasswords: false
      case "keyboard-interactive" where !allowsQuestions: false
      case _: methods?.contains(method) ?? true
      }
    }
  }

  /// What stands between this machine and the host.
  package enum Proxy: Sendable, Equatable {
    /// ProxyJump: the hosts to go through, the first one dialed first.
    case jump([JumpHost])
    /// ProxyCommand, tokens replaced: a line for the user's shell.
    case command(String)
  }

  /// The host to connect to: HostName, else the host as it was typed.
  package var hostName: String
  /// The port: what was typed, else Port, else 22.
  package var port: Int
  /// The remote user: the one given by the caller, else User, else the local one.
  package var user: String
  /// IdentityFile, in order; nil where none is set (then the defaults hold), empty for `none`.
  package var identityFiles: [String]?
  /// CertificateFile, in order.
  package var certificateFiles: [String] = []
  /// Where each of them is written, by its path.
  package var identityLocations: [String: ConfigLocation] = [:]
  /// Whether only these identities are offered, and no others of the agent.
  package var identitiesOnly: Bool?
  /// The socket of the ssh-agent: that of IdentityAgent, else SSH_AUTH_SOCK; nil for none.
  package var agentSocket: String?
  /// ForwardAgent.
  package var forwardedAgent = ForwardedAgent.none
  /// PubkeyAuthentication.
  package var allowsPublicKeys = true
  /// UserKnownHostsFile; nil where not set, empty for `none`.
  package var userKnownHostsFiles: [String]?
  /// GlobalKnownHostsFile; nil where not set, empty for `none`.
  package var globalKnownHostsFiles: [String]?
  /// StreamLocalBindUnlink.
  package var replacesSockets = false
  /// KnownHostsCommand; nil where not set, or `none`.
  package var knownHostsCommand: KnownHostsCommand?
  /// RevokedHostKeys; nil where not set, or `none`.
  package var revokedHostKeys: String?
  /// The algorithms of the key exchange: the defaults as HostKeyAlgorithms, KexAlgorithms, Ciphers
  /// and MACs change them.
  package var algorithms = AlgorithmOffer.standard
  /// StrictHostKeyChecking.
  package var hostKeyChecking: HostKeyChecking?
  /// ConnectTimeout; nil where not set, or `none`, or 0.
  package var connectTimeout: Duration?
  /// ServerAliveInterval; `.zero` is off.
  package var serverAliveInterval: Duration?
  /// ServerAliveCountMax.
  package var serverAliveCountMax: Int?
  /// HostKeyAlias.
  package var hostKeyAlias: String?
  /// RequestTTY.
  package var requestTTY: TTY?
  /// SessionType.
  package var sessionType: SessionType?
  /// StdinNull.
  package var readsNothing = false
  /// EscapeChar.
  package var escape = Escape.byte(UInt8(ascii: "~"))
  /// RemoteCommand, tokens replaced; nil where not set, or `none`.
  package var remoteCommand: String?
  /// LocalCommand, tokens replaced: a line for the user's shell, where PermitLocalCommand says so.
  package var localCommand: String?
  /// PermitLocalCommand.
  package var permitsLocalCommand = false
  /// PermitRemoteOpen: the targets that a client of a SOCKS port of the host may name; nil for any.
  package var remoteTargets: [PermittedTarget]?
  /// Tag.
  package var tag: String?
  /// LogLevel.
  package var logLevel: LogLevel?
  /// ProxyJump or ProxyCommand, whichever comes first; nil where neither is set, or `none`.
  package var proxy: Proxy?
  /// LocalForward and DynamicForward as GatewayPorts widens them, RemoteForward; none with
  /// ClearAllForwardings.
  package var forwards: [ForwardRule] = []
  /// Where each of them is written.
  package var forwardLocations: [ForwardRule: ConfigLocation] = [:]
  /// GatewayPorts: local ports without an address are opened on every one.
  package var opensForwards = false
  /// AddressFamily.
  package var addressFamily = SSHConfiguration.AddressFamily.any
  /// BindAddress.
  package var bindAddress: String?
  /// BindInterface; BindAddress goes before it.
  package var bindInterface: String?
  /// Where the host is dialed from.
  package var source: SSHConfiguration.Source {
    bindAddress.map { .address($0) } ?? bindInterface.map { .interface($0) } ?? .any
  }
  /// SendEnv: patterns of names, in order, those left out that a later `-PATTERN` takes back.
  package var sentEnvironment: [ConfigWord] = []
  /// SetEnv: NAME=VALUE, each name once.
  package var setEnvironment: [ConfigWord] = []
  /// ExitOnForwardFailure.
  package var exitsOnForwardFailure = false
  /// ClearAllForwardings: also the forwards that were typed.
  package var clearsForwards = false
  /// How to log in.
  package var login = Login()
  /// ControlMaster, ControlPath and ControlPersist.
  package var sharing = ConnectionSharing()
  /// HashKnownHosts.
  package var hidesHostNames: Bool?
  /// One sentence for each keyword whose effect is missed, each skipped Match block and each
  /// restriction in one, with file and line; at most 100 and a count of the rest.
  package var warnings: [String] = []
  /// One sentence for each keyword that has no effect and needs none; at most 100.
  package var notes: [String] = []
  /// The lines and options that decided, in the order of the table of keywords; a value that none
  /// of them sets is a default, or was typed.
  package var entries: [ConfigEntry] = []

  /// The first line or option of each keyword that has no effect here, in their order.
  package var unused: [ConfigEntry] = []

  /// What holds for `query` where nothing is set.
  init(_ query: Query) {
    hostName = query.host
    port = 22
    user = query.localUser
    agentSocket = query.agentSocket()
  }

  /// The name to look for in known_hosts.
  package var knownHostName: KnownHostName {
    KnownHostName(host: hostName, port: port, alias: hostKeyAlias)
  }
}

extension ClientConfig {
  /// The agent that programs on the host may ask.
  package enum ForwardedAgent: Sendable, Equatable {
    case none
    /// That of `agentSocket`.
    case own
    /// The one at this socket.
    case socket(String)
  }
}

extension ClientConfig {
  /// The input of a lookup: all that comes from outside the files.
  package struct Query: Sendable {
    /// The host as it was typed.
    package var host: String
    /// The user that was typed.
    package var user: String?
    /// The port that was typed.
    package var port: Int?
    /// The home directory, without a slash at its end.
    package var home: String
    /// The local user's name.
    package var localUser: String
    /// The local user's number.
    package var localUserID: UInt32
    /// This machine's name.
    package var localHost: String
    /// The environment, for `${NAME}` in file names.
    package var environment: [String: String]
    /// The command that was typed, or the subsystem; nil for none.
    package var command: String?
    /// What is to run, in the words of `Match sessiontype`.
    package var session = "shell"

    /// A question about `host`.
    package init(
      host: String, user: String? = nil, port: Int? = nil, home: String, localUser: String,
      localUserID: UInt32 = 0, localHost: String = "localhost",
      environment: [String: String] = [:]
    ) {
      self.host = host
      self.user = user
      self.port = port
      self.home = home
      self.localUser = localUser
      self.localUserID = localUserID
      self.localHost = localHost
      self.environment = environment
    }
  }

  /// How files are reached.
  package struct Files: Sendable {
    /// The text of a file, nil where there is none. With `isChecked` a file that others could have
    /// written is refused.
    package var read: @Sendable (_ path: String, _ isChecked: Bool) throws(AppError) -> String?
    /// The names in a directory, none where it cannot be read.
    package var names: @Sendable (_ directory: String) -> [String]
    /// The home directory of a user, nil where there is no such user.
    package var home: @Sendable (_ user: String) -> String?
    /// Runs the commands of `Match exec`; nil where none may run.
    package var execute: ShellCondition.Runner?
    /// The addresses of this machine, for `Match localnetwork`.
    package var addresses: @Sendable () -> [NetworkAddress]

    /// Files reached through these.
    package init(
      read: @escaping @Sendable (_ path: String, _ isChecked: Bool) throws(AppError) -> String?,
      names: @escaping @Sendable (_ directory: String) -> [String],
      home: @escaping @Sendable (_ user: String) -> String? = { _ in nil },
      execute: ShellCondition.Runner? = nil,
      addresses: @escaping @Sendable () -> [NetworkAddress] = { [] }
    ) {
      self.read = read
      self.names = names
      self.home = home
      self.execute = execute
      self.addresses = addresses
    }

    /// The machine's files, up to 1 MiB each.
    package static let local = Files(
      read: { (path, isChecked) throws(AppError) -> String? in
        guard let content = try LocalFile.read(path, limit: 1 << 20) else { return nil }
        guard !isChecked || content.isOurs else {
          throw .fileReadError(
            path: path,
            reason: "Bad owner or permissions: others could have written it (chmod go-w).")
        }
        return content.text
      }, names: { LocalFile.names(in: $0) }, home: { LocalFile.home(of: $0) },
      execute: { ShellCondition.holds($0, shell: $1) },
      addresses: { NetworkInterfaces.addresses() })
  }

  /// A configuration file to read, and what is expected of it.
  package enum Source: Sendable, Equatable {
    /// The user's own, which others must not be able to write.
    case user(String)
    /// One that the user named (`-F`), which must exist.
    case named(String)
    /// The machine's. What it includes is beside it unless it says otherwise.
    case system(String)

    /// The machine's configuration file.
    package static let systemPath = "/etc/ssh/ssh_config"
  }

  /// What `options` (each `KEY=VALUE`, first) and then `sources` with all they include say about
  /// the host of `query`. The first value of a keyword wins. A file that does not exist says
  /// nothing, unless the user named it.
  ///
  /// - Throws: `validationError` naming file and line for a value that cannot be used or a
  ///   construct that cannot be read; `featureUnavailable`, naming them too, for a certificate
  ///   and for a restriction that cannot be kept; what `files.read` throws; `fileNotFound`.
  package static func resolve(
    _ query: Query, options: [String] = [], sources: [Source] = [], files: Files
  ) throws(AppError) -> ClientConfig {
    var reader = ConfigReader(query: query, files: files)
    for option in options { try reader.read(option: option) }
    try reader.read(sources)
    if reader.needsFinalPass {
      try reader.beginFinalPass()
      try reader.read(sources)
    }
    return try reader.settings.resolved(
      for: query, files: files, warnings: reader.warnings, notes: reader.notes)
  }
}
