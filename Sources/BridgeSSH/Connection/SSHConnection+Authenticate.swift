import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

extension SSHConnection {
  /// The result of an offer.
  enum Answer {
    case accepted
    /// Accepted, and more is wanted.
    case partial([String])
    /// The server refused it; these methods may continue.
    case refused([String])
    /// The server refused the method before it asked for anything: no credential was refused.
    case unaskedRefusal([String])
    /// It could not be offered at all.
    case unusable(SSHFailure)
    /// The secret or answer that it needs was not given.
    case notAvailable
  }

  /// Offers the configured credentials until the server is content.
  func authenticate() async throws(SSHFailure) {
    login = LoginProgress(within: configuration.timeouts.authenticate)
    var plan = AuthenticationPlan(
      configuration.credentials, conversations: configuration.conversations)
    // A public key is offered unasked: its refusal brings the list, and sshd lets every question
    // that proves nothing wait for 5 ms and more.
    var methods: [String]?
    var unusable: SSHFailure?
    while true {
      guard let offer = plan.next(for: methods ?? ["publickey"]) else {
        guard methods == nil else { break }
        login.askForMethods()
        guard let list = try await probeMethods() else { return admit("none") }
        methods = list
        configuration.observer?(.methods(list.map { PeerText.escaped($0, limit: 64) }))
        continue
      }
      login.make(by: offer.method)
      let asked = timeAsked
      let answer = try await make(offer, in: &plan)
      report(offer, answer, asked: timeAsked - asked)
      switch answer {
      case .accepted:
        login.admit()
        return admit(login.admission)
      case .partial(let next):
        login.admit()
        methods = next
      case .refused(let next):
        // The method was refused, not the key: the server may want it behind another one.
        if methods == nil, !next.contains(offer.method) {
          plan.putBack(offer, login.key?.blob)
        } else {
          plan.refused(offer)
          login.refuse()
        }
        methods = next
      case .unaskedRefusal(let next):
        methods = next
        plan.refused(offer)
        plan.endConversations()
      // The password is right: asked for it again, its user would be locked out.
      case .unusable(let failure) where failure.code == .passwordExpired: throw failure
      case .unusable(let failure):
        unusable = unusable ?? failure
      case .notAvailable:
        if offer == .keyboardInteractive { plan.endConversations() }
      }
    }
    if login.refusedMethod == nil, let unusable { throw unusable }
    let wasRefused = login.refusedMethod != nil
    let wasAdmitted = login.admission != nil
    login.end(methods: methods.map { PeerText.escaped($0.joined(separator: ",")) })
    var others = unusable.map { "; not offered: \($0.reasonNotOffered)" } ?? ""
    if login.hasRefusedRSA { others += Self.olderServers }
    throw failure(
      code: .authenticationFailed,
      text: wasRefused
        ? "no credential was accepted\(others)"
        : wasAdmitted ? SSHFailure.nothingMoreOffered : SSHFailure.nothingOffered,
      phase: .authenticate)
  }

  private func report(
    _ offer: AuthenticationPlan.Offer, _ answer: Answer, asked: Duration
  ) {
    guard let observer = configuration.observer else { return }
    let shown = { (methods: [String]) in methods.map { PeerText.escaped($0, limit: 64) } }
    let outcome: OfferFact.Outcome
    switch answer {
    case .accepted: outcome = .accepted
    case .partial(let methods): outcome = .partial(shown(methods))
    case .refused(let methods), .unaskedRefusal(let methods): outcome = .refused(shown(methods))
    case .unusable(let failure): outcome = .unusable(failure.reasonNotOffered)
    case .notAvailable:
      if let (held, offered) = login.listed {
        outcome = .listed(held: held, offered: offered)
      } else if let reason = login.reason {
        outcome = .notOffered(reason)
      } else if offer.hasLaterTurn {
        return
      } else {
        outcome = .notOffered("No answer was given.")
      }
    }
    observer(
      .offered(
        OfferFact(
          offer.credential, keyType: login.key?.typeName, fingerprint: login.key?.fingerprint,
          outcome, asked: asked)))
  }

  private static let olderServers =
    "; an RSA key is offered by rsa-sha2-256, which servers before OpenSSH 7.2 and Dropbear "
    + "2020.79 do not have: use an ed25519 or ECDSA key there"

  /// The `none` request: the methods that may go on; nil when nothing more is wanted.
  private func probeMethods() async throws(SSHFailure) -> [String]? {
    let user = configuration.user
    return try await request(isHelped: false) { $0.probeMethods(user: user) }.get()
  }

  private func make(
    _ offer: AuthenticationPlan.Offer, in plan: inout AuthenticationPlan
  ) async throws(SSHFailure) -> Answer {
    switch offer {
    case .keyFile(let path):
      return try await offerKeyFile(path, plan: &plan)
    case .certificate(let certificate, let path):
      return try await offerCertificate(certificate, ofKeyIn: path, plan: &plan)
    case .certificateFile(let path):
      return try await offerCertificate(inFile: path, plan: &plan)
    case .agentKeys(let wanted):
      return try await askAgent(wanted, plan: &plan)
    case .agentKey(let key):
      return try await offerAgentKey(key, plan: &plan)
    case .password(_, let index):
      return try await offerPassword(index)
    case .keyboardInteractive:
      return try await offerKeyboardInteractive(nil)
    case .sameByKeyboardInteractive(let index):
      return try await offerKeyboardInteractive(configuration.credentials[index].givenPassword)
    }
  }

  private func offerPassword(_ index: Int) async throws(SSHFailure) -> Answer {
    let given = configuration.credentials[index].givenPassword
    let (user, host) = (configuration.user, endpoint.host)
    let ask = configuration.interaction.password
    let password =
      if let given { Optional(given) } else {
        try await self.ask(phase: .authenticate) { await ask(user, host) }
      }
    guard let password else { return .notAvailable }
    if let problem = password.problem {
      return .unusable(failure(code: .authenticationFailed, text: problem, phase: .authenticate))
    }
    let answer = try await answer(isHelped: false) {
      $0.authenticate(user: user, password: password)
    }
    // libssh2 calls it a failed authentication, as any.
    guard case .unusable(var failure) = answer, session?.tap.isPasswordExpired == true else {
      return answer
    }
    failure.code = .passwordExpired
    return .unusable(failure)
  }

  /// `given` answers the first hidden prompt that comes alone.
  private func offerKeyboardInteractive(_ given: Secret?) async throws(SSHFailure) -> Answer {
    let exchange = PromptExchange()
    promptExchange = exchange
    defer {
      promptExchange = nil
      questionTime.add(exchange.timeAsked)
    }
    let user = configuration.user
    let ask = configuration.interaction.answers
    let answering = Task(executorPreference: globalConcurrentExecutor) {
      var given = given
      for await request in exchange.requests {
        let isOneHidden = request.prompts.count == 1 && !request.prompts[0].isEchoed
        if isOneHidden, let secret = given.take() {
          exchange.answer([secret])
          continue
        }
        // A server may ask again whatever comes, and the library goes on with it.
        let isAgain = exchange.isUnanswered && !request.prompts.isEmpty
        if isAgain { await self.endQuestions() }
        exchange.answer(isAgain ? nil : await ask(request))
      }
    }
    let begun = ContinuousClock.now
    let result: Result<Answer, SSHFailure>
    do throws(SSHFailure) {
      let answer = try await answer(isHelped: true) { session in
        session.authenticate(user: user) { request in
          SSHInput.sendable(
            exchange.ask(request) { session.wire.carrier.isAtEnd() })
        }
      }
      result = .success(answer)
    } catch {
      result = .failure(error)
    }
    exchange.cancel()
    answering.cancel()
    // People's time is not counted: what was counted of it is given back.
    login.giveBack(min(exchange.timeAsked, ContinuousClock.now - begun))
    if exchange.isUnanswered, case .success(.refused) = result { return .notAvailable }
    if !exchange.wasAsked, case .success(.refused(let next)) = result {
      return .unaskedRefusal(next)
    }
    return try result.get()
  }

  /// Ends the connection of a server that goes on asking when there is no answer.
  private func endQuestions() {
    end(
      now: failure(
        code: .authenticationFailed, text: "the server asks again and again", phase: .authenticate))
  }

  /// One authentication request and its result.
  func answer(
    isHelped: Bool, _ attempt: @escaping @Sendable (SSHSession) -> Attempt<Void>
  ) async throws(SSHFailure) -> Answer {
    session?.prepareAuthentication()
    switch await request(isHelped: isHelped, attempt) {
    case .success:
      return .accepted
    case .failure(let failure):
      if ending != nil || failure.observation != nil { throw ending ?? failure }
      if let refusal = session?.tap.refusal {
        return refusal.isPartialSuccess
          ? .partial(refusal.methods) : .refused(refusal.methods)
      }
      return .unusable(failure)
    }
  }

  /// Counts the time of a request against the phase's total.
  private func request<Value: Sendable>(
    isHelped: Bool, _ attempt: @escaping @Sendable (SSHSession) -> Attempt<Value>
  ) async -> Outcome<Value> {
    let begun = ContinuousClock.now
    let outcome = await perform(
      in: .session, phase: .authenticate, within: login.timeLeft,
      isHelped: isHelped, attempt)
    login.spend(ContinuousClock.now - begun)
    return outcome
  }

  /// The failure of a file or socket that could not be opened, with this `errno`, because this
  /// machine ran out of descriptors or memory: another attempt may find some. Nil for every other
  /// cause.
  func localShortage(_ errno: Int32, phase: ConnectionPhase = .authenticate) -> SSHFailure? {
    var failure = failure(phase: phase)
    failure.socket = .failed(errno: errno)
    return failure.kind == .localResource ? failure : nil
  }
}

extension SSHFailure {
  fileprivate var reasonNotOffered: String {
    switch observation {
    case .keyUnusable(let reason), .agentUnavailable(let reason): reason
    case _: message
    }
  }
}
