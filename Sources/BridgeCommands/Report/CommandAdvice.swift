package import BridgeErrors

/// What bridgectl adds to the hints of BridgeErrors: those speak to the user of any program, so
/// they name no option and no subcommand of this one.
package enum CommandAdvice {
  /// A sentence to add to the hint of a failure; nil where no option helps.
  package static func text(for error: AppError, in context: FailureContext? = nil) -> String? {
    // With a line that cannot be read the option would not help.
    if let context, context.kind == .hostKeyUnknown, context.detail != nil { return nil }
    if let context, context.proxy != nil { return ofProxy(context.kind) }
    if let context, context.kind == .silent, context.phase == .authenticate { return ofLogin }
    return context.flatMap { byKind["\($0.kind)"] } ?? byCase[error.caseName]
  }

  private static func ofProxy(_ kind: FailureKind) -> String {
    guard kind != .proxyRefused(status: 407) else {
      return "The variable has them as http://USER:PASSWORD@HOST:PORT."
    }
    return "NO_PROXY lists hosts that are reached without a proxy."
  }

  private static let ofLogin = "`--login-timeout` sets the time."

  /// The names of options in backticks, as the help spells them.
  package static let byCase: [String: String] = [
    "timeout": "`--timeout` sets the time.",
    "sshTimeout": "`--timeout` sets the time.",
    "sshAuthenticationFailed": "`-l` names the user, `-i` a key file.",
    "sshKeyInvalid": "`-i` names a key file.",
    "sshHostKeyUnknown": "`--host-key accept-new` accepts a new key without asking.",
    "sshOutcomeUnknown": "With `--idempotent` it is run again automatically.",
    "sshProtocolError": "`-p` sets the port.",
    "durableSessionNotFound": "`bridgectl sessions HOST` lists the sessions.",
    "durableSessionReplaced": "`--take` takes the session back, `--view` only reads.",
    "durableSessionOutcomeUnknown": "`bridgectl logs` prints the output that is kept.",
    "durableSessionHostUnusable":
      "`bridgectl install HOST` installs it; `--durable=never` does without it.",
    "featureUnavailable": "`bridgectl version` prints the versions of bridgectl and its libraries.",
  ]

  /// Overrules the line of the case where the kind of failure needs another one.
  package static let byKind: [String: String] = [
    "dialTimeout": "`--timeout` sets the time.",
    "hostKeyNewType": "`--host-key ask` asks for it on a terminal; accept-new refuses it.",
    "agentUnavailable": "`-i` names a key file.",
  ]
}
