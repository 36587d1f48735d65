import BridgeErrors

/// The last words of a run of ssh(1): OpenSSH's own where it has some, by which people and programs
/// find out what went wrong.
package enum SSHWords {
  /// Who logs in where.
  package struct Login: Sendable, Equatable {
    /// The user.
    package var user: String
    /// The name or address that is dialed: ssh says HostName, and not the alias.
    package var host: String

    /// A user of a host.
    package init(user: String, host: String) { (self.user, self.host) = (user, host) }
  }

  /// The cause, in lines without line feeds.
  ///
  /// - Parameter login: who logs in on the target.
  package static func lines(_ failure: CommandFailure, login: Login?) -> [String] {
    let cause = cause(failure)
    guard var context = failure.context else { return [cause] }
    // A host on the way has an account of its own.
    let who = failure.jumpHost?.login ?? login
    if let who { context.host = who.host }
    let login = who.map { "\($0.user)@\($0.host)" }
    switch context.kind {
    case .hostKeyUnknown, .hostKeyChanged, .hostKeyRevoked, .hostKeyNewType:
      return [cause, "Host key verification failed."]
    case .nameUnknown:
      return ["ssh: Could not resolve hostname \(context.host): Name or service not known"]
    case .refused: return ["\(dial(context)): Connection refused"]
    case .dialTimeout: return ["\(dial(context)): Connection timed out"]
    case .unreachable:
      let text = context.native?.text ?? ""
      guard let words = text.isEmpty ? context.native?.socket.systemWords : text else {
        return [cause]
      }
      return ["\(dial(context)): \(PeerText.escaped(words, limit: 256))"]
    // sshd's MaxAuthTries ends a login in the middle.
    case .authenticationRefused where context.disconnectReason == 2:
      let port = context.port.map { " port \($0)" } ?? ""
      return [
        "Received disconnect from \(context.address ?? context.host)\(port):2: "
          + "Too many authentication failures"
      ]
    case .authenticationRefused:
      guard case .sshAuthenticationFailed(let method) = failure.error else { return [cause] }
      // As ssh has it, those of the server, whatever was tried.
      let methods = PeerText.escaped(context.acceptedMethods ?? method, limit: 256)
      return ["\(name(login, context)): Permission denied (\(methods))."]
    case .channelDenied where CommandAdvice.isOfTerminal(context):
      let host = PeerText.escaped(context.host, limit: 256)
      return [
        "PTY allocation request failed on channel 0",
        "ssh: \(host) gives no terminal; -T asks for none.",
      ]
    case .keyUnusable, .agentUnavailable:
      return [cause, "\(name(login, context)): Permission denied."]
    default: return [cause]
    }
  }

  private static func name(_ login: String?, _ context: FailureContext) -> String {
    PeerText.escaped(login ?? context.host, limit: 512)
  }

  private static func dial(_ context: FailureContext) -> String {
    "ssh: connect to host \(context.host)" + (context.port.map { " port \($0)" } ?? "")
  }

  /// What a person reads of it with `connect`, but for the name of the case and the remedy.
  private static func cause(_ failure: CommandFailure) -> String {
    let line = TerminalBanner.lastLines(failure.error, context: failure.context, program: "ssh")[0]
    return line.replacing("[\(failure.error.caseName)] ", with: "", maxReplacements: 1)
  }
}
