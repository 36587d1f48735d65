import BridgeErrors
import BridgeSSH
import BridgeWaiting
import Testing

/// `Match exec`: which command runs, and what follows from its result.
@Suite struct MatchExecTests {
  /// The commands that ran, and the port that the file leads to; `yes…` succeeds.
  private func run(
    _ text: String, host: String = "web"
  ) throws(AppError) -> (commands: [String], port: Int) {
    let commands = Mutex([String]())
    let config = try ClientConfigTests().resolve(text, host: host) { command, shell in
      commands.withLock { $0.append("\(shell): \(command)") }
      return .success(command.hasPrefix("yes"))
    }
    return (commands.withLock { $0 }, config.port)
  }

  @Test(
    arguments: [
      ("Match exec yes\nPort 1", ["yes"], 1), ("Match exec no\nPort 1", ["no"], 22),
      ("Match !exec no\nPort 1", ["no"], 1), ("Match !exec yes\nPort 1", ["yes"], 22),
      ("Match host web exec yes\nPort 1", ["yes"], 1),
      ("Match host other exec yes\nPort 1", [], 22),
      ("Match exec yes host other\nPort 1", ["yes"], 22),
      ("Match exec no exec yes\nPort 1", ["no"], 22),
      ("Match exec yes exec yes2\nPort 1", ["yes", "yes2"], 1),
      ("Match exec \"yes A=1 'b c'\"\nPort 1", ["yes A=1 'b c'"], 1),
      ("Match exec \"A=1 yes\"\nPort 1", ["A=1 yes"], 22),
      ("Match exec=yes\nPort 1", ["yes"], 1), ("Host other\nMatch exec yes\nPort 1", ["yes"], 1),
      (
        "HostName real.%h\nUser bob\nMatch exec \"yes %h %n %r %p %u %d\"\nPort 1",
        ["yes real.web web bob 22 ann /home/ann"], 1
      ),
      (
        "ProxyJump j\nMatch exec \"yes %j %k %l %L %i %%\"\nPort 1",
        ["yes j web desk.example.net desk 1001 %"], 1
      ),
    ] as [(String, [String], Int)])
  func theCommandIsRunWhereItCounts(_ text: String, _ commands: [String], _ port: Int) throws {
    let outcome = try run(text)
    #expect(outcome.commands == commands.map { "/bin/sh: \($0)" })
    #expect(outcome.port == port)
  }

  @Test func aCommandWithoutResultIsRefusedWithItsPlace() {
    let error = #expect(throws: AppError.self) {
      try ClientConfigTests().resolve("\nMatch exec \"slow\"\n") { _, _ in
        .failure(.init(reason: "was not done after 30 s and was ended"))
      }
    }
    #expect(
      error
        == .validationError(
          field: "Match exec",
          message: "\"slow\" was not done after 30 s and was ended (/c:2)"))
  }

  @Test func aNameThatAShellActsOnIsNotRun() {
    let error = #expect(throws: AppError.self) {
      try run("Match exec \"yes %h\"\n", host: "a;b")
    }
    guard case .validationError("Match exec", let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.contains("characters that a shell acts on (/c:1)"))
  }

  @Test func anUnknownTokenIsRefused() {
    #expect(throws: AppError.self) { try run("Match exec \"yes %z\"\n") }
  }

  @Test func aRealCommandSucceedsFailsOrTakesTooLong() {
    #expect(ShellCondition.holds("test 1 = 1", shell: "/bin/sh") == .success(true))
    #expect(ShellCondition.holds("read x", shell: "/bin/sh") == .success(false))
    let late = ShellCondition.holds("sleep 1000", shell: "/bin/sh", within: .milliseconds(200))
    #expect(late == .failure(.init(reason: "was not done after 1 s and was ended")))
    let killed = ShellCondition.holds("kill -KILL $$", shell: "/bin/sh")
    #expect(killed == .failure(.init(reason: "ended by signal 9")))
    guard case .failure = ShellCondition.holds("true", shell: "/none/sh") else {
      Issue.record("a shell that is not there")
      return
    }
  }
}
