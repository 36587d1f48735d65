import BridgeCommands
import Testing

struct InputTapeTests {
  @Test func everyRunHasAllOfIt() {
    var tape = InputTape(isKept: true)
    #expect(tape.isWhole)
    tape.note([1, 2])
    tape.note([3])
    #expect(tape.chunk(0) == [1, 2])
    #expect(tape.chunk(1) == [3])
    #expect(tape.chunk(2) == nil)
    #expect(tape.isWhole)
  }

  @Test func tooMuchIsNotKept() {
    var tape = InputTape(isKept: true)
    let half = [UInt8](repeating: 7, count: InputTape.limit / 2)
    tape.note(half)
    tape.note(half)
    #expect(tape.isWhole)
    tape.note([1])
    #expect(!tape.isWhole)
    #expect(tape.chunk(0) == nil)
    tape.note([2])
    #expect(!tape.isWhole)
  }

  @Test func whatRunsOnceIsNotKept() {
    var tape = InputTape(isKept: false)
    #expect(tape.isWhole)
    tape.note([1])
    #expect(!tape.isWhole)
    #expect(tape.chunk(0) == nil)
  }
}
