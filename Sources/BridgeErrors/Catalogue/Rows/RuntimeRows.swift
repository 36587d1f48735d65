// The cases that the runtime added to the specification.
extension CatalogueRow {
  static func sshHostKeyUnknown(_ host: String, _ fingerprint: String) -> Self {
    Self(
      "sshHostKeyUnknown", .ssh,
      cause: "This is the first connection to the host from here, or its key is of a new type.",
      remedy: """
        Get the fingerprint from the host's administrator (there: `ssh-keygen -lf \
        /etc/ssh/ssh_host_ed25519_key.pub`). If it is the same, accept the key.
        """,
      title: "Unknown Host",
      message: """
        The key of \(Payload.exact(host)) is not known here: \(Payload.exact(fingerprint)). \
        Compare it with the one its owner gives you before you accept it.
        """,
      icon: "terminal", options: [.checkSettings, .cancel], exit: .hostIdentity)
  }

  static func sshServerBusy(_ host: String, _ retryAfter: Int?) -> Self {
    Self(
      "sshServerBusy", .ssh,
      cause: "The server limits new connections (MaxStartups), or penalizes this address.",
      remedy: "Wait; connecting more often only makes the wait longer.",
      title: "Server Busy",
      message: """
        \(Payload.exact(host)) takes no new connections at the moment. Please wait \
        \(retryAfter.map { "\($0) \($0 == 1 ? "second" : "seconds")" } ?? "a while").
        """,
      icon: "terminal", options: [.waitForCompletion, .cancel], exit: .busy)
  }

  static func sshOutcomeUnknown(_ command: String) -> Self {
    Self(
      "sshOutcomeUnknown", .ssh,
      cause: "The connection ended after the command was sent and before its status came back.",
      remedy: """
        Check on the host what it has done. A command that may run twice can be declared \
        idempotent: then it is run again automatically.
        """,
      title: "Outcome Unknown",
      message: """
        The connection ended before \(named(command)) reported its status: it may or may not \
        have run. Check on the host before you run it again.
        """,
      icon: "terminal", options: [.reconnect, .dismiss], exit: .outcomeUnknown)
  }

  static func sshAlgorithmMismatch(_ host: String, _ detail: String) -> Self {
    Self(
      "sshAlgorithmMismatch", .ssh,
      cause: "Client and server have no key exchange, host key, cipher or MAC in common.",
      remedy: """
        Change the side that is named, or let the server's administrator allow an algorithm of \
        ours. Weak ones are left out unless a program requests them by name.
        """,
      title: "No Common Algorithm",
      message: """
        \(Payload.exact(host)) and this client share no algorithm: \
        \(Payload.sentence(detail))
        """,
      icon: "terminal", options: [.checkSettings, .dismiss], exit: .protocolBroken)
  }

  static func sshProtocolError(_ host: String, _ detail: String) -> Self {
    Self(
      "sshProtocolError", .ssh,
      cause: "Something else listens on the port, or the server broke the protocol.",
      remedy: """
        Check the host name and the port: a web server, a proxy or the login page of a network \
        may be answering instead.
        """,
      title: "Not an SSH Server",
      message: """
        \(Payload.exact(host)) does not speak SSH as it should: \(Payload.sentence(detail)) \
        Check the host and the port.
        """,
      icon: "terminal", options: [.checkSettings, .dismiss], exit: .protocolBroken)
  }

  static func cancelled() -> Self {
    Self(
      "cancelled", .general, cause: "You, or the program that started it, canceled it.",
      remedy: "Nothing is wrong; start it again when you are ready.", title: "Canceled",
      messageSaysAll: true,
      message: "It was canceled before it finished.", icon: "xmark", severity: .info,
      automatic: .never, exit: .interrupted)
  }

  /// A command in quotes, or its beginning with a mark.
  static func named(_ command: String) -> String {
    guard !command.isEmpty else { return "the command" }
    let text = Payload.exact(command)
    let start = text.prefix(50)
    return "\"\(start)\(start.endIndex < text.endIndex ? " …" : "")\""
  }
}
