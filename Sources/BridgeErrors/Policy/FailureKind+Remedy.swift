extension FailureContext {
  /// What to do about this kind of failure; nil where the catalogue's row says it as well.
  var remedy: String? {
    switch kind {
    case .nameUnknown:
      "No name server knows it: check the spelling, and the HostName in your configuration."
    case .nameTimeout:
      "The name servers did not answer in time: check this machine's network and its DNS."
    case .refused:
      "The host is up, but nothing listens on that port: check the port, and that the server runs."
    case .unreachable:
      "No route leads there: check the network or VPN, and that the address is right."
    case .dialTimeout:
      """
      Nothing came back at all: the host is down, or a firewall drops the packets. Check address \
      and port; on a slow network allow more time (--timeout).
      """
    case .localResource:
      "Close connections or programs on this machine, or raise its limits (`ulimit -n`)."
    case .silent:
      """
      It took the connection and then said nothing \(phase.during): it is overloaded, or \
      something else listens on that port.
      """
    case .dropped where times >= Self.manyTimes:
      """
      The server drops us \(phase.during), \(times) times in a row: it turns this address \
      away (a firewall, fail2ban, MaxStartups), or it cannot serve anybody. Its log says which.
      """
    case .dropped:
      """
      The server may be restarting, or it turns this address away (a firewall, fail2ban): its log \
      says which.
      """
    case .notTheProtocol: answeredByAnother
    case .corrupted:
      "The data was damaged on the way, or the peer has a fault. One new session is tried."
    case .hostKeyProof, .hostKeyChanged, .hostKeyNewType: hostKeyRemedy
    case .rejected: "The server ended it on purpose; its log says more."
    case .agentUnavailable:
      "Start ssh-agent and add the key to it (`ssh-add`), or name a key file (-i)."
    case .channelDenied:
      "The server does not allow it; look for ForceCommand, MaxSessions and PermitTTY there."
    case .authenticationRefused where native?.symbol == SSHFailure.Code.passwordExpired.symbol:
      "The password has expired: choose another where the host lets you, then come back."
    case .targetRefused: "The host is fine; what the tunnel leads to does not answer."
    case .linkLost:
      "The link was up and was cut: a restart, a sleeping machine, a changed network."
    case .closedByApplication: closedByApplication
    case .linkSilent:
      """
      The link was up and went silent: a dead network in between, or a host that hangs. If this \
      comes too early, allow more time (--verdict).
      """
    case .tls(let cause): cause.remedy
    case .refusedUpgrade(403): "You are known to the server, and may not do this: ask its owner."
    case .refusedUpgrade(500...599):
      "The server, or something behind it, is down or overloaded; it is tried again by itself."
    case .closedByPeer: "The peer ended the connection, as agreed."
    case .offline, .throttled, .algorithmMismatch, .hostKeyUnknown, .authenticationRefused,
      .keyUnusable, .outcomeUnknown, .internalFault, .refusedUpgrade, .cancelled:
      nil
    }
  }

  private var hostKeyRemedy: String? {
    if kind == .hostKeyChanged {
      return detail.map { "(\(Payload.shown($0))) " + CatalogueRow.hostKeyRemedy }
    }
    guard kind == .hostKeyNewType else {
      return """
        The host could not prove that the key it shows is its own. Do not go on before you know \
        why: somebody may be in between.
        """
    }
    return """
      No credential was sent; somebody may be in between. Ask whoever runs the host for the \
      fingerprint of this key. If it is the same, connect from a terminal with --host-key ask and \
      accept it there; accept-new does not.
      """
  }

  /// What happened, where the context knows more of it than the error's own message says.
  func fact(of error: AppError) -> String? {
    // That a host with a key of a new type is not known would be wrong.
    if case .sshHostKeyUnknown = error, kind == .hostKeyNewType {
      return detail.map(Payload.sentence)
    }
    guard case .sshOutcomeUnknown(let command) = error, kind == .outcomeUnknown, let detail else {
      return nil
    }
    return """
      The connection ended after \(CatalogueRow.named(command)) reported \(detail), and before all \
      of its output came: what you have of it is incomplete.
      """
  }

  /// So many equal endings in a row are no accident.
  private static let manyTimes = 3
  private var times: Int { repeats ?? 1 }

  private var closedByApplication: String {
    guard times >= Self.manyTimes else {
      return "The server's application ended the connection; its documentation names the code."
    }
    return """
      The server ended it with this code \(times) times in a row, each right after connecting: it \
      probably asks for a new login, or refuses what this client sends. Its documentation names \
      the code.
      """
  }

  private var answeredByAnother: String {
    guard let detail else {
      return """
        The port is wrong, or a proxy, or the login page of a network (a captive portal), \
        answers instead.
        """
    }
    return """
      A captive portal or a proxy answers instead, and leads to \(Payload.shown(detail)): open \
      that in a browser first.
      """
  }
}

extension FailureKind.TLSCause {
  fileprivate var remedy: String {
    switch self {
    case .unknownIssuer: "If you trust its issuer, install that CA certificate; else stop here."
    case .selfSigned: "Trust it only after you compared it with what its owner gives you."
    case .expired: "Its owner must renew it; check this machine's clock, too."
    case .notYetValid: "Check this machine's clock first."
    case .wrongName: "Use the name it was made for, or ask whoever runs the server."
    case .notTLS: "Use ws:// if that is meant, or the port that speaks TLS."
    case .pinMismatch:
      "Somebody may be in between: stop until its owner confirms the new certificate."
    case .badSignature:
      "Somebody may be in between, or the server's files are damaged: stop, and ask its owner."
    case .weakKey: "The server needs a certificate with a longer key (RSA 2048 bits or more)."
    case .weakDigest: "The server needs a certificate that is signed with SHA-256 or better."
    case .revoked: "Stop here: its key may be in other hands. The server needs a new certificate."
    case .invalidCertificate:
      "Whoever runs the server can check its chain with `openssl verify -purpose sslserver`."
    }
  }
}
