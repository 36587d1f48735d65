import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSupervision
import BridgeTestKit
import Foundation
import Testing

@Suite("People decide about host keys while machines are dialed", .timeLimit(.minutes(2)))
struct HostKeyQuestionsTests {
  private func next(_ questions: HostKeyQuestions) async throws -> PendingHostKey {
    for await pending in questions.pending() { if let first = pending.first { return first } }
    throw CancellationError()
  }

  private func connecting(_ machine: RemoteMachine) -> Task<Result<Void, AppError>, Never> {
    Task {
      do throws(AppError) {
        try await machine.connect()
        return .success(())
      } catch {
        return .failure(error)
      }
    }
  }

  private func known(_ hosts: NamedHosts) throws -> [Substring] {
    try String(contentsOfFile: hosts.file("known_build"), encoding: .utf8).split(separator: "\n")
  }

  @Test func aNewMachineIsTrusted() async throws {
    try await NamedHosts.with { hosts in
      let line = try known(hosts)
      try hosts.write("", to: "known_build")
      let questions = HostKeyQuestions()
      let machine = try await hosts.machine("build", answers: questions.answers())
      let dial = connecting(machine)
      let pending = try await next(questions)
      #expect(pending.question.finding == .unknown())
      #expect(pending.question.host == "127.0.0.1:\(hosts.target.port)")
      #expect(pending.question.name == "build")
      let answer = questions.decide(pending.id, trusts: true, by: "ada")
      #expect(answer?.text == "Decided: trusted")
      try await dial.value.get()
      #expect(
        questions.decide(pending.id, trusts: false, by: "ben")?.text
          == "Already decided: trusted (ada)")
      #expect(
        try known(hosts).map { $0.split(separator: " ")[2] } == [line[0].split(separator: " ")[2]])
      await machine.close()
    }
  }

  /// The server ends each login after a second.
  @Test func aDecisionOutlivesTheDialThatAsked() async throws {
    try await NamedHosts.with { hosts in
      var configuration = SSHServerConfiguration()
      configuration.loginGraceTime = 1
      try await hosts.target.restart(configuration)
      let old = try known(hosts)
      try await hosts.target.swapHostKeys()
      let questions = HostKeyQuestions()
      let machine = try await hosts.machine("build", answers: questions.answers())
      let dial = connecting(machine)
      let pending = try await next(questions)
      guard case .changed = pending.question.finding else {
        return #expect(Bool(false), "\(pending.question.finding)")
      }
      // The next dial asks the same.
      try await eventually {
        await hosts.target.log.components(separatedBy: "Connection from").count > 3
      }
      #expect(try await next(questions).id == pending.id)
      _ = questions.decide(pending.id, trusts: true, by: "ada")
      try await dial.value.get()
      #expect(try known(hosts).count == 1 && known(hosts) != old)
      await machine.close()
    }
  }

  @Test func aRefusedKeyEndsTheDialAndARetryAsksAgain() async throws {
    try await NamedHosts.with { hosts in
      try hosts.write("", to: "known_build")
      let questions = HostKeyQuestions()
      let machine = try await hosts.machine("build", answers: questions.answers())
      let dial = connecting(machine)
      let first = try await next(questions)
      _ = questions.decide(first.id, trusts: false, by: "ada")
      guard case .failure(.sshHostKeyUnknown) = await dial.value else {
        return #expect(Bool(false))
      }
      let again = connecting(machine)
      await hosts.supervisor.reconnectNow()
      let second = try await next(questions)
      #expect(second.id != first.id && second.question == first.question)
      _ = questions.decide(second.id, trusts: true, by: "ada")
      _ = await again.value
      try await machine.connect()
      await machine.close()
    }
  }
}
