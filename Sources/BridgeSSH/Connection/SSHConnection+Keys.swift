import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

extension SSHConnection {
  /// How often a passphrase is requested.
  private static let passphraseTries = 3

  static let offeredBefore = "The key was offered before."
  private static let wrongPassphrase = "The passphrase does not open the key file."

  /// Asks the agent for its keys; they take its place in the plan.
  func askAgent(
    _ wanted: AuthenticationPlan.AgentKeys, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    let (path, files) = (wanted.socketPath, wanted.preferred)
    let begun = ContinuousClock.now
    let timeout = login.localTime
    let answer = await elsewhere(phase: .authenticate, within: timeout) {
      await AgentAnswer.read(at: path, preferring: files, within: timeout)
    }
    login.spend(ContinuousClock.now - begun)
    switch answer {
    case .failure(let failure):
      guard failure.observation == .deadline else { throw failure }
      return useless(wanted, AgentProblem.silent.reason)
    case .success(nil):
      throw failure(observation: .cancelled, phase: .authenticate)
    case .success(.failure(let problem)):
      if let shortage = localShortage(problem.errno) { throw shortage }
      return useless(wanted, problem.reason)
    case .success(.success(let answer)):
      let keys = answer.identities.map { AgentKey(blob: $0.blob, type: $0.type, socketPath: path) }
      let usable = keys.filter { $0.algorithm != nil }
      let preferred = answer.preferred.compactMap { blob in usable.first { $0.blob == blob } }
      let others = wanted.isLimited ? [] : usable.filter { !preferred.contains($0) }
      plan.insert(preferred, others: others, behind: wanted.behind)
      plan.add(held: usable)
      login.list(held: keys.count, offered: preferred.count + others.count)
      guard usable.isEmpty else { return .notAvailable }
      let types = Set(keys.map(\.type)).sorted().joined(separator: ", ")
      let reason =
        keys.isEmpty
        ? "The ssh-agent holds no keys."
        : "The ssh-agent holds only keys that libssh2 \(LibSSH2.version) cannot use (\(types))."
      return useless(wanted, reason)
    }
  }

  /// Offers a key of an agent. One that the agent does not sign with is of no use, and the next
  /// credential has its turn.
  func offerAgentKey(
    _ key: AgentKey, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    try await offer(key, as: key.blob, plan: &plan)
  }

  /// - Parameter blob: the key, or a certificate of it.
  private func offer(
    _ key: AgentKey, as blob: [UInt8], plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    login.show(blob)
    if let refusal = refusal(of: blob) { return refusal }
    guard plan.isFirst(blob) else {
      login.passOver(Self.offeredBefore)
      return .notAvailable
    }
    let user = configuration.user
    let left = login.timeLeft
    let problem = Mutex(AgentProblem?.none)
    guard let request = PublicKeyRequest(user: user, blob: blob) else { return .notAvailable }
    let algorithm = request.algorithm
    if algorithm.isRSA { login.signsByRSA() }
    let answer = try await answer(isHelped: true) { session in
      session.authenticate(request) { data in
        key.sign(data, by: algorithm, within: left) { reason in problem.withLock { $0 = reason } }
      }
    }
    guard let problem = problem.withLock({ $0 }) else { return answer }
    if let shortage = localShortage(problem.errno) { throw shortage }
    guard case .unusable = answer else { return answer }
    plan.withdraw(blob)
    return .unusable(observed(.keyUnusable(reason: problem.reason)))
  }

  /// Where the agent is asked for the keys of files, those have their turn, and what is
  /// wrong with them says more.
  private func useless(_ wanted: AuthenticationPlan.AgentKeys, _ reason: String) -> Answer {
    wanted.preferred.isEmpty
      ? .unusable(observed(.agentUnavailable(reason: reason))) : .notAvailable
  }

  /// Offers the key in the file at `path`, after a look at what it is.
  func offerKeyFile(
    _ path: String, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    let library = library
    let info: PrivateKeyInfo
    let (found, certificate) = try await read(path)
    if let certificate { plan.follow(certificate, keyFile: path) }
    switch found {
    case .failure(let problem):
      if let shortage = localShortage(problem.errno) { throw shortage }
      // A public key stands for the agent's, which was offered before.
      if let blob = problem.publicBlob, plan.hasOffered(blob) {
        login.passOver(Self.offeredBefore)
        return .notAvailable
      }
      return .unusable(observed(.keyUnusable(reason: problem.reason)))
    case .success(let key): info = key
    }
    login.show(info.publicBlob)
    if let reason = info.refusal(library: library, hasPassphrase: true) {
      return .unusable(observed(.keyUnusable(reason: reason)))
    }
    // Before its passphrase is asked for.
    if let refusal = info.publicBlob.flatMap(refusal) { return refusal }
    if info.isEncrypted, plan.postpone(keyFile: path) { return .notAvailable }
    if let blob = info.publicBlob, !plan.isFirst(blob) {
      login.passOver(Self.offeredBefore)
      return .notAvailable
    }
    return try await offerOpened(path, info, nil, plan: &plan)
  }

  /// Offers a certificate of the key in the file at `path`, which signs; or that of an agent, which
  /// needs no passphrase.
  func offerCertificate(
    _ certificate: UserCertificate, ofKeyIn path: String, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    if let key = plan.agentKey(of: certificate) {
      return try await offer(key, as: certificate.blob, plan: &plan)
    }
    login.show(certificate.blob)
    if let refusal = refusal(of: certificate.blob) { return refusal }
    guard case .success(let info) = try await read(path).key,
      info.refusal(library: library, hasPassphrase: true) == nil
    else {
      login.passOver("The key of the certificate cannot be used.")
      return .notAvailable
    }
    guard plan.isFirst(certificate.blob) else {
      login.passOver(Self.offeredBefore)
      return .notAvailable
    }
    return try await offerOpened(path, info, certificate, plan: &plan)
  }

  /// Offers the certificate in the file at `path`, for which a key of the other credentials signs.
  func offerCertificate(
    inFile path: String, plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    let shown = PeerText.escaped(path)
    let keyFiles = configuration.credentials.compactMap { credential -> String? in
      if case .keyFile(let path) = credential { path } else { nil }
    }
    let begun = ContinuousClock.now
    let read = await elsewhere(phase: .authenticate, within: login.timeLeft) {
      await BlockingThreads.files.run { () -> (UserCertificate, keyFile: String?)? in
        guard let certificate = KeyFile.certificate(in: path) else { return nil }
        return (certificate, keyFiles.first { KeyFile.publicBlob(of: $0) == certificate.key })
      }
    }
    login.spend(ContinuousClock.now - begun)
    guard let (certificate, keyFile) = try read.get() ?? nil else {
      let reason = "There is no certificate of a user in \(shown)."
      return .unusable(observed(.keyUnusable(reason: reason)))
    }
    guard keyFile != nil || plan.agentKey(of: certificate) != nil else {
      let reason = """
        No key file, and no ssh-agent that may be used, has the key of the certificate in \(shown) \
        (with IdentitiesOnly an agent's key needs its IdentityFile).
        """
      return .unusable(observed(.keyUnusable(reason: reason)))
    }
    plan.come(next: certificate, keyFile: keyFile ?? path)
    return .notAvailable
  }

  /// The file, and the certificate beside it. They may be on a file server that does not answer:
  /// its time counts as authentication.
  private func read(
    _ path: String
  ) async throws(SSHFailure) -> (
    key: Result<PrivateKeyInfo, KeyFile.Problem>, certificate: UserCertificate?
  ) {
    let begun = ContinuousClock.now
    let read = await elsewhere(phase: .authenticate, within: login.timeLeft) {
      await BlockingThreads.files.run { (KeyFile.read(path), KeyFile.certificate(of: path)) }
    }
    login.spend(ContinuousClock.now - begun)
    switch read {
    case .success(let result?): return (result.0, result.1)
    case .success(nil): throw failure(observation: .cancelled, phase: .authenticate)
    case .failure(var failure):
      if failure.observation == .deadline {
        failure.message = "the key file at \(PeerText.escaped(path)) was not read in time"
      }
      throw failure
    }
  }

  /// - Parameter certificate: what is offered in place of the key itself.
  private func offerOpened(
    _ path: String, _ info: PrivateKeyInfo, _ certificate: UserCertificate?,
    plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    // The key or its certificate came before: the passphrase is not asked for again.
    if let opened = plan.opened[path] {
      guard let key = opened else {
        login.passOver(Self.wrongPassphrase)
        return .notAvailable
      }
      return try await offer(key, certificate)
    }
    guard info.isEncrypted else {
      return try await offer(path, info, certificate, passphrase: nil, plan: &plan)
    }
    let ask = configuration.interaction.passphrase
    let reason = info.refusal(library: library, hasPassphrase: false) ?? "The key is encrypted."
    var last = Answer.unusable(observed(.keyUnusable(reason: reason)))
    for _ in 0..<Self.passphraseTries {
      let given = try await self.ask(phase: .authenticate) { await ask(path) }
      // As with ssh(1), an empty answer goes on to the next credential.
      guard let given, !given.isEmpty else { return last }
      if given.problem == nil {
        last = try await offer(path, info, certificate, passphrase: given, plan: &plan)
        guard case .unusable = last else { return last }
      }
      last = .unusable(observed(.keyUnusable(reason: Self.wrongPassphrase)))
    }
    plan.opened[path] = .some(nil)
    return last
  }

  private func offer(
    _ path: String, _ info: PrivateKeyInfo, _ certificate: UserCertificate?, passphrase: Secret?,
    plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    let begun = ContinuousClock.now
    let found = await elsewhere(phase: .authenticate, within: login.timeLeft) {
      await BlockingThreads.files.run { PrivateKey.read(path, info, passphrase: passphrase) }
    }
    login.spend(ContinuousClock.now - begun)
    guard let found = try found.get() else {
      throw failure(observation: .cancelled, phase: .authenticate)
    }
    switch found {
    case .key(let key):
      plan.opened[path] = key
      return try await offer(key, certificate)
    case .other:
      let reason = "The key is of a kind that SSH does not use; use an ed25519 or ECDSA key."
      return .unusable(observed(.keyUnusable(reason: reason)))
    case .wrongPassphrase:
      return .unusable(observed(.keyUnusable(reason: Self.wrongPassphrase)))
    case .damaged:
      let reason = KeyFileProblem.damaged.reason(of: PeerText.escaped(path))
      return .unusable(observed(.keyUnusable(reason: reason)))
    }
  }

  private func offer(
    _ key: PrivateKey, _ certificate: UserCertificate?
  ) async throws(SSHFailure) -> Answer {
    // One of another key is of no use.
    guard certificate.map({ $0.key == key.blob }) ?? true else {
      login.passOver("The certificate is one of another key.")
      return .notAvailable
    }
    let blob = certificate?.blob ?? key.blob
    if let refusal = refusal(of: blob) { return refusal }
    guard let request = PublicKeyRequest(user: configuration.user, blob: blob) else {
      return .unusable(observed(.keyUnusable(reason: KeyFileProblem.damaged.reason)))
    }
    if request.algorithm.isRSA { login.signsByRSA() }
    let name = request.algorithm.signature
    // An RSA signature takes a while.
    return try await answer(isHelped: request.algorithm.isRSA) { session in
      session.authenticate(request) { data in
        key.sign(data).map { bare in
          var signature = WireWriter()
          signature.string(name)
          signature.string(bare)
          return signature.bytes
        }
      }
    }
  }

  /// The answer to a key, or a certificate, that the user's rules keep back.
  private func refusal(of blob: [UInt8]) -> Answer? {
    configuration.keyRules.refusal(ofUserKey: blob).map { reason in
      .unusable(observed(.keyUnusable(reason: reason)))
    }
  }

  private func observed(_ observation: SSHFailure.Observation) -> SSHFailure {
    failure(observation: observation, phase: .authenticate)
  }
}

/// The keys of an agent, and the public keys of the files that are preferred.
private struct AgentAnswer {
  var identities: [AgentIdentity]
  var preferred: [[UInt8]]

  /// Asks the agent at `path` and reads `files`; nil when the task was canceled before.
  static func read(
    at path: String, preferring files: [String], within timeout: Duration
  ) async -> Result<AgentAnswer, AgentProblem>? {
    let preferred = await BlockingThreads.files.run {
      files.compactMap { KeyFile.publicBlob(of: $0) }
    }
    guard let preferred else { return nil }
    return await BlockingThreads.prompts.run {
      Result { () throws(AgentProblem) in
        AgentAnswer(
          identities: try AgentSocket(path: path, timeout: timeout).identities(),
          preferred: preferred)
      }
    }
  }
}
