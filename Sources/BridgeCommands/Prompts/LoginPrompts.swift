import BridgeErrors
import BridgeSSH
import BridgeTransport
import BridgeWaiting

/// The questions of one connection's login, and what was answered.
final class LoginPrompts: Sendable {
  /// What happened in this login.
  private struct State {
    var passwords = 0
    var rounds = 0
    /// The secret of `--password-fd` for a hidden question, as long as that was not answered: the
    /// one that was refused must not be given again.
    var given: Secret?
    /// Whether the answers of the conversation before were refused.
    var wasRefused = false
    /// Questions that were answered from memory, or by a person, in this login.
    var answered: [AnswerMemory.Question: Secret] = [:]
  }

  /// More prompts in one request, and more requests in one login, are not answered.
  private static let (mostPrompts, mostRounds) = (16, 64)

  private let prompter: Prompter
  private let asker: Asker
  private let mayAsk: @Sendable () -> Bool
  private let state = Mutex(State())

  init(_ prompter: Prompter, for asker: Asker, mayAsk: @escaping @Sendable () -> Bool) {
    self.prompter = prompter
    self.asker = asker
    self.mayAsk = mayAsk
  }

  /// `configuration` with the questions of this login.
  func added(to configuration: SSHConfiguration) -> SSHConfiguration {
    var configuration = configuration
    configuration.interaction = interaction
    let asksAlone = configuration.credentials.contains {
      if case .keyboardInteractive = $0 { true } else { false }
    }
    state.withLock { $0.given = asksAlone ? given : nil }
    // A conversation that is begun and not answered is a failed login to the server.
    if !mayAsk(), given == nil {
      configuration.credentials.removeAll {
        if case .keyboardInteractive = $0 { true } else { false }
      }
    }
    configuration.observer = { self.see($0) }
    return configuration
  }

  /// The callbacks of the connection.
  var interaction: SSHInteraction {
    SSHInteraction(
      passphrase: { await self.passphrase(of: $0) },
      password: { _, _ in await self.password() },
      answers: { await self.answers(to: $0) },
      trust: { question in
        guard self.mayAsk() else { return false }
        return await self.prompter.trust(question, isJumpHost: self.asker.hop != nil)
      },
      notice: { self.prompter.show(notice: $0, of: self.asker) })
  }

  /// Takes the server's answer to what was offered: a secret is right when it was accepted.
  func see(_ fact: SSHFact) {
    guard case .offered(let offer) = fact else { return }
    switch (offer.credential, offer.outcome) {
    case (.password, .accepted), (.password, .partial): learn(.password(asker), isRight: true)
    case (.password, .refused), (.password, .unusable): learn(.password(asker), isRight: false)
    // The file was opened, whatever the server thinks of its key.
    case (.keyFile(let path), .accepted), (.keyFile(let path), .partial),
      (.keyFile(let path), .refused):
      learn(.passphrase(keyFile: path), isRight: true)
    case (.keyboardInteractive, .refused): state.withLock { $0.wasRefused = true }
    case (.keyFile(let path), .unusable): learn(.passphrase(keyFile: path), isRight: false)
    case _: break
    }
  }

  private func learn(_ question: AnswerMemory.Question, isRight: Bool) {
    guard let secret = state.withLock({ $0.answered[question] }) else { return }
    prompter.memory.withLock { $0.learn(secret, for: question, isRight: isRight) }
  }

  /// The secret of `--password-fd` is for the host that the run leads to.
  private var given: Secret? { asker.hop == nil ? prompter.given : nil }

  private func passphrase(of path: String) async -> Secret? {
    if let given { return given }
    let key = PeerText.escaped(path, limit: 256)
    return await answer(
      to: .passphrase(keyFile: path),
      isSSH ? "Enter passphrase for key '\(key)': " : "Passphrase of the key \(key): ")
  }

  private func password() async -> Secret? {
    let round = state.withLock { state in
      state.passwords += 1
      return state.passwords
    }
    let refusal = round > 1 && prompter.route == .terminal ? "The password was refused." : nil
    let user = PeerText.escaped(asker.user, limit: 256)
    let host = PeerText.escaped(asker.endpoint.host, limit: 256)
    return await answer(
      to: .password(asker),
      isSSH ? "\(user)@\(host)'s password: " : "Password of \(user) at \(asker.place): ",
      behind: refusal)
  }

  /// Programs that type a password for `ssh` wait for its words (sshpass(1), "assword").
  private var isSSH: Bool { prompter.reporter.style.isSSH }

  /// The answer that was right before, once a login; else a person's, who is given `words` first.
  private func answer(
    to question: AnswerMemory.Question, _ text: String, behind words: String? = nil
  ) async -> Secret? {
    let isFirst = state.withLock { $0.answered[question] == nil }
    let known = prompter.memory.withLock { isFirst ? $0.answer(to: question) : nil }
    let answer: Secret?
    if let known {
      answer = known
    } else if mayAsk() {
      await prompter.settle()
      if let words { prompter.reporter.log(words) }
      answer = await prompter.secret(text)
    } else {
      answer = nil
    }
    if let answer { state.withLock { $0.answered[question] = answer } }
    return answer
  }

  /// What a person answers here is never given a second time: it may be a code for one use.
  private func answers(to request: KeyboardInteractiveRequest) async -> [Secret]? {
    if request.prompts.count == 1, !request.prompts[0].isEchoed,
      let given = state.withLock({ $0.given.take() })
    {
      return [given]
    }
    guard request.prompts.isEmpty || mayAsk() else { return nil }
    let isTooMuch = state.withLock { state in
      state.rounds += 1
      return state.rounds > Self.mostRounds || request.prompts.count > Self.mostPrompts
    }
    let wasRefused = state.withLock { state in
      defer { state.wasRefused = false }
      return state.wasRefused
    }
    if !request.prompts.isEmpty { await prompter.settle() }
    if wasRefused, prompter.route == .terminal { prompter.reporter.log("The answer was refused.") }
    let speaker = asker.hop == nil ? "the host" : "\(asker.place)"
    guard !isTooMuch else {
      prompter.reporter.warn("\(speaker) asks too many questions; none of them is answered.")
      return nil
    }
    for text in [request.name, request.instruction] where !text.isEmpty {
      for line in prompter.lines(of: text, mark: "(\(speaker) says) ") {
        prompter.reporter.log(line)
      }
    }
    var answers: [Secret] = []
    for prompt in request.prompts {
      // What the server wrote is marked as such: it may look like a question of ours.
      let lines = prompter.lines(of: prompt.text, mark: "(\(speaker) asks) ", limit: 256)
      let question = lines.joined(separator: prompter.lineBreak) + " "
      guard let answer = await prompter.secret(question, isEchoed: prompt.isEchoed) else {
        return nil
      }
      answers.append(answer)
    }
    return answers
  }
}
