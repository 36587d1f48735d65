// Failures of SSH alone.
extension FailureRow {
  static let algorithmMismatch = Self(
    "algorithmMismatch", "Client and server have no algorithm of one kind in common.", .ssh,
    retry: .never, exit: .protocolBroken)

  static let outputLost = Self(
    "outputLost", "The server broke the rules for output, and some of it is lost.", .ssh,
    retry: .never, exit: .protocolBroken,
    remedy: """
      The output that you have is incomplete. This is a fault of the server, or of a proxy that \
      speaks SSH in its place: report it there. Write the output to a file on the host, and copy \
      that.
      """)

  static let versionLineTooLong = Self(
    "versionLineTooLong", "The server's version line is longer than SSH allows.", .ssh,
    retry: .needsPerson, exit: .protocolBroken,
    remedy: """
      Shorten it on the server: VersionAddendum, or `DebianBanner no`, in its sshd_config.
      """)

  static let hostKeyProof = Self(
    "hostKeyProof", "The host could not prove that it owns the key that it shows.", .ssh,
    retry: .needsPerson, exit: .hostIdentity,
    remedy: "Do not continue before you know why: the connection may be intercepted.")

  static let hostKeyUnknown = Self(
    "hostKeyUnknown", "The host key is not on record.", .ssh, retry: .needsPerson,
    exit: .hostIdentity)

  static let hostKeyChanged = Self(
    "hostKeyChanged", "The host key differs from the recorded one.", .ssh,
    retry: .needsPerson, exit: .hostIdentity, stops: .host,
    advice: { $0.detail == nil ? nil : CatalogueRow.hostKeyRemedy(hasCommand: $0.command != nil) })

  static let hostKeyRevoked = Self(
    "hostKeyRevoked", "The host key was revoked.", .ssh,
    retry: .needsPerson, exit: .hostIdentity, stops: .host,
    remedy: """
      Do not continue, and leave the revocation on record: no credential was sent. The key may be \
      in other hands, which can pose as the host then. Ask the host's administrator for its new \
      key.
      """)

  static let hostKeyNewType = Self(
    "hostKeyNewType", "The host is on record with keys of other types only.", .ssh,
    retry: .needsPerson, exit: .hostIdentity,
    remedy: """
      No credential was sent; the connection may be intercepted. Ask the host's administrator for \
      the fingerprint of this key. If it is the same, connect from a terminal and accept it \
      there: a policy that accepts new hosts by itself does not accept it.
      """)

  static let authenticationRefused = Self(
    "authenticationRefused", "The server does not accept this user with this credential.", .ssh,
    retry: .needsPerson, exit: .refused,
    advice: { context in
      if context.native?.symbol == SSHFailure.Code.passwordExpired.symbol {
        return "The password has expired: choose a new one where the host lets you, then reconnect."
      }
      let isKeyless = context.acceptedMethods.map { !$0.contains("publickey") } ?? false
      if context.native?.text == SSHFailure.nothingOffered, isKeyless {
        return """
          The server takes no key, only \(context.acceptedMethods ?? ""), which was not given. Log \
          in at a terminal.
          """
      }
      if context.native?.text == SSHFailure.nothingOffered {
        return """
          Nothing was offered: there is no key or ssh-agent that may be used, and no password was \
          given. Name a key file (IdentityFile), start an ssh-agent, or log in at a terminal.
          """
      }
      if context.native?.text == SSHFailure.nothingMoreOffered {
        let methods = context.acceptedMethods.map { " (\($0))" } ?? ""
        return """
          What was offered was accepted, and the server wants more\(methods), which was not given: \
          a key is named by IdentityFile, a password or a code is asked for at a terminal.
          """
      }
      // sshd's MaxAuthTries ends a login in the middle.
      guard context.disconnectReason == 2 else {
        guard let user = context.detail else { return nil }
        return """
          \(context.host) does not accept \(user) with this key or password. Check the user name, \
          or use another one; the refused one is not offered again by itself, so that the server \
          does not lock you out.
          """
      }
      return """
        The server ended the login after so many refusals, perhaps before the right key was \
        offered: name that in IdentityFile, and set IdentitiesOnly.
        """
    })

  static let keyUnusable = Self(
    "keyUnusable", "A user key cannot be read, decrypted or used.", .ssh, retry: .needsPerson,
    exit: .keyUnusable)

  static let agentUnavailable = Self(
    "agentUnavailable", "The SSH agent is absent or failed.", .ssh, retry: .needsPerson,
    exit: .keyUnusable,
    remedy: "Start ssh-agent and add the key to it (`ssh-add`), or use a key file.")

  static let channelDenied = Self(
    "channelDenied", "The server refused a channel or a request on it.", .ssh, retry: .never,
    exit: .protocolBroken,
    advice: { context in
      guard context.phase == .execute else {
        return """
          The server does not allow it; check ForceCommand, MaxSessions and PermitTTY there, and \
          for forwards AllowTcpForwarding and PermitOpen.
          """
      }
      return """
        The server does not allow it (ForceCommand, PermitTTY), or could start no process just \
        now: an account has a limit (`ulimit -u`). Its log says which.
        """
    })

  static let targetRefused = Self(
    "targetRefused", "The server could not reach the target of a forward.", .ssh,
    retry: .reconnectSoon, exit: .unreachable, cost: .neverSent,
    remedy: """
      The host that forwards is up; check the name and the port as they are seen from there.
      """)

  static let outcomeUnknown = Self(
    "outcomeUnknown", "The connection ended before the outcome of a started command was known.",
    .ssh, exit: .outcomeUnknown)

  static let noStatus = Self(
    "noStatus", "The server closed the channel of a command without saying how that ended.", .ssh,
    retry: .never, exit: .outcomeUnknown,
    remedy: """
      The link did not break: the host ended the command, or reports no status, as some devices \
      do. Check there what was done.
      """)
}
