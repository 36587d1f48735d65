import BridgeErrors
import BridgeSSH
package import BridgeSessionProtocol
import BridgeTerminal

/// The question which of several sessions is meant.
package struct SessionChoice: Sendable {
  /// In the order of their numbers, from 1.
  private let sessions: [SessionStatus]
  private let reason: String

  /// - Parameter reason: why several may be meant.
  package init(_ sessions: [SessionStatus], reason: String) {
    self.sessions = SessionTable.ordered(sessions)
    self.reason = reason
  }

  /// The table of the sessions, each with its number.
  package func lines(now: UInt64, width: Int) -> [String] {
    let margin = "\(sessions.count)".count + 2
    let table = SessionTable.text(sessions, now: now, width: max(1, width - margin))
    let rows = table.split(separator: "\n").enumerated().map { number, row in
      let label = (1...sessions.count).contains(number) ? "\(number)" : ""
      return label + String(repeating: " ", count: margin - label.count) + row
    }
    return ["\(reason):"] + rows
  }

  /// What is asked.
  package var question: String { "Which one? [1-\(sessions.count)] " }

  /// The session that an answer names: by its number, its id or the unique beginning of that, or
  /// its name; nil for none. What can be a number is nothing else: a slip must not choose another.
  package func session(for answer: String) -> SessionStatus? {
    let answer = answer.split(separator: " ").joined(separator: " ")
    if !answer.isEmpty, answer.allSatisfy(\.isNumber) {
      return Int(answer).flatMap { sessions.indices.contains($0 - 1) ? sessions[$0 - 1] : nil }
    }
    guard let selector = try? SessionSelector(answer) else { return nil }
    return try? selector.resolve(in: sessions, on: "")
  }
}

extension RunContext {
  /// The session that a person chooses; nil where there is no terminal to ask on, or that hung up.
  func choose(_ choice: SessionChoice) async -> SessionStatus? {
    let isBatch = request.isBatch || settings.login.isBatch
    guard local.hasTerminal, local.inputIsTerminal, !isBatch, !reporter.style.isJSON else {
      return nil
    }
    await reporter.beginQuestion()
    input.hold(true)
    defer {
      input.hold(false)
      reporter.endQuestion()
    }
    let size = TerminalSize(of: 2) ?? TerminalSize()
    let lines = choice.lines(now: WallClock.seconds, width: size.columns)
    var text = lines.map { $0 + "\r\n" }.joined() + choice.question
    while let bytes = await TerminalPrompt.ask(text, isEchoed: true) {
      let answer = String(decoding: bytes, as: UTF8.self)
      if let session = choice.session(for: answer) { return session }
      text =
        "None of them is that (of an ID, \(SessionSelector.shortestBeginning) digits are needed). "
        + choice.question
    }
    return nil
  }
}
