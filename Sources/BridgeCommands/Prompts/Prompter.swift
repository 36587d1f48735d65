import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeWaiting

/// Prompts a person for a connection's secrets and decisions: on the terminal or by SSH_ASKPASS,
/// never from standard input, never with the peer's own control characters.
struct Prompter: Sendable {
  let route: PromptRoute
  /// Whether a host key may be asked about: a person must see it.
  let hasTerminal: Bool
  let reporter: Reporter
  /// Reads the same terminal for the remote side; it waits while a question is open.
  let input: DescriptorReader
  /// The secret of `--password-fd`: for a password, a passphrase, or one hidden question.
  private let given = Mutex(Secret?.none)
  private let memory = Mutex(Memory())

  /// The earlier prompts and answers: a reconnect does not prompt for what was right before.
  private struct Memory {
    var passwords = 0
    var isExplained = false
    /// Answers of this attempt, not known to be right.
    var given: [String: Secret] = [:]
    /// Answers that the server accepted.
    var right: [String: Secret] = [:]
  }

  init(route: PromptRoute, hasTerminal: Bool, reporter: Reporter, input: DescriptorReader) {
    self.route = route
    self.hasTerminal = hasTerminal
    self.reporter = reporter
    self.input = input
  }

  /// Answers with `secret` what would be asked for without echo, once an attempt.
  func give(_ secret: Secret?) { given.withLock { $0 = secret } }

  /// The server accepted what was answered.
  func keepAnswers() {
    memory.withLock { memory in
      memory.right.merge(memory.given) { $1 }
      (memory.given, memory.passwords) = ([:], 0)
    }
  }

  /// The callbacks of the connection.
  var interaction: SSHInteraction {
    SSHInteraction(
      passphrase: { path in
        if let given = given.withLock({ $0 }) { return given }
        return await remembered("Passphrase of the key \(shown(path)): ")
      },
      password: { await password(user: $0, host: $1) },
      answers: { await answers(to: $0) },
      trust: { await trust($0) })
  }

  /// The callbacks of a connection to a host on the way: questions name it, and the secret of
  /// `--password-fd` is not for it.
  func interaction(ofHop host: String) -> SSHInteraction {
    SSHInteraction(
      passphrase: { await remembered("Passphrase of the key \(shown($0)): ") },
      password: { await password(user: $0, host: $1) },
      answers: { await answers(to: $0, of: host) },
      trust: { await trust($0) })
  }

  private func password(user: String, host: String) async -> Secret? {
    let round = memory.withLock { memory in
      memory.passwords += 1
      return memory.passwords
    }
    if round > 1, route == .terminal { reporter.log("The password was refused.") }
    return await remembered("Password of \(shown(user)) at \(shown(host)): ")
  }

  /// The answer that was right before, once an attempt; else a person's.
  private func remembered(_ question: String) async -> Secret? {
    if let known = memory.withLock({ $0.right.removeValue(forKey: question) }) {
      memory.withLock { $0.given[question] = known }
      return known
    }
    let answer = await secret(question)
    if let answer { memory.withLock { $0.given[question] = answer } }
    return answer
  }

  /// `hop`: the host on the way that asks; nil for the one that the run leads to.
  private func answers(
    to request: KeyboardInteractiveRequest, of hop: String? = nil
  ) async -> [Secret]? {
    if hop == nil, request.prompts.count == 1, !request.prompts[0].isEchoed,
      let given = given.withLock({ $0 })
    {
      return [given]
    }
    for text in [request.name, request.instruction] where !text.isEmpty {
      reporter.log(PeerText.escaped(text, limit: 1024, layout: .paragraph))
    }
    var answers: [Secret] = []
    for prompt in request.prompts {
      // What the server wrote is marked as such: it may look like a question of ours.
      let text = PeerText.escaped(prompt.text, limit: 256)
      let question = "(\(hop.map { shown($0) } ?? "the host") asks) \(text) "
      guard let answer = await secret(question, isEchoed: prompt.isEchoed) else { return nil }
      answers.append(answer)
    }
    return answers
  }

  private func trust(_ question: HostKeyQuestion) async -> Bool {
    guard hasTerminal, case let host = shown(question.host) else { return false }
    var text =
      question.isKnownByOtherTypes
      ? "\(host) is known, but with other keys: the connection may be intercepted. "
      : "\(host) is not a known host. "
    text += "Its \(shown(question.keyType)) key is\r\n  \(question.fingerprint)\r\n"
    if let doubt = question.doubt { text += "\(PeerText.escaped(doubt, limit: 1024))\r\n" }
    text += "Compare it with the administrator's fingerprint. Trust it? [yes/NO/fingerprint] "
    await reporter.beginQuestion()
    input.hold(true)
    defer {
      input.hold(false)
      reporter.endQuestion()
    }
    while let bytes = await TerminalPrompt.ask(text, isEchoed: true) {
      let answer = String(decoding: bytes, as: UTF8.self)
      switch HostKeyAnswer(answer, fingerprint: question.fingerprint) {
      case .trust: return true
      case .refuse: return false
      case .unclear: text = "Type yes, no or the fingerprint: "
      }
    }
    return false
  }

  private func secret(_ question: String, isEchoed: Bool = false) async -> Secret? {
    await reporter.beginQuestion()
    defer { reporter.endQuestion() }
    switch route {
    case .terminal:
      input.hold(true)
      defer { input.hold(false) }
      return await TerminalPrompt.ask(question, isEchoed: isEchoed).map { Secret($0) }
    case .program(let program):
      return await answer(of: program, to: question)
    case .nowhere(let reason):
      let isFirst = memory.withLock { memory in
        defer { memory.isExplained = true }
        return !memory.isExplained
      }
      if isFirst { reporter.log("\(question.dropLast(2)) is required. \(reason)") }
      return nil
    }
  }

  private func answer(of program: String, to question: String) async -> Secret? {
    switch await AskpassProgram.ask(question, program: program) {
    case .given(let bytes): return Secret(bytes)
    case .declined: return nil
    case .notStarted(let reason):
      reporter.log("SSH_ASKPASS: \(shown(program)) cannot be started: \(reason).")
      return nil
    }
  }

  private func shown(_ text: String) -> String { PeerText.escaped(text, limit: 256) }
}
