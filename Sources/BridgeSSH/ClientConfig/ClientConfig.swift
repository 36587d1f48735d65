package import BridgeErrors

/// What ssh_config and the `-o` options say about one host: ready to use, tokens replaced.
package struct ClientConfig: Sendable, Equatable {
  /// How a host key that is not known is dealt with. A changed or revoked one is always refused.
  package enum HostKeyChecking: String, Sendable, CaseIterable {
    case ask
    case acceptNew = "accept-new"
    case strict = "yes"
  }

  /// When a terminal is asked for.
  package enum TTY: String, Sendable, CaseIterable {
    case no
    case auto
    case yes
    case force
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

  /// Where to connect: HostName, else the host as it was typed.
  package var hostName: String
  /// The port: what was typed, else Port, else 22.
  package var port: Int
  /// The remote user: who was typed, else User, else the local one.
  package var user: String
  /// IdentityFile, in order; nil where none is set (then the defaults hold), empty for `none`.
  package var identityFiles: [String]?
  /// Whether only these identities are offered, and no others of the agent.
  package var identitiesOnly: Bool?
  /// UserKnownHostsFile; nil where not set, empty for `none`.
  package var userKnownHostsFiles: [String]?
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
  /// LogLevel.
  package var logLevel: LogLevel?
  /// One sentence for each keyword that has no effect and each skipped Match block, with file and
  /// line; at most 100 and a count of the rest.
  package var warnings: [String]

  /// The name to look for in known_hosts.
  package var knownHostName: KnownHostName {
    KnownHostName(host: hostName, port: port, alias: hostKeyAlias)
  }
}

extension ClientConfig {
  /// Who asks, and for what: all that comes from outside the files.
  package struct Question: Sendable {
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
    /// The environment, for `${NAME}` in file names.
    package var environment: [String: String]

    /// A question about `host`.
    package init(
      host: String, user: String? = nil, port: Int? = nil, home: String, localUser: String,
      environment: [String: String] = [:]
    ) {
      self.host = host
      self.user = user
      self.port = port
      self.home = home
      self.localUser = localUser
      self.environment = environment
    }
  }

  /// How files are reached.
  package struct Files: Sendable {
    /// The text of a file, nil where there is none.
    package var read: @Sendable (_ path: String) throws(AppError) -> String?
    /// The names in a directory, none where it cannot be read.
    package var names: @Sendable (_ directory: String) -> [String]

    /// Files reached through these.
    package init(
      read: @escaping @Sendable (_ path: String) throws(AppError) -> String?,
      names: @escaping @Sendable (_ directory: String) -> [String]
    ) {
      self.read = read
      self.names = names
    }

    /// The machine's files, up to 1 MiB each. One that others could have written is refused unless
    /// the user named it (`-F`).
    package static func local(named: Bool) -> Files {
      Files(
        read: { (path) throws(AppError) -> String? in
          guard let content = try LocalFile.read(path, limit: 1 << 20) else { return nil }
          guard named || content.isOurs else {
            throw .fileReadError(
              path: path, reason: "Bad owner or permissions: others could have written it.")
          }
          return content.text
        }, names: { LocalFile.names(in: $0) })
    }
  }

  /// What `options` (each `KEY=VALUE`, first) and then the file at `path` with all it includes say
  /// about the host of `question`. The first value of a keyword wins. A file that does not exist
  /// says nothing, unless the user named it (`mustExist`).
  ///
  /// - Throws: `validationError` naming file and line for a value that cannot be used or a
  ///   construct that cannot be read; `featureUnavailable` where a proxy is asked for; what
  ///   `files.read` throws; `fileNotFound`.
  package static func resolve(
    _ question: Question, options: [String] = [], path: String?, mustExist: Bool = false,
    files: Files
  ) throws(AppError) -> ClientConfig {
    var reader = ConfigReader(question: question, files: files)
    for option in options { try reader.read(option: option) }
    if let path, try !reader.read(path: path), mustExist { throw .fileNotFound(path: path) }
    return try reader.settings.resolved(for: question, warnings: reader.warnings)
  }
}
