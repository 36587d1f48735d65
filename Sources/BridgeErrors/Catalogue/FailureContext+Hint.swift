extension FailureContext {
  /// The remedy of this kind of failure; nil where the catalogue's row has it as well.
  var remedy: String? {
    if case .proxyRefused = kind { return kind.row.remedy(in: self) }
    // Of a server's failure the row would say what is to be done there.
    guard proxy != nil, detail == nil else { return kind.row.remedy(in: self) }
    return """
      This is about the proxy, not the server: check the proxy's address and port, and that it runs.
      """
  }

  /// Whether it is about a port or socket that this machine could not open.
  var isOfOwnPort: Bool {
    guard kind == .localResource, case .failed? = native?.socket else { return false }
    return native?.library == .system
  }

  /// The time that the peer had; nil where whole seconds say it.
  private func exactWords(besides seconds: Int) -> String? {
    limit.flatMap { $0 == .seconds(seconds) ? nil : $0.words }
  }

  /// The cause, where the context has more details than the error's own message.
  func fact(of error: AppError) -> String? {
    // "Try again later" would be wrong.
    if case .serverError(let status, nil) = error, case .refusedUpgrade = kind,
      !kind.retryClass(isFirstDial: true).isAutomatic
    {
      return "The server refused the upgrade to WebSocket (HTTP status \(status))."
    }
    if case .sshHostKeyMismatch(let host) = error {
      return fact(ofKeyOf: Payload.shown(host))
    }
    if case .sshTimeout(let seconds) = error, !host.isEmpty {
      let name = AppError.named(host, phase == .dial ? address : nil)
      let time = exactWords(besides: seconds) ?? CatalogueRow.words(seconds)
      return "\(Payload.shown(name)) did not answer for \(time)."
    }
    if case .timeout(let seconds) = error, let time = exactWords(besides: seconds) {
      return "The request took longer than \(time)."
    }
    // That a host with a key of a new type is not known would be wrong.
    if case .sshHostKeyUnknown = error, kind == .hostKeyNewType {
      return detail.map(Payload.sentence)
    }
    if case .sshHostKeyUnknown = error, kind == .hostKeyUnknown, let detail {
      return """
        The host is not known, and a line that may be about it cannot be read: \(detail). A new \
        key is not accepted beside it without asking.
        """
    }
    if case .sshProtocolError(let host, _) = error, let detail {
      if kind == .outputLost { return "\(Payload.exact(host)): \(Payload.sentence(detail))" }
      if kind == .versionLineTooLong {
        return """
          The version line of \(Payload.exact(host)) is longer than the 255 bytes that SSH allows \
          (RFC 4253, 4.2): "\(detail.prefix(64))…".
          """
      }
    }
    guard case .sshOutcomeUnknown(let command) = error else { return nil }
    return fact(ofOutcomeOf: CatalogueRow.named(command))
  }

  private func fact(ofOutcomeOf command: String) -> String? {
    if kind == .noStatus {
      return """
        The server closed the channel of \(command) without its status: how it ended is not known.
        """
    }
    guard kind == .outcomeUnknown || wasStarted else { return nil }
    let fate =
      wasStarted
      ? "it was started, and how it ended is not known" : "it may or may not have run"
    if kind == .outcomeUnknown, let detail {
      return """
        The connection ended after \(command) reported \(detail), and before all of its output \
        came: the output you have is incomplete.
        """
    }
    let advice = "Check on the host before you run it again."
    guard disconnectReason != nil, let said = native?.text, !said.isEmpty else {
      guard wasStarted else { return nil }
      return "The connection ended before \(command) reported its status: \(fate). \(advice)"
    }
    return """
      The server ended the connection (\(said)) before \(command) reported its status: \(fate). \
      \(advice)
      """
  }

  private func fact(ofKeyOf host: String) -> String? {
    switch kind {
    case .hostKeyProof: "\(host) could not prove that the key it shows is its own."
    case .hostKeyChanged:
      detail.map { "The key of \(host) is not the one on record. \(Payload.sentence($0))" }
    case .hostKeyRevoked:
      detail.map { "The key of \(host) was revoked. \(Payload.sentence($0))" }
    default: nil
    }
  }
}
