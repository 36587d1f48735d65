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
  /// The secrets that were right.
  let memory = Mutex(AnswerMemory())
  private let givenSecret = Mutex(Secret?.none)
  private let isExplained = Mutex(false)
  private let refusedKey = Mutex(false)
  /// The notices that were shown, and whose: a reconnect does not repeat them.
  private let notices = Mutex(Set<String>())

  init(route: PromptRoute, hasTerminal: Bool, reporter: Reporter, input: DescriptorReader) {
    self.route = route
    self.hasTerminal = hasTerminal
    self.reporter = reporter
    self.input = input
  }

  /// The secret of `--password-fd`: for a password, a passphrase, or one hidden question.
  var given: Secret? { givenSecret.withLock { $0 } }

  /// Whether a person did not trust a host key.
  var hasRefusedKey: Bool { refusedKey.withLock { $0 } }

  /// Answers with `secret` what would be asked for without echo, once an attempt.
  func give(_ secret: Secret?) { givenSecret.withLock { $0 = secret } }

  /// The questions of one connection's login to `asker`; a person answers while they `mayAsk`.
  /// With `isBatch` none of them is asked.
  func login(
    to asker: Asker, isBatch: Bool = false, mayAsk: @escaping @Sendable () -> Bool = { true }
  ) -> LoginPrompts {
    LoginPrompts(isBatch ? silent : self, for: asker, mayAsk: mayAsk)
  }

  /// Shows what the host of `asker` tells its users before they log in. Each line is marked: it
  /// may look like one of ours.
  func show(notice: String, of asker: Asker) {
    let isNew = notices.withLock { shown in
      shown.count < Self.mostNotices && shown.insert("\(asker.place) \(notice)").inserted
    }
    guard isNew else { return }
    let columns = hasTerminal ? (TerminalSize(of: 2) ?? TerminalSize()).columns : nil
    let lines = PeerLines.lines(
      of: notice, mark: reporter.style.isSSH ? "" : "| ", columns: columns, limit: Self.noticeLimit,
      most: Self.noticeLines)
    reporter.event(.notice(host: asker.place, text: notice))
    reporter.notice(lines)
  }

  private static let (mostNotices, noticeLimit, noticeLines) = (64, 64 << 10, 1024)

  /// For a host on the way whose BatchMode says so.
  private var silent: Prompter {
    Prompter(
      route: .nowhere("BatchMode is set for it."), hasTerminal: false, reporter: reporter,
      input: input)
  }

  /// What separates the lines of a question.
  var lineBreak: String { route == .terminal ? "\r\n" : "\n" }

  /// The lines of what a server says, each with `mark`.
  func lines(of text: String, mark: String, limit: Int = 1024) -> [String] {
    let columns = hasTerminal ? (TerminalSize(of: 2) ?? TerminalSize()).columns : nil
    return PeerLines.lines(of: text, mark: mark, columns: columns, limit: limit)
  }

  /// To be called before a question and what is said with it. Who types on means the shell and does
  /// not look: that is no answer, and what is typed into a password is sent to the server.
  func settle() async {
    guard hasTerminal, route == .terminal else { return }
    await input.untilQuiet(for: Self.quiet)
    if input.isTypedInto { reporter.leaveLine() }
  }

  /// A pause in which a person who types looks up.
  private static let quiet = Duration.seconds(2)

  /// Whether a person trusts the key.
  func trust(_ question: HostKeyQuestion, isJumpHost: Bool) async -> Bool {
    guard hasTerminal else { return false }
    await settle()
    let host = shown(question.host) + (isJumpHost ? " (jump host)" : "")
    let isSSH = reporter.style.isSSH
    var text =
      isSSH ? "The authenticity of host '\(host)' can't be established. " : ""
    switch question.finding {
    case .unknown: text += "\(host) is not a known host. "
    case .otherTypes, .changed:
      text += "\(host) is known, but with other keys: the connection may be intercepted. "
    }
    text += "Its \(shown(question.keyType)) key is\r\n  \(question.fingerprint)\r\n"
    if let detail = question.finding.detail {
      text += "\(PeerText.escaped(detail, limit: 1024))\r\n"
    }
    text +=
      isSSH
      ? "Are you sure you want to continue connecting (yes/no/[fingerprint])? "
      : "Compare it with the administrator's fingerprint. Trust it? [yes/NO/fingerprint] "
    await reporter.beginQuestion()
    input.hold(true)
    defer {
      input.hold(false)
      reporter.endQuestion()
    }
    while let bytes = await ask(text, isEchoed: true) {
      let answer = String(decoding: bytes, as: UTF8.self)
      switch HostKeyAnswer(answer, fingerprint: question.fingerprint) {
      case .trust: return true
      case .refuse:
        refusedKey.withLock { $0 = true }
        return false
      case .unclear: text = "Type yes, no or the fingerprint: "
      }
    }
    return false
  }

  /// What a person answers; nil where none can be asked, or none answers.
  func secret(_ question: String, isEchoed: Bool = false) async -> Secret? {
    await reporter.beginQuestion()
    defer { reporter.endQuestion() }
    switch route {
    case .terminal:
      input.hold(true)
      defer { input.hold(false) }
      return await ask(question, isEchoed: isEchoed).map { Secret($0) }
    case .program(let program):
      return await answer(of: program, to: question)
    case .nowhere(let reason):
      let isFirst = isExplained.withLock { isExplained in
        defer { isExplained = true }
        return !isExplained
      }
      // ssh(1) says nothing, and its options are others.
      let words = "\(question.dropLast(2)) is required. \(reason)"
      if isFirst { reporter.style.isSSH ? reporter.detail(words) : reporter.log(words) }
      return nil
    }
  }

  /// What a person types. A question that goes with its link is not seen by who types on: the rest
  /// of an answer is no input of what the terminal is for then.
  private func ask(_ question: String, isEchoed: Bool) async -> [UInt8]? {
    let answer = await TerminalPrompt.ask(question, isEchoed: isEchoed)
    if answer == nil, Task.isCancelled {
      input.dropAnswer(quiet: Self.quiet) { [reporter] _ in
        reporter.log(
          "bridgectl: what was typed behind the question was dropped: it ended with its link.")
      }
    }
    return answer
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
