package import BridgeErrors
import BridgeSSH
import BridgeSession

/// What bridgectl adds to the hints of BridgeErrors: those speak to the user of any program, so
/// they name no option and no subcommand of this one.
package enum CommandAdvice {
  /// A sentence, and the command that it leads to.
  package struct Row: Sendable, Equatable, ExpressibleByStringLiteral {
    /// The sentence; it ends with a colon where a command follows.
    package let words: String
    /// A command of bridgectl, with `HOST` for the host.
    package let command: String?

    init(_ words: String, _ command: String? = nil) {
      self.words = words
      self.command = command
    }

    package init(stringLiteral words: String) { self.init(words) }

    /// The options that the sentence names.
    fileprivate var options: Set<String> {
      Set(words.matches(of: /`(--?[A-Za-z-]+)/).map { String($0.output.1) })
    }

    /// Both in one line.
    package var text: String { words + (command.map { " `\($0)`." } ?? "") }

    /// The row for `target`: the host as the user typed it, with the options that lead there.
    package func of(_ target: String) -> Row {
      Row(words, command?.replacing("HOST", with: target))
    }
  }

  /// A sentence to add to the hint of a failure; nil where no option helps.
  package static func text(
    for error: AppError, in context: FailureContext? = nil, ofJumpHost: Bool = false
  ) -> String? {
    row(for: error, in: context, ofJumpHost: ofJumpHost)?.text
  }

  /// The row of a failure; nil where no option helps.
  ///
  /// - Parameter ofJumpHost: whether it is one of a host on the way.
  package static func row(
    for error: AppError, in context: FailureContext? = nil, ofJumpHost: Bool = false
  ) -> Row? {
    let row = row(ofHost: error, in: context)
    if ofJumpHost, row != nil, case .sshTimeout = error { return ofTimeOnTheWay }
    guard ofJumpHost, let options = row?.options, !options.isDisjoint(with: ofTheHostAlone) else {
      return row
    }
    return toReachJumpHost
  }

  private static func row(ofHost error: AppError, in context: FailureContext?) -> Row? {
    // With a line that cannot be read the option would not help.
    if let context, context.kind == .hostKeyUnknown, context.detail != nil { return nil }
    if let context, context.proxy != nil { return ofProxy(context.kind) }
    // A host that reports no status would report none of another run.
    if context?.kind == .noStatus { return nil }
    if let context, context.kind == .silent, context.phase == .authenticate {
      return Row(ofLogin)
    }
    if isOfTerminal(context) { return withoutTerminal }
    if case .sshTimeout = error, let phase = context?.phase { return row(ofTimeIn: phase) }
    if SessionFailure.isMendedByInstalling(error) { return toInstall }
    if case .featureUnavailable(let feature) = error, feature.contains("libssh2") {
      return ofLibraries
    }
    return context.flatMap { byKind["\($0.kind)"] } ?? byCase[error.caseName]
  }

  /// What replaces the hint of a failure, where bridgectl knows better; nil for most.
  package static func remedy(for error: AppError) -> Row? {
    if let words = FileFailure.remedy(for: error) { return Row(words) }
    if case .sshKeyInvalid(let reason) = error, KeyRules.isReason(reason) {
      return Row(
        "Another key helps, or another value; this shows where it is set:", "bridgectl config HOST")
    }
    if case .featureUnavailable(let feature) = error, feature.hasPrefix("Copying files without ") {
      return "`sftp` needs no shell there; with bridge-host, or a shell, `cp` works."
    }
    if SessionFailure.isOfAnAccountWithoutShell(error) {
      return "The account has no shell there; its administrator can give it one (chsh)."
    }
    guard SessionFailure.isOfAStoppedKeeper(error) else { return nil }
    return """
      That process of the host is stopped, or its disk hangs. `kill -CONT` there wakes one that is \
      stopped; other sessions are not affected.
      """
  }

  package static let toInstall = Row(
    "`--durable=never` of `connect` does without it; this installs it:", "bridgectl install HOST")

  /// What a jump host does not have of its host, as with ssh.
  private static let ofTheHostAlone: Set<String> = ["-l", "-i", "-p", "-o"]

  package static let toReachJumpHost: Row = """
    `-l`, `-i`, `-p` and `-o` are not for a jump host: `-J USER@HOST:PORT` is, and what ssh_config \
    has for its name (User, Port, IdentityFile).
    """

  /// No answer came from behind a jump host: which of the two is silent is not known.
  static func toReachBehind(_ hop: String) -> Row {
    Row(
      """
      No answer came through \(PeerText.escaped(hop, limit: 256)): it is silent itself, or the \
      host behind it is down, or a firewall drops the packets. ConnectTimeout sets the time, by \
      `-o` or in ssh_config.
      """)
  }

  /// A person has said no: asking again is no advice.
  package static let refusedKey: Row = """
    You did not trust its key: no credential was sent, and nothing was saved. The administrator of \
    the host has its fingerprint.
    """

  package static let ofLibraries = Row(
    "This prints the versions of bridgectl and its libraries:", "bridgectl version")

  private static func ofProxy(_ kind: FailureKind) -> Row {
    guard kind != .proxyRefused(status: 407) else {
      return "The variable has them as http://USER:PASSWORD@HOST:PORT."
    }
    return "NO_PROXY lists hosts that are reached without a proxy."
  }

  /// Whether the server refused the terminal (PermitTTY no).
  static func isOfTerminal(_ context: FailureContext?) -> Bool {
    context?.kind == .channelDenied && context?.native?.text.contains("request-pty") == true
  }

  package static let withoutTerminal: Row = "`-T` asks for no terminal."

  private static let ofTimeOfDial: Row =
    "ConnectTimeout sets the time, by `-o` or in ssh_config; `--timeout` limits a whole dial."

  private static let ofLogin =
    "`--login-timeout` sets the time; `--timeout` limits a whole dial."

  private static let ofTimeOnTheWay: Row = """
    ConnectTimeout sets the time, in ssh_config by the name of the jump host.
    """

  /// What sets the time that a host had in this phase; nil where nothing does.
  private static func row(ofTimeIn phase: ConnectionPhase) -> Row? {
    switch phase {
    case .resolve, .dial, .banner, .keyExchange, .hostKey:
      ofTimeOfDial
    case .authenticate: Row(ofLogin)
    case .openChannel, .execute, .upgrade, .close: nil
    case .stream: "`--dead-after` sets the time."
    }
  }

  /// The names of options in backticks, as the help spells them.
  package static let byCase: [String: Row] = [
    "timeout": ofTimeOfDial,
    "sshTimeout": ofTimeOfDial,
    "sshAuthenticationFailed": "`-l` names the user, `-i` a key file.",
    "sshKeyInvalid": "`-i` names a key file.",
    "sshHostKeyUnknown": """
    `--host-key ask` asks on a terminal whether to accept it; `--host-key accept-new` accepts a \
    new key without asking.
    """,
    "sshOutcomeUnknown": "With `--idempotent` it is run again automatically.",
    "sshAlgorithmMismatch":
      "`-o MACs=+NAME`, and Ciphers, KexAlgorithms and HostKeyAlgorithms likewise, request one.",
    "sshProtocolError": "`-p` sets the port.",
    "durableSessionNotFound": Row("This lists the sessions:", "bridgectl sessions HOST"),
    "durableSessionReplaced":
      "With `--take`, `attach` takes the session back; with `--view` it only reads.",
    "durableSessionOutcomeUnknown": Row(
      "`bridgectl logs` prints the output that is kept; this shows whether the program still runs:",
      "bridgectl sessions HOST"),
    "durableSessionHostUnusable": "`--durable=never` of `connect` does without it.",
  ]

  /// Overrules the line of the case where the kind of failure needs another one.
  package static let byKind: [String: Row] = [
    "dialTimeout": ofTimeOfDial,
    "hostKeyNewType": "`--host-key ask` asks for it on a terminal; accept-new refuses it.",
    "agentUnavailable": "`-i` names a key file.",
  ]
}
