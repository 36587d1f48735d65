#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension SSHFailure {
  /// The fact that makes an error of `kind` specific: escaped and bounded.
  func detail(of kind: FailureKind) -> String {
    switch observation {
    case .notSSH(let seen, nil): "the first line was \"\(Payload.shown(seen, limit: 256))\""
    case .notSSH(_, let location?): "it redirects to \(Payload.address(location))"
    case .algorithmMismatch(let text), .hostKeyChanged(let text, _), .hostKeyRevoked(let text),
      .keyUnusable(let text),
      .agentUnavailable(let text), .hostKeyUnknown(let text, _), .hostKeyNewType(let text, _),
      .outputLost(let text):
      Payload.shown(text, limit: PeerText.limit)
    case .versionLineTooLong:
      "its version line is longer than the 255 bytes that SSH allows (VersionAddendum, "
        + "DebianBanner)"
    case .nameUnknown, .nameTimeout, .offline, .deadline, .silent, .channelRefused,
      .noExitStatus, .closedWithoutStatus, .outputCut, .cancelled, nil:
      ownText(of: kind)
    }
  }

  private func ownText(of kind: FailureKind) -> String {
    if kind == .notTheProtocol { return "the first line was \"\(firstLine)\"" }
    let said = Payload.shown(message, limit: PeerText.limit)
    return said.isEmpty ? "libssh2 reported \(code.symbol) \(phase.during)" : said
  }

  private var firstLine: Substring {
    PeerText.escaped(Redactor.redacted(preBanner), limit: 256, layout: .paragraph)
      .prefix { !$0.isNewline }
  }

  /// Whether the server refused the terminal, and not the command behind it (RFC 4254, 6.2).
  var isOfTerminal: Bool { message.contains("request-pty") }

  /// `sentence`, and what the peer or the library said about it.
  func quoting(_ sentence: String) -> String {
    let said = Payload.shown(message, limit: PeerText.limit).trimmed
    return said.isEmpty ? sentence + "." : sentence + " (" + said + ")."
  }
}

extension ConnectionPhase {
  /// "during key exchange", for use in a sentence.
  var during: String {
    switch self {
    case .resolve: "while the name was resolved"
    case .dial: "while connecting"
    case .banner: "before it sent its version"
    case .keyExchange: "during key exchange"
    case .hostKey: "while its host key was checked"
    case .authenticate: "during authentication"
    case .openChannel: "while a channel was opened"
    case .execute: "while a command was started"
    case .stream: "in the middle of the session"
    case .upgrade: "during the upgrade to WebSocket"
    case .close: "while closing"
    }
  }

  /// The request to the server, for use in a sentence.
  var attempted: String {
    self == .execute ? "run the command" : "open a channel"
  }
}

extension SocketCondition {
  /// Why there is no way to the host, as a sentence.
  var missingWay: String {
    switch self {
    case .failed(ENODEV): "This machine has no such address or interface to connect from."
    case .failed(EAFNOSUPPORT): "The host has no address of the family that is asked for."
    case .failed(EACCES), .failed(EPERM):
      "This machine does not allow the connection: a firewall or a route of its own forbids it."
    case .failed(EINVAL):
      "This machine cannot dial the address: a link-local one needs its interface (fe80::1%eth0)."
    case .failed, .open, .endOfFile: "No route to the host."
    }
  }

  /// What connect(2) says of a way that is not there, as strerror(3) has it; nil for what is found
  /// out before.
  package var systemWords: String? {
    switch self {
    case .failed(ENETUNREACH): "Network is unreachable"
    case .failed(EHOSTUNREACH): "No route to host"
    case .failed(EACCES): "Permission denied"
    case .failed(EPERM): "Operation not permitted"
    case .failed(EINVAL): "Invalid argument"
    case .failed, .open, .endOfFile: nil
    }
  }

  /// What this machine ran out of, as a sentence.
  var shortage: String {
    switch self {
    case .failed(EMFILE), .failed(ENFILE): "This machine has no file descriptors left."
    case .failed(EADDRNOTAVAIL): "This machine has no local port left for the connection."
    case .failed, .open, .endOfFile: "This machine is out of memory."
    }
  }
}

extension String {
  var trimmed: String {
    var text = Substring(self)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text.count == count ? self : String(text)
  }
}
