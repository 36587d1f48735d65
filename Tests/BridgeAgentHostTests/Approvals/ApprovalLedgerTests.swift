import Foundation
import Testing

@testable import BridgeAgentHost

@Suite("A request has one decision") struct ApprovalLedgerTests {
  private typealias Sample = ApprovalSample

  private var ledger = ApprovalLedger(.init(open: 3, size: 1000, settled: 4))

  /// Stores at once what a step requires; its record.
  @discardableResult
  private mutating func take(
    _ step: (inout ApprovalLedger) throws(ApprovalRefusal) -> ApprovalLedger.Step
  ) throws -> ApprovalRecord {
    switch try step(&ledger) {
    case .known(let record): return try #require(record)
    case .busy:
      Issue.record("The record is being stored.")
      throw CancellationError()
    case .store(let write):
      ledger.commit(write)
      return try #require(write.record)
    }
  }

  private mutating func ask(_ request: ApprovalRequest = Sample.request()) throws -> ApprovalID {
    try take { ledger throws(ApprovalRefusal) in
      try ledger.request(request, at: Sample.time(0))
    }.id
  }

  private mutating func decide(
    _ id: ApprovalID, _ option: String = "yes", by name: String = "ada",
    values: [String: ApprovalValue] = [:]
  ) throws -> ApprovalRecord {
    try take { ledger throws(ApprovalRefusal) in
      try ledger.decide(id, option: option, values: values, by: name, at: Sample.time(1))
    }
  }

  private mutating func cancel(
    _ id: ApprovalID, reply: ApprovalReply? = nil
  ) throws -> ApprovalRecord {
    try take { ledger throws(ApprovalRefusal) in
      try ledger.cancel(id, by: .agent, reply: reply, at: Sample.time(2))
    }
  }

  private mutating func confirm(_ id: ApprovalID) throws -> ApprovalRecord {
    try take { ledger throws(ApprovalRefusal) in try ledger.confirm(id) }
  }

  /// A ledger of another run, with what this one had stored.
  private mutating func restart() {
    ledger = ApprovalLedger(.init(open: 3, size: 1000, settled: 4), restoring: ledger.records)
  }

  // MARK: What is refused

  @Test mutating func aRequestThatIsNotKeptTakesNoAnswer() throws {
    let id = ApprovalID(agent: "a", number: 1)
    #expect(throws: ApprovalRefusal.unknownRequest(id)) { try decide(id) }
    #expect(throws: ApprovalRefusal.unknownRequest(id)) { try cancel(id) }
    #expect(throws: ApprovalRefusal.unknownRequest(id)) { try confirm(id) }
  }

  @Test mutating func anOptionThatTheRequestHasNotIsNoAnswer() throws {
    let id = try ask()
    #expect(throws: ApprovalRefusal.unknownOption("maybe", id)) { try decide(id, "maybe") }
    #expect(ledger.pending.map(\.id) == [id])
  }

  @Test mutating func valuesAreOfTheFormOrThereAreNone() throws {
    let form = ApprovalForm(
      option: "yes",
      fields: [
        .init(name: "n", kind: .integer, isRequired: true),
        .init(name: "c", kind: .text, choices: ["x", "y"]), .init(name: "d", kind: .number),
        .init(name: "l", kind: .texts, choices: ["x", "y"]), .init(name: "t", kind: .text),
      ])
    let id = try ask(Sample.request(form: form))
    for (values, problem) in [
      ([:], "The field n is required."),
      (["n": .text("1")], "The field n takes a value of type integer."),
      (["n": .number(1.5)], "The field n takes a value of type integer."),
      (["n": .integer(1), "d": .number(.infinity)], "The field d takes a value of type number."),
      (["n": .integer(1), "z": .boolean(true)], "The form has no field z."),
      (["n": .integer(1), "c": .text("z")], "The field c does not offer z."),
      (["n": .integer(1), "l": .texts(["x", "z"])], "The field l does not offer z."),
      (
        ["n": .integer(1), "t": .text(String(repeating: "x", count: 1001))],
        "The values have 1001 bytes; the limit is 1000."
      ),
    ] as [([String: ApprovalValue], String)] {
      #expect(throws: ApprovalRefusal.wrongValues(problem)) { try decide(id, values: values) }
    }
    #expect(throws: ApprovalRefusal.wrongValues("The option no takes no values.")) {
      try decide(id, "no", values: ["n": .integer(1)])
    }
    let values: [String: ApprovalValue] = [
      "n": .integer(3), "c": .text("y"), "d": .integer(2), "l": .texts([]),
    ]
    #expect(try decide(id, values: values).decision?.values == values)
  }

  @Test mutating func anAgentHasSoManyOpenRequests() throws {
    let ids = try (1...3).map { try ask(Sample.request("\($0)")) }
    #expect(throws: ApprovalRefusal.tooManyOpen(agent: "a", limit: 3)) {
      try ask(Sample.request("4"))
    }
    // One that was decided is open until the agent has the answer; another agent is not concerned.
    _ = try decide(ids[0])
    #expect(throws: ApprovalRefusal.tooManyOpen(agent: "a", limit: 3)) {
      try ask(Sample.request("4"))
    }
    _ = try ask(Sample.request("4", of: "b"))
    _ = ledger.take(for: "a")
    _ = try confirm(ids[0])
    _ = try ask(Sample.request("4"))
    #expect(ledger.pending.count == 4)
  }

  @Test mutating func aRequestIsSoLong() throws {
    let request = Sample.request(parameters: "\"\(String(repeating: "x", count: 1000))\"")
    #expect(throws: ApprovalRefusal.tooLarge(size: request.size, limit: 1000)) { try ask(request) }
    #expect(ledger.records.isEmpty)
  }

  @Test mutating func aRequestOffersAnswersThatCanBeNamedAndWritten() throws {
    var request = Sample.request()
    request.options = []
    #expect(throws: ApprovalRefusal.wrongOptions("There are none.")) { try ask(request) }
    request.options = [Sample.options[0], Sample.options[0]]
    #expect(throws: ApprovalRefusal.wrongOptions("Two have one name.")) { try ask(request) }
    request.options = Sample.options
    for result in ["", "{", "1 2", "{\n}", "yes"] {
      request.options[1].result = result
      #expect(throws: ApprovalRefusal.wrongOptions("The result of no is no JSON in a line.")) {
        try ask(request)
      }
    }
    request.options = Sample.options
    for id in ["", "null", "{}", "1 2", "\"a", "01", "x"] {
      request.wireID = id
      #expect(throws: ApprovalRefusal.wrongID(id)) { try ask(request) }
    }
  }

  // MARK: One decision

  @Test mutating func theFirstAnswerCountsAndTheOthersLearnWhichItWas() throws {
    let id = try ask()
    _ = try decide(id, "no", by: "ada")
    let later = try decide(id, "yes", by: "ben")
    #expect(later.decision?.option == "no" && later.decision?.by == "ada")
    #expect(later.decision?.at == Sample.time(1) && ledger.pending.isEmpty)
  }

  @Test mutating func anAnswerThatIsBeingStoredKeepsTheOthersWaiting() throws {
    let id = try ask()
    guard
      case .store(let write) = try ledger.decide(id, option: "no", by: "ada", at: Sample.time(1)),
      case .busy = try ledger.decide(id, option: "yes", by: "ben", at: Sample.time(1)),
      case .busy = try ledger.cancel(id, by: .agent, reply: nil, at: Sample.time(1)),
      case .busy = try ledger.request(Sample.request(), at: Sample.time(1))
    else {
      Issue.record("It does not wait.")
      return
    }
    // Neither reported nor handed out before it is stored.
    #expect(ledger.record(id)?.state == .pending && ledger.take(for: "a") == nil)
    ledger.abandon(write)
    #expect(try decide(id, "yes", by: "ben").decision?.by == "ben")
  }

  @Test mutating func aRequestThatCouldNotBeStoredIsNone() throws {
    guard case .store(let write) = try ledger.request(Sample.request(), at: Sample.time(0)) else {
      Issue.record("It is not stored.")
      return
    }
    #expect(ledger.pending.isEmpty)
    ledger.abandon(write)
    #expect(ledger.records.isEmpty && ledger.id(of: "1", agent: "a") == nil)
    // The first may be on disk: its number is not given again.
    #expect(try ask() == ApprovalID(agent: "a", number: 2) && ledger.pending.count == 1)
  }

  @Test(arguments: [UInt64?.some(10), nil])
  mutating func aLineThatIsReadAgainIsTheSameRequest(offset: UInt64?) throws {
    let id = try ask(Sample.request(at: 10))
    #expect(try ask(Sample.request(at: offset)) == id)
    _ = try decide(id)
    #expect(try ask(Sample.request(at: offset)) == id)
    _ = ledger.take(for: "a")
    _ = try confirm(id)
    restart()
    #expect(try ask(Sample.request(at: offset)) == id && ledger.records.count == 1)
  }

  @Test mutating func anAgentThatComesAgainBeforeItHasTheAnswerAsksTheSame() throws {
    let id = try ask(Sample.request(at: 10))
    #expect(try ask(Sample.request(at: 50)) == id)
    _ = try decide(id)
    #expect(try ask(Sample.request(at: 90)) == id)
    restart()
    // Each of its lines may be read again.
    for offset in [10, 50, 90] { #expect(try ask(Sample.request(at: UInt64(offset))) == id) }
    #expect(ledger.records.count == 1 && ledger.take(for: "a")?.id == id)
    #expect(try ask(Sample.request(at: 90)) == id)
    _ = try confirm(id)
    #expect(try ask(Sample.request(at: 90)) == id && ledger.records.count == 1)
    // It has had the answer, and asks for another.
    #expect(try ask(Sample.request(at: 130)) != id)
  }

  @Test mutating func anOlderLineThatIsReadAgainReplacesNothing() throws {
    let first = try ask(Sample.request(asking: "Run ls?", at: 10))
    _ = try cancel(first)
    let second = try ask(Sample.request(asking: "Run rm -r?", at: 50))
    #expect(try ask(Sample.request(asking: "Run ls?", at: 10)) == first)
    #expect(ledger.pending.map(\.id) == [second])
  }

  @Test mutating func aRequestThatWasStoredTwiceBecauseTheStoreSaidItFailedCountsOnce() throws {
    let request = Sample.request(at: 10)
    let records = [1, 2, 3].map { number in
      ApprovalRecord(
        id: ApprovalID(agent: "a", number: number), request: request, at: Sample.time(number))
    }
    ledger = ApprovalLedger(restoring: records.reversed())
    #expect(ledger.pending.map(\.id) == [records[2].id])
    #expect(try ask(request) == records[2].id)
  }

  @Test mutating func aRequestThatFailedToBeStoredIsRemovedWithTheNextOne() throws {
    let kept = try ask(Sample.request("0"))
    guard case .store(let failed) = try ledger.request(Sample.request(), at: Sample.time(0)) else {
      Issue.record("It is not stored.")
      return
    }
    ledger.abandon(failed)
    guard case .store(let next) = try ledger.request(Sample.request(), at: Sample.time(0)) else {
      Issue.record("It is not stored.")
      return
    }
    let id = try #require(failed.record?.id)
    #expect(next.changes.contains(.remove(id)) && next.record?.id != id && id != kept)
    ledger.commit(next)
    guard case .store(let last) = try ledger.request(Sample.request("2"), at: Sample.time(0)) else {
      Issue.record("It is not stored.")
      return
    }
    #expect(!last.changes.contains(.remove(id)))
  }

  @Test mutating func oneIDOfTwoSpellingsIsOne() throws {
    let id = try ask(Sample.request(#""a/b""#))
    #expect(ledger.id(of: ApprovalRequest.key(#""a\/b""#), agent: "a") == id)
    #expect(ledger.id(of: ApprovalRequest.key("1"), agent: "a") == nil)
  }

  // An answer to the first would be taken for one to the second.
  @Test mutating func anotherQuestionUnderAnIDIsAnotherRequest() throws {
    let first = try ask(Sample.request(asking: "Run ls?"))
    let second = try ask(Sample.request(asking: "Run rm -r?"))
    #expect(first != second && ledger.pending.map(\.id) == [second])
    guard case .canceled(let cancellation, reply: nil) = try decide(first).state else {
      Issue.record("The first takes an answer.")
      return
    }
    #expect(cancellation.by == .replaced)
    _ = try decide(second)
    let third = try ask(Sample.request(asking: "Run df?"))
    #expect(ledger.record(second)?.decision == nil, "it was not handed out, and never is")
    #expect(ledger.take(for: "a") == nil && ledger.pending.map(\.id) == [third])
  }

  @Test mutating func anAnswerThatMayHaveArrivedCountsAsReceivedWhenItsIDIsUsedAgain() throws {
    let first = try ask(Sample.request(at: 10))
    _ = try decide(first)
    #expect(ledger.take(for: "a")?.id == first)
    let second = try ask(Sample.request(asking: "Run rm -r?", at: 90))
    guard case .delivered = ledger.record(first)?.state else {
      Issue.record("The first is handed out again.")
      return
    }
    ledger.giveBack(first)
    #expect(ledger.take(for: "a") == nil && ledger.pending.map(\.id) == [second])
  }

  @Test mutating func theSameQuestionAtAnotherPlaceIsAskedAgainOnceItIsSettled() throws {
    let first = try ask(Sample.request(at: 10))
    _ = try decide(first)
    _ = ledger.take(for: "a")
    _ = try confirm(first)
    let second = try ask(Sample.request(at: 90))
    #expect(second != first && ledger.pending.map(\.id) == [second])
  }

  // MARK: Cancellation

  @Test mutating func aCanceledRequestTakesNoAnswer() throws {
    let id = try ask()
    _ = try cancel(id)
    guard case .canceled = try decide(id).state else {
      Issue.record("It was decided.")
      return
    }
    #expect(ledger.take(for: "a") == nil && ledger.pending.isEmpty)
  }

  @Test mutating func aDecisionIsDroppedWhenTheAgentAsksNoLongerBeforeItWasHandedOut() throws {
    let id = try ask()
    _ = try decide(id)
    guard case .canceled = try cancel(id).state else {
      Issue.record("It stays.")
      return
    }
    #expect(ledger.take(for: "a") == nil)
  }

  @Test(arguments: [false, true])
  mutating func aDecisionThatTheAgentMayHaveStays(ofAnotherRun: Bool) throws {
    let id = try ask()
    _ = try decide(id)
    #expect(ledger.take(for: "a")?.id == id)
    if ofAnotherRun {
      try take { ledger throws(ApprovalRefusal) in try ledger.reserve(id, at: 5) }
      restart()
    }
    #expect(try cancel(id).decision?.option == "yes")
    if ofAnotherRun { #expect(ledger.take(for: "a")?.inputOffset == 5) }
    guard case .delivered = try confirm(id).state else {
      Issue.record("It was not delivered.")
      return
    }
  }

  @Test mutating func aProtocolThatRequiresAnAnswerHasOneToARequestThatWasCanceled() throws {
    let id = try ask()
    let reply = ApprovalReply.error(code: -32800, message: "Canceled")
    _ = try cancel(id, reply: reply)
    restart()
    let taken = ledger.take(for: "a")
    let record = try #require(taken)
    #expect(
      record.responseLine.map { String(decoding: $0, as: UTF8.self) } == """
        {"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"Canceled"}}\n
        """)
    #expect(try !confirm(id).awaitsDelivery)
    restart()
    #expect(ledger.take(for: "a") == nil)
  }

  @Test mutating func anAgentThatHasTheAnswerProvesIt() throws {
    let ids = try (1...3).map { try ask(Sample.request("\($0)")) }
    _ = try decide(ids[0])
    _ = ledger.take(for: "a")
    _ = try decide(ids[1])
    for id in ids {
      try take { ledger throws(ApprovalRefusal) in try ledger.resolve(id, at: Sample.time(3)) }
    }
    let states = ids.compactMap { ledger.record($0)?.state }
    let ended = ApprovalCancellation(by: .agent, at: Sample.time(3))
    #expect(states.dropFirst() == Array(repeating: .canceled(ended, reply: nil), count: 2)[...])
    #expect(ledger.record(ids[0])?.decision != nil && ledger.record(ids[0])?.isOpen == false)
  }

  // MARK: Delivery

  @Test mutating func aDecisionIsHandedOutOnceInARunAndAgainInTheNext() throws {
    let ids = try (1...2).map { try ask(Sample.request("\($0)")) }
    for id in ids.reversed() { _ = try decide(id) }
    #expect(ids.map { _ in ledger.take(for: "a")?.id } == ids)
    #expect(ledger.take(for: "a") == nil && ledger.take(for: "b") == nil)
    ledger.giveBack(ids[1])
    #expect(ledger.take(for: "a")?.id == ids[1])
    try take { ledger throws(ApprovalRefusal) in try ledger.reserve(ids[0], at: 7) }
    try take { ledger throws(ApprovalRefusal) in try ledger.reserve(ids[0], at: 8) }
    restart()
    let record = ledger.take(for: "a")
    #expect(record?.id == ids[0] && record?.inputOffset == 7)
    _ = try confirm(ids[0])
    #expect(ledger.take(for: "a")?.id == ids[1] && ledger.take(for: "a") == nil)
  }

  @Test mutating func anAnswerThatMayHaveAPlaceIsHandedOutBeforeTheOthers() throws {
    let ids = try (1...2).map { try ask(Sample.request("\($0)")) }
    _ = try decide(ids[1])
    #expect(ledger.take(for: "a")?.id == ids[1])
    // Storing its place fails, and may have been done.
    guard case .store(let write) = try ledger.reserve(ids[1], at: 7) else {
      Issue.record("It is not stored.")
      return
    }
    ledger.abandon(write)
    ledger.giveBack(ids[1])
    _ = try decide(ids[0])
    #expect(ledger.take(for: "a")?.id == ids[1])
    #expect(ledger.take(for: "a") == nil, "its place may be that of the first")
    _ = try confirm(ids[1])
    #expect(ledger.take(for: "a")?.id == ids[0])
  }

  @Test mutating func onlyADecisionIsDelivered() throws {
    let id = try ask()
    #expect(throws: ApprovalRefusal.notDecided(id)) { try confirm(id) }
    #expect(throws: ApprovalRefusal.notDecided(id)) {
      try take { ledger throws(ApprovalRefusal) in try ledger.reserve(id, at: 5) }
    }
    _ = try decide(id)
    _ = try confirm(id)
    // Twice is once.
    _ = try confirm(id)
  }

  // MARK: What is kept

  @Test mutating func soManyAreKeptAfterTheirEndTheNewestOnes() throws {
    for number in 1...9 {
      let id = try ask(Sample.request("\(number)"))
      _ = try cancel(id)
    }
    _ = try ask(Sample.request("10"))
    #expect(ledger.records.map(\.id.number) == [6, 7, 8, 9, 10])
    // A number is not given twice.
    restart()
    #expect(try ask(Sample.request("11")).number == 11)
  }

  @Test mutating func anAgentThatIsGoneIsForgotten() throws {
    _ = try ask()
    let other = try ask(Sample.request(of: "b"))
    guard case .store(let write) = ledger.forget("a"), case .busy = ledger.forget("a") else {
      Issue.record("Nothing is removed.")
      return
    }
    ledger.abandon(write)
    #expect(ledger.pending.count == 2)
    guard case .store(let again) = ledger.forget("a") else {
      Issue.record("It is not done again.")
      return
    }
    ledger.commit(again)
    #expect(ledger.records.map(\.id) == [other])
    guard case .known(nil) = ledger.forget("a") else {
      Issue.record("It is there.")
      return
    }
  }

  @Test mutating func aRecordIsWrittenAndReadAsJSON() throws {
    let id = try ask(Sample.request(#""x""#, at: 10, form: .init(option: "yes", fields: [])))
    _ = try decide(id)
    try take { ledger throws(ApprovalRefusal) in try ledger.reserve(id, at: .max) }
    _ = try cancel(try ask(Sample.request("2")), reply: .result("{}"))
    let changes = ledger.records.map { ApprovalChange.put($0) } + [.remove(id)]
    let data = try JSONEncoder().encode(changes)
    #expect(try JSONDecoder().decode([ApprovalChange].self, from: data) == changes)
  }
}
