extension CatalogueRow {
  static func sshConnectionFailed(_ host: String, _ reason: String) -> Self {
    Self(
      "sshConnectionFailed", .ssh,
      cause: "The host refused the connection, could not be reached, or dropped it.",
      remedy: """
        Check that the host is up, that its SSH server listens on that port, and that no firewall \
        is in between.
        """,
      title: "SSH Error",
      message: "Couldn't connect to \(Payload.exact(host)). \(Payload.exact(reason))",
      icon: "terminal", options: [.checkSettings, .retry],
      metadata: ["ssh_host": Payload.exact(host)], exit: .unreachable, tool: .network)
  }

  static func sshAuthenticationFailed(_ method: String) -> Self {
    Self(
      "sshAuthenticationFailed", .ssh,
      cause: "The server does not accept this user with this key or password.",
      remedy: """
        Check the user name, and use another key or password. The refused one is not offered \
        again by itself, so that the server does not lock you out.
        """,
      title: "SSH Error",
      message: "Authentication failed using \(Payload.exact(method)). Check your credentials.",
      icon: "terminal", options: [.checkSettings, .retry], exit: .refused, tool: .permission)
  }

  static func sshCommandFailed(_ command: String, _ status: Int, _ stderr: String?) -> Self {
    Self(
      "sshCommandFailed", .ssh,
      cause: "The command ran on the host and ended with a status other than 0.",
      remedy: "The connection is fine: what the command printed says why it failed.",
      message: failed(status, stderr),
      metadata: [
        "ssh_command": String(Payload.exact(command).prefix(50)), "exit_code": "\(status)",
      ],
      exit: ExitCode(remoteStatus: status))
  }

  static func sshTimeout(_ seconds: Int) -> Self {
    Self(
      "sshTimeout", .ssh, cause: "The host did not answer in time: it is down, or very slow.",
      remedy: "Check that it is up and can be reached. If it is slow, allow more time.",
      fact: "The host did not answer for \(words(seconds)).",
      exit: .timedOut, tool: .network)
  }

  static func sshKeyInvalid(_ reason: String) -> Self {
    Self(
      "sshKeyInvalid", .ssh,
      cause: "The key file is unreadable, damaged, of an unsupported type, or locked.",
      remedy: """
        Check the file, its passphrase and its type: Ed25519, ECDSA and RSA keys work; DSA keys \
        and keys on a security key (FIDO) do not.
        """,
      fact: "The key cannot be used: \(Payload.sentence(reason))", exit: .keyUnusable)
  }

  static func sshHostKeyMismatch(_ host: String) -> Self {
    Self(
      "sshHostKeyMismatch", .ssh,
      cause: "The host's key is not the one on record. The connection may be intercepted.",
      remedy: hostKeyRemedy(hasCommand: false),
      fact: "The key of \(Payload.shown(host)) is not the one on record.", exit: .hostIdentity,
      tool: .network)
  }

  static func words(_ seconds: Int) -> String {
    "\(seconds) \(seconds == 1 ? "second" : "seconds")"
  }

  /// What to do about a changed host key; where it `hasCommand`, that follows.
  static func hostKeyRemedy(hasCommand: Bool) -> String {
    """
    Do not continue: no credential was sent. Ask the host's administrator whether its key was \
    changed. Only if it was, and the new fingerprint is theirs, remove the old key\
    \(hasCommand ? ":" : " from known_hosts.")
    """
  }

  static func failed(_ status: Int, _ stderr: String?) -> String {
    let message = "Command failed with exit code \(status)."
    guard let stderr, !stderr.isEmpty else { return message }
    return message + " " + Payload.exact(stderr).prefix(100)
  }
}
