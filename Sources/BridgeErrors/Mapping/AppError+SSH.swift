extension AppError {
  /// The typed error of a failure that knows its host, method and deadline.
  public init(sshError failure: SSHFailure) {
    self.init(failure, as: failure.kind)
  }

  /// The typed error of any error an SSH operation ended with.
  ///
  /// An `AppError` passes through, an `SSHFailure` is mapped by what it knows (taking `host`,
  /// `method` and `timeout` where it names no host of its own), and only the text of a foreign
  /// error is searched (S1-137…S1-140, G-06).
  ///
  /// - Parameter timeout: the configured timeout, in seconds.
  public init(
    sshError error: any Error, host: String, method: String = "password", timeout: Int = 30
  ) {
    if let known = error as? AppError {
      self = known
    } else if var failure = error as? SSHFailure {
      if failure.host.isEmpty {
        failure.host = host
        failure.method = method
        failure.timeout = timeout
      }
      self.init(sshError: failure)
    } else if error is CancellationError {
      self = .cancelled
    } else {
      self.init(
        foreignText: Payload.shown(ErrorText.of(error), limit: PeerText.limit), host: host,
        method: method,
        timeout: timeout)
    }
  }

  private init(foreignText text: String, host: String, method: String, timeout: Int) {
    // A host named "auth.example" says nothing about authentication.
    let words = text.removing(wholeToken: host).lowercased()
    if words.contains("host key") || words.contains("hostkey") {
      self = .sshHostKeyMismatch(host: host)
    } else if words.contains("timeout") || words.contains("timed out") {
      self = .sshTimeout(seconds: timeout)
    } else if words.contains("auth") {
      self = .sshAuthenticationFailed(method: method)
    } else {
      self = .sshConnectionFailed(host: host, reason: text)
    }
  }

  /// The typed error of a failure that was classified before.
  init(_ failure: SSHFailure, as kind: FailureKind) {
    let host = failure.host
    switch kind {
    case .nameUnknown, .nameTimeout: self = .dnsError(host: failure.resolved)
    case .offline: self = .networkUnavailable
    case .dialTimeout, .silent: self = .sshTimeout(seconds: failure.timeout)
    case .linkSilent: self = .sshTimeout(seconds: failure.secondsSilent)
    case .throttled: self = .sshServerBusy(host: host, retryAfter: nil)
    case .notTheProtocol, .corrupted, .rejected, .outputLost, .versionLineTooLong:
      self = .sshProtocolError(host: host, detail: failure.detail(of: kind))
    case .algorithmMismatch:
      self = .sshAlgorithmMismatch(host: host, detail: failure.detail(of: kind))
    case .hostKeyProof, .hostKeyChanged, .hostKeyRevoked: self = .sshHostKeyMismatch(host: host)
    case .hostKeyUnknown, .hostKeyNewType:
      self = .sshHostKeyUnknown(host: host, fingerprint: failure.detail(of: kind))
    case .authenticationRefused: self = .sshAuthenticationFailed(method: failure.method)
    case .keyUnusable, .agentUnavailable:
      self = .sshKeyInvalid(reason: failure.detail(of: kind))
    case .outcomeUnknown, .noStatus: self = .sshOutcomeUnknown(command: failure.command)
    case .internalFault: self = .internalError(detail: failure.detail(of: kind))
    case .cancelled: self = .cancelled
    case .refused:
      self = failure.lost("Connection refused: nothing listens on port \(failure.port ?? 22).")
    case .unreachable: self = failure.lost(failure.socket.missingWay)
    case .localResource: self = failure.lost(failure.socket.shortage)
    case .linkLost:
      self = failure.lost(
        failure.disconnectReason == nil
          ? "The connection was lost." : failure.quoting("The server ended the connection"))
    case .channelDenied:
      let sentence =
        failure.isOfTerminal
        ? "The server gives no terminal" : "The server refused to \(failure.phase.attempted)"
      self = failure.lost(failure.quoting(sentence))
    case .targetRefused:
      self = failure.lost(
        failure.quoting("The server could not reach the other end of the tunnel"))
    // All but the first are WebSocket's; for SSH they would be a dropped connection.
    case .dropped, .tls, .refusedUpgrade, .proxyRefused, .secureOnly, .overLimit, .closedByPeer,
      .closedByApplication:
      self = failure.lost(
        failure.quoting("The server closed the connection \(failure.phase.during)"))
    }
  }
}

extension AppError {
  /// A host by its alias, and where that leads.
  static func named(_ host: String, _ address: String?) -> String {
    host + (address.map { " (\($0))" } ?? "")
  }
}

extension SSHFailure {
  /// Of a dial it is also worth knowing where an alias leads.
  fileprivate func lost(_ reason: String) -> AppError {
    .sshConnectionFailed(
      host: phase == .dial ? AppError.named(host, address) : host, reason: reason)
  }

  /// The name that was looked up, and whose it is.
  fileprivate var resolved: String { address.map { "\($0) (HostName of \(host))" } ?? host }

  fileprivate var secondsSilent: Int {
    if case .silent(let seconds) = observation { seconds } else { timeout }
  }

  fileprivate var command: String {
    switch observation {
    case .noExitStatus(let command), .closedWithoutStatus(let command),
      .outputCut(let command, _):
      command
    case .nameUnknown, .nameTimeout, .offline, .deadline, .silent, .notSSH, .algorithmMismatch,
      .hostKeyUnknown, .hostKeyChanged, .hostKeyRevoked, .hostKeyNewType, .keyUnusable,
      .agentUnavailable, .channelRefused, .outputLost, .versionLineTooLong, .cancelled, nil:
      ""
    }
  }
}

extension String {
  /// Without the places where `token` stands by itself, not as a part of a word.
  fileprivate func removing(wholeToken token: String) -> String {
    guard !token.isEmpty, contains(token) else { return self }
    var result = ""
    var rest = Substring(self)
    while let range = rest.firstRange(of: token) {
      let before = range.lowerBound == startIndex ? " " : self[index(before: range.lowerBound)]
      let after = range.upperBound == endIndex ? " " : self[range.upperBound]
      let stands = !before.isWordPart && !after.isWordPart
      result += rest[..<(stands ? range.lowerBound : range.upperBound)]
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}

extension Character {
  fileprivate var isWordPart: Bool { isLetter || isNumber }
}
