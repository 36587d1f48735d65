import BridgeCommands
import Testing

@Suite struct LinkKeysTests {
  private let start = ContinuousClock.now

  @Test(
    arguments: [
      ("r", .retry), ("R", .retry), ("a", .leave), ("A", .leave), ("s", .explain), ("x", nil),
      ("\r", nil), (" ", nil), ("~", nil),
    ] as [(String, LinkKeys.Command?)])
  func bareKeysWork(_ key: String, _ command: LinkKeys.Command?) {
    var keys = LinkKeys()
    for byte in key.utf8 { #expect(keys.take(byte, at: start) == command) }
  }

  @Test func controlCTwiceInTwoSecondsLeaves() {
    var keys = LinkKeys()
    #expect(keys.take(3, at: start) == .confirmLeave)
    #expect(keys.take(3, at: start + .milliseconds(2001)) == .confirmLeave)
    #expect(keys.take(UInt8(ascii: "x"), at: start + .milliseconds(2500)) == nil)
    #expect(keys.take(3, at: start + .milliseconds(4001)) == .leave)
  }
}
