import BridgeErrors
import BridgeTerminal
import BridgeTestKit
import BridgeWaiting
import Testing

@testable import BridgeCommands

/// What is typed into a shell that goes on while its link is down.
@Suite struct KeyboardTests {
  private func asked() async -> Keyboard {
    let keyboard = Keyboard()
    keyboard.open(canDetach: true)
    keyboard.hold(true)
    await keyboard.take(Array("held ".utf8)) { _ in }
    keyboard.ask(true)
    return keyboard
  }

  /// A user who types without a look at the question loses nothing.
  @Test func whatIsTypedBeforeTheAnswerIsKeptBehindTheRest() async {
    let keyboard = await asked()
    await keyboard.take(Array("and ".utf8)) { _ in Issue.record("it is no answer") }
    #expect(keyboard.waiting == "held and ".utf8.count)
    var answers: [Keyboard.Command] = []
    await keyboard.take(Array("more\rbehind".utf8)) { answer in
      answers.append(answer)
      // As the run does with an answer.
      keyboard.ask(false)
    }
    #expect(answers == [.sendsHeld(true)])
    #expect(keyboard.waiting == "held and morebehind".utf8.count)
  }

  /// The window has lost the focus, and a program that asks has its answer: no user typed that.
  @Test func whatTheTerminalSendsByItselfIsNotAskedAbout() async throws {
    let keyboard = Keyboard()
    keyboard.open(canDetach: true)
    keyboard.hold(true)
    await keyboard.take(Array("\u{1B}[O\u{1B}[5;1R".utf8)) { _ in Issue.record("it is no command") }
    #expect(keyboard.waiting == 0)
    let answering = await asked()
    await answering.take(Array("\u{1B}[5;1R".utf8)) { _ in Issue.record("it is no answer") }
    #expect(answering.waiting == "held ".utf8.count)
    let target = Recording()
    let carrying = Task { await answering.carry(to: target) }
    try await eventually { target.bytes.withLock { $0 } == Array("\u{1B}[5;1R".utf8) }
    carrying.cancel()
    await carrying.value
  }

  private final class Recording: InputTarget {
    let bytes = Mutex([UInt8]())

    func write(_ bytes: [UInt8]) async throws(AppError) { self.bytes.withLock { $0 += bytes } }

    func finishInput() async throws(AppError) {}
  }

  /// A target that takes nothing: another client writes to the session.
  private struct Refusing: InputTarget {
    func write(_ bytes: [UInt8]) async throws(AppError) {
      throw .validationError(field: "session", message: "This client only reads.")
    }

    func finishInput() async throws(AppError) {}
  }

  @Test func whatTheTargetDidNotTakeCountsAsNotSent() async {
    let keyboard = Keyboard()
    keyboard.open(canDetach: true)
    keyboard.hold(true)
    await keyboard.take(Array("ls\r".utf8)) { _ in Issue.record("it is no command") }
    keyboard.hold(false)
    await keyboard.carry(to: Refusing())
    let unsent = keyboard.close()
    #expect(unsent == 3)
  }

  @Test func ofAViewerAnEscapeBeginsAnywhere() async {
    let keyboard = Keyboard()
    keyboard.open(canDetach: true, writes: false)
    #expect(keyboard.keys == .viewing)
    var commands: [Keyboard.Command] = []
    await keyboard.take(Array("kk~d".utf8)) { commands.append($0) }
    #expect(commands == [.escape(.detach)])
  }

  @Test func whoHasAWindowReadsWhichKeysMoveIt() {
    let keyboard = Keyboard()
    keyboard.open(canDetach: true, writes: false)
    func list() -> String { keyboard.help(rows: 24).joined(separator: "\n") }
    #expect(list().contains("arrows or h j k l  move the window"))
    keyboard.open(canDetach: true, canMove: true)
    #expect(list().contains("Alt-arrows or ~h ~j ~k ~l  move the window"))
    keyboard.open(canDetach: true)
    #expect(!list().contains("window"))
    let short = keyboard.help(rows: 6)
    #expect(short.count == 4 && short[0].contains("~.") && short[1].contains("~d"))
    #expect(keyboard.help(rows: 0)[0].contains("~."))
    // Over the screen of a program.
    #expect(keyboard.shortHelp.flatMap { TerminalText.broken($0, at: 79) }.count <= 4)
    // On a phone.
    #expect(keyboard.help(rows: 24).allSatisfy { $0.count <= 45 })
  }

  @Test(arguments: [(UInt8(ascii: "%"), "%"), (1, "^A"), (0x7F, "^?"), (nil, nil)])
  func anEscapeIsNamedAsItIsTyped(_ tilde: UInt8?, _ name: String?) {
    let keyboard = Keyboard(tilde: tilde)
    keyboard.open(canDetach: true)
    #expect(keyboard.escape == name)
    #expect(keyboard.spelled("~. leaves") == name.map { "\($0). leaves" })
    #expect(
      keyboard.help(rows: 24).contains("  \(name ?? "~").   disconnect; the session goes on")
        == (name != nil))
    #expect((keyboard.keys == .held) == (name == nil))
  }

  /// Else it runs in a shell that the user has left.
  @Test(arguments: [".", "d"]) func whatFollowsTheLastEscapeIsDropped(_ escape: String) async {
    let keyboard = Keyboard()
    keyboard.open(canDetach: true)
    var commands: [Keyboard.Command] = []
    await keyboard.take(Array("before\r~\(escape)after\r".utf8)) { commands.append($0) }
    #expect(commands == [.escape(escape == "." ? .disconnect : .detach)])
    #expect(keyboard.waiting == "before\r".utf8.count)
  }

  @Test func controlCIsAnAnswerAndNoInput() async {
    let keyboard = await asked()
    var answers: [Keyboard.Command] = []
    await keyboard.take([3]) { answer in
      answers.append(answer)
      keyboard.ask(false)
      _ = keyboard.dropHeld()
    }
    #expect(answers == [.sendsHeld(false)] && keyboard.waiting == 0)
    // What was dropped was no line: an escape begins.
    await keyboard.take(Array("~.".utf8)) { answers.append($0) }
    #expect(answers.last == .escape(.disconnect))
  }
}
