import Testing

@testable import BridgeCommands

/// Which sessions a terminal has shown is known to later runs in it.
@Suite struct TerminalMemoryTests {
  @Test func aSessionWasShownInTheTerminalThatShowedIt() {
    var memory = TerminalMemory("")
    memory.record("a", in: "10.5")
    memory.record("b", in: "11.6")
    let read = TerminalMemory(memory.text)
    #expect(read.has("a", in: "10.5") && read.has("b", in: "11.6"))
    #expect(!read.has("a", in: "11.6") && !read.has("a", in: "10.6"))
  }

  @Test func theNewestAreKept() {
    var memory = TerminalMemory("none of ours\n\nx y\n")
    for number in 0..<TerminalMemory.limit { memory.record("\(number)", in: "1.1") }
    memory.record("0", in: "1.1")
    memory.record("new", in: "1.1")
    #expect(!memory.has("x", in: "y") && !memory.has("1", in: "1.1"))
    #expect(memory.has("0", in: "1.1") && memory.has("new", in: "1.1"))
    #expect(memory.text.split(separator: "\n").count == TerminalMemory.limit)
  }
}
