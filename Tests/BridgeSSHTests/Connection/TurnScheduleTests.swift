import BridgeErrors
import BridgeSSH
import Testing

/// When the next turn comes, and what the end of one asks for.
@Suite struct TurnScheduleTests {
  typealias Schedule = TurnSchedule<String>

  @Test func oneTurnIsQueuedHoweverOftenOneIsWanted() {
    var schedule = Schedule()
    let queued = (1...3).map { _ in schedule.queue() }
    #expect(queued == [true, false, false])
    #expect(schedule.next == .queued)
    schedule.beginQueued()
    #expect(schedule.next == .event)
    let isQueuedAgain = schedule.queue()
    #expect(isQueuedAgain)
  }

  @Test(arguments: [
    (true, [ConnectionPhase.openChannel, .stream]), (false, [.openChannel]),
  ])
  func aReplyIsPromptedDuringAnOpenAndTheProbeOfANewConnection(
    _ isNew: Bool, _ expected: [ConnectionPhase]
  ) {
    var schedule = Schedule()
    let prompting = ConnectionPhase.allCases.filter {
      schedule.promptsReply(in: $0, isNew: isNew)
    }
    #expect(Set(prompting) == Set(expected))
  }

  @Test func aConnectionPromptsAFewTimesInItsLife() {
    var schedule = Schedule()
    let prompts = (1...10).map { _ in schedule.promptsReply(in: .openChannel, isNew: false) }
    #expect(prompts.count { $0 } == Schedule.mostPrompts)
    #expect(prompts.prefix(Schedule.mostPrompts).allSatisfy { $0 })
  }

  @Test func aTimerOfUnrequestedBytesIsHandedBackOnce() {
    var schedule = Schedule()
    let timers = [
      schedule.readUnrequested(), schedule.deferReading(until: "first"),
      schedule.deferReading(until: "second"), schedule.readUnrequested(),
      schedule.readUnrequested(),
    ]
    #expect(timers == [nil, nil, "first", "second", nil])
  }

  @Test func aQueuedTurnLeavesTheTimerOfUnrequestedBytes() {
    var schedule = Schedule()
    _ = schedule.deferReading(until: "timer")
    _ = schedule.queue()
    schedule.beginQueued()
    let timer = schedule.readUnrequested()
    #expect(timer == "timer")
  }

  /// Readable, asked at its beginning, bytes inside at its end, asked at its end.
  @Test(arguments: [
    (false, false, false, false, false), (false, false, false, true, false),
    (false, false, true, false, true), (false, false, true, true, false),
    (false, true, false, false, false), (false, true, false, true, false),
    (false, true, true, false, true), (false, true, true, true, false),
    (true, false, false, false, true), (true, false, false, true, true),
    (true, false, true, false, true), (true, false, true, true, true),
    (true, true, false, false, false), (true, true, false, true, false),
    (true, true, true, false, true), (true, true, true, true, false),
  ]) func bytesAreLeftUnreadWhereNoCallWaitsForThem(
    isReadable: Bool, wasAsked: Bool, hasInbound: Bool, isReading: Bool, isLeft: Bool
  ) {
    let turn = Schedule.Turn(isReadable: isReadable, wasAsked: wasAsked)
    #expect(turn.leavesUnread(hasInbound: hasInbound, isReading: isReading) == isLeft)
  }
}
