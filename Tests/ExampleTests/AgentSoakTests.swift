import Foundation
import Testing

/// The short form of `scripts/soak --agents`, and what its verifier says to broken records.
@Suite("Soak of agent hosts", .timeLimit(.minutes(10)))
struct AgentSoakTests {
  @Test func agentsOutliveWhateverHappensToTheirHosts() async throws {
    let run = try await Example.finished(
      "soak", ["--agents", "6", "--hosts", "3", "--faults", "30", "--seed", "7"])
    let text = run.lines.joined(separator: "\n")
    #expect(run.status == 0, "\(text)")
    #expect(text.contains("soak clean: 30 faults over 6 agents on 3 hosts"))
    #expect(text.contains("left: 0 processes"))
    for kind in ["host killed", "host frozen", "chat restarted", "database restarted"] {
      #expect(text.contains(kind))
    }
  }

  /// A record as a soak leaves it: two agents, one that asks and one to which its hosts write.
  private struct Record: Encodable {
    struct Message: Encodable {
      var time: Double
      var id: String
      var agent: String
      var fence = 1
      var host = "host-0:1"
      var content: String
    }

    struct Facts: Encodable {
      var name: String
      var printed: Int? = 3
      var status = 4
      var starts = 1
      var input: [String]
      var storedEnd: String? = "exited(status: 4)"
      /// Keys of numbers are an array in JSON as Foundation writes it: of strings they are not.
      var delivered: [Int: String] = [:]
    }

    struct Answer: Encodable {
      var agent = "a"
      var question = 2
      var person: String
      var option = "yes"
      var isDecision: Bool
      var isRetried = false
    }

    var messages = [
      Message(time: 1, id: "a-1", agent: "a", content: "line 1"),
      Message(time: 2, id: "a-2", agent: "a", content: "ask 2"),
      Message(time: 3, id: "a-2", agent: "a", content: "ask 2"),
      Message(time: 4, id: "a-3", agent: "a", fence: 2, host: "host-1:2", content: "line 3"),
      Message(time: 5, id: "a-end", agent: "a", content: "end exited(status: 4)"),
      Message(time: 5, id: "a-end", agent: "a", content: "end exited(status: 4)"),
      Message(time: 1, id: "b-1", agent: "b", content: "line 1"),
      Message(time: 2, id: "b-end", agent: "b", content: "end exited(status: 4)"),
    ]
    var facts = [
      Facts(name: "a", input: ["begin", response("yes")], delivered: [2: "yes"]),
      Facts(
        name: "b", printed: 1, input: ["write 1 10 h", "write 1 11 h", "write 3 5 g"]),
    ]
    var answers = [
      Answer(person: "ann", isDecision: true), Answer(person: "bob", isDecision: false),
    ]

    static func response(_ option: String) -> String {
      #"{"jsonrpc":"2.0","id":2,"result":{"outcome":{"outcome":"selected","#
        + #""optionId":"\#(option)"}}}"#
    }
  }

  /// What the verifier prints.
  private func verify(_ change: (inout Record) -> Void) async throws -> Example.Run {
    var record = Record()
    change(&record)
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
    try JSONEncoder().encode(record).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await Example.finished("soak", ["--verify", file.path])
  }

  @Test func aRecordWithoutFaultsIsWhole() async throws {
    let run = try await verify { _ in }
    #expect(run.status == 0)
    #expect(run.lines.first == "4 lines, 2 came again")
  }

  private func expect(
    _ words: String, _ location: SourceLocation = #_sourceLocation,
    _ change: (inout Record) -> Void
  ) async throws {
    let run = try await verify(change)
    #expect(run.status == 1, sourceLocation: location)
    #expect(
      run.lines.contains { $0.contains(words) }, "\(run.lines)", sourceLocation: location)
  }

  @Test func aLineThatIsLostIsSeen() async throws {
    try await expect("a: line 3 came behind line 1") { $0.messages.removeSubrange(1...2) }
    try await expect("a: 2 of its 3 lines came") { $0.messages.remove(at: 3) }
    try await expect("b: 1 of its 2 lines came") { $0.facts[1].printed = 2 }
  }

  @Test func aLineThatComesOutOfOrderIsSeen() async throws {
    try await expect("a: line 3 came behind line 1") { $0.messages.swapAt(1, 3) }
    try await expect("a: line 3 came behind its end") { $0.messages.swapAt(3, 5) }
  }

  @Test func aLineThatComesTwiceUnderTwoIDsIsSeen() async throws {
    try await expect("a: line 2 came again under another id: a-9") { $0.messages[2].id = "a-9" }
    try await expect("a: two ends came") { $0.messages[5].id = "a-9" }
  }

  @Test func anAnswerThatIsReadTwiceOrNotAtAllIsSeen() async throws {
    try await expect("a, question 2: 2 answers were read") {
      $0.facts[0].input.append(Record.response("yes"))
    }
    try await expect("a, question 2: 0 answers were read") { $0.facts[0].input.removeLast() }
  }

  @Test func anotherAnswerThanTheDecisionIsSeen() async throws {
    try await expect("a, question 2: ann was told that yes is decided, and no was read") {
      $0.facts[0].input[1] = Record.response("no")
    }
    try await expect("no was read, yes is in the store as delivered") {
      $0.facts[0].input[1] = Record.response("no")
    }
    try await expect("yes was read, nothing is in the store as delivered") {
      $0.facts[0].delivered = [:]
    }
  }

  @Test func aQuestionThatTwoPeopleOrNoneHaveDecidedIsSeen() async throws {
    try await expect("2 people were told that they had decided") {
      $0.answers[1].isDecision = true
    }
    try await expect("0 people were told that they had decided") {
      $0.answers[0].isDecision = false
    }
    // A person whose first try has failed may have decided.
    let run = try await verify {
      $0.answers[0].isDecision = false
      $0.answers[0].isRetried = true
    }
    #expect(run.status == 0)
  }

  @Test func aHostThatWritesUnderAnEarlierLeaseIsSeen() async throws {
    let late = "it read write 12 of h under the lease 1 behind write 5 of g under the lease 3"
    try await expect("b: \(late)") { $0.facts[1].input.append("write 1 12 h") }
    try await expect("b: it read write 5 of g under the lease 3 behind write 5 of g") {
      $0.facts[1].input.append("write 3 5 g")
    }
    try await expect("b: it read write 3write 3 6 g") {
      $0.facts[1].input.append("write 3write 3 6 g")
    }
    try await expect("a: its first input came 2 times") { $0.facts[0].input.insert("begin", at: 0) }
  }

  @Test func anEndThatIsNotKnownOrAnotherIsSeen() async throws {
    try await expect("a: no end is in the store, not exited(status: 4)") {
      $0.facts[0].storedEnd = nil
    }
    try await expect("b: end exited(status: 0) came") {
      $0.messages[7].content = "end exited(status: 0)"
    }
    try await expect("b: its program was started 2 times") { $0.facts[1].starts = 2 }
    try await expect("a: it has not ended") { $0.facts[0].printed = nil }
    try await expect("c: it is not one of the agents") { $0.messages[0].agent = "c" }
  }
}
