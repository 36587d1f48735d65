import BridgeErrors
import BridgeReactor
import BridgeTransport

extension SSHConnection {
  /// How often a passphrase is asked for.
  private static let passphraseTries = 3

  /// Asks the agent for its keys; they take its place in the plan.
  func askAgent(
    at path: String, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    let reactor = reactor
    let begun = ContinuousClock.now
    // Half of it: an agent that hangs leaves time for the next credential.
    let patience = authenticationLeft / 2
    let answer = await elsewhere(phase: .authenticate, within: patience) {
      await reactor.onHelperThread { () -> Result<[AgentIdentity], AgentProblem> in
        Result { () throws(AgentProblem) in
          try AgentSocket(path: path, patience: patience).identities()
        }
      }
    }
    authenticationLeft = max(.milliseconds(1), authenticationLeft - (ContinuousClock.now - begun))
    switch answer {
    case .failure(let failure):
      guard failure.observation == .deadline else { throw failure }
      return .unusable(observed(.agentUnavailable(reason: AgentProblem.silent.reason)))
    case .success(.failure(let problem)):
      return .unusable(observed(.agentUnavailable(reason: problem.reason)))
    case .success(.success(let identities)):
      let keys = identities.map { AgentKey(blob: $0.blob, type: $0.type, socketPath: path) }
      let usable = keys.filter(\.isUsable)
      plan.insert(usable)
      guard usable.isEmpty else { return .notAvailable }
      let types = Set(keys.map(\.type)).sorted().joined(separator: ", ")
      let reason =
        keys.isEmpty
        ? "The ssh-agent holds no keys."
        : "The ssh-agent holds only keys that libssh2 \(LibSSH2.version) cannot use (\(types))."
      return .unusable(observed(.agentUnavailable(reason: reason)))
    }
  }

  /// Offers the key in the file at `path`, after a look at what it is.
  func offerKeyFile(
    _ path: String, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    let library = library
    let read = await reactor.onHelperThread { KeyFile.read(path) }
    try checkStillWanted()
    let info: PrivateKeyInfo
    switch read {
    case .failure(let problem): return .unusable(observed(.keyUnusable(reason: problem.reason)))
    case .success(let key): info = key
    }
    if let reason = info.refusal(library: library, hasPassphrase: true) {
      return .unusable(observed(.keyUnusable(reason: reason)))
    }
    if let blob = info.publicBlob, !plan.isFirst(blob) { return .notAvailable }
    guard info.isEncrypted else { return try await offer(path, passphrase: nil) }
    return try await offerEncrypted(path, info)
  }

  private func offerEncrypted(
    _ path: String, _ info: PrivateKeyInfo
  ) async throws(SSHFailure) -> Answer {
    let ask = configuration.interaction.passphrase
    let reason = info.refusal(library: library, hasPassphrase: false) ?? "The key is encrypted."
    var last = Answer.unusable(observed(.keyUnusable(reason: reason)))
    for _ in 0..<Self.passphraseTries {
      let given = try await elsewhere(phase: .authenticate) { await ask(path) }.get()
      guard let given else { return last }
      if given.problem == nil {
        last = try await offer(path, passphrase: given)
        guard case .unusable = last else { return last }
      }
      last = .unusable(
        observed(.keyUnusable(reason: "The passphrase does not open the key file.")))
    }
    return last
  }

  private func offer(_ path: String, passphrase: Secret?) async throws(SSHFailure) -> Answer {
    let user = configuration.user
    // Deriving a key from a passphrase takes 100 ms and more, on purpose.
    return try await answer(isHelped: passphrase != nil) {
      $0.authenticate(user: user, keyFile: path, passphrase: passphrase)
    }
  }

  private func observed(_ observation: SSHFailure.Observation) -> SSHFailure {
    failure(observation: observation, phase: .authenticate)
  }
}

/// A private key file, looked at before it is used.
enum KeyFile {
  struct Problem: Error {
    var reason: String
  }

  static func read(_ path: String) -> Result<PrivateKeyInfo, Problem> {
    do throws(AppError) {
      guard let content = try LocalFile.read(path, limit: PrivateKeyInfo.limit + 1) else {
        return .failure(Problem(reason: "There is no key file at \(PeerText.escaped(path))."))
      }
      return Result { () throws(KeyFileProblem) in try PrivateKeyInfo(content.bytes) }
        .mapError { Problem(reason: $0.reason) }
    } catch {
      let path = PeerText.escaped(path)
      guard case .fileReadError(_, let reason) = error else {
        return .failure(Problem(reason: "The key file at \(path) cannot be read."))
      }
      return .failure(Problem(reason: "The key file at \(path) cannot be read: \(reason)"))
    }
  }
}
