import BridgeCommands
import Testing

/// Which link carries which stream of a copy.
@Suite struct StreamScheduleTests {
  @Test func eachLinkBeginsWithItsOwn() {
    var schedule = StreamSchedule(3)
    #expect(schedule.take(for: 2) == 2)
    #expect(schedule.take(for: 0) == 0)
    #expect(schedule.take(for: 1) == 1)
    #expect(schedule.take(for: 1) == nil && !schedule.isDone)
  }

  @Test func aLinkThatIsNeverUpLeavesItsStreamToTheOthers() {
    var schedule = StreamSchedule(3)
    let first = schedule.take(for: 0)
    schedule.release(0, isSettled: true)
    #expect(first == 0 && schedule.take(for: 0) == 1)
    schedule.release(1, isSettled: true)
    #expect(schedule.take(for: 0) == 2)
    schedule.release(2, isSettled: true)
    #expect(schedule.isDone && schedule.take(for: 0) == nil)
  }

  @Test func aStreamThatWasLeftIsFreeForAll() {
    var schedule = StreamSchedule(2)
    _ = schedule.take(for: 1)
    schedule.release(1, isSettled: false)
    #expect(schedule.take(for: 0) == 0)
    #expect(schedule.take(for: 0) == 1)
  }
}
