import Testing

@testable import BridgeCommands

/// Which sessions a terminal has shown is known to later runs in it.
@Suite struct TerminalMemoryTests {
  @Test func aSessionWasShownInTheTerminalThatShowedIt() {
    var memory = TerminalMemory("")
    memory.record("a", to: 5, in: "10.5")
    memory.record("b", to: 6, in: "11.6")
    memory.record("a", to: 7, in: "10.5")
    let read = TerminalMemory(memory.text)
    #expect(read.end(of: "a", in: "10.5") == 7 && read.end(of: "b", in: "11.6") == 6)
    #expect(read.end(of: "a", in: "11.6") == nil && read.end(of: "a", in: "10.6") == nil)
  }

  @Test func theNewestAreKept() {
    var memory = TerminalMemory("none of ours\n\nx y z\nx y 1\n")
    for number in 0..<TerminalMemory.limit { memory.record("\(number)", to: 1, in: "1.1") }
    memory.record("0", to: 2, in: "1.1")
    memory.record("new", to: 3, in: "1.1")
    #expect(memory.end(of: "x", in: "y") == nil && memory.end(of: "1", in: "1.1") == nil)
    #expect(memory.end(of: "0", in: "1.1") == 2 && memory.end(of: "new", in: "1.1") == 3)
    #expect(memory.text.split(separator: "\n").count == TerminalMemory.limit)
  }
}
