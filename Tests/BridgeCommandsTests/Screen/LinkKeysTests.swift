import BridgeCommands
import BridgeErrors
import Testing

@Suite struct LinkKeysTests {
  private let start = ContinuousClock.now

  @Test(
    arguments: [
      ("r", .retry), ("R", .retry), ("s", .explain), ("a", .confirmDisconnect(.abort)),
      ("A", .confirmDisconnect(.abort)),
      ("x", nil),
      ("\r", nil), (" ", nil), ("~", nil),
    ] as [(String, LinkKeys.Command?)])
  func bareKeysWork(_ key: String, _ command: LinkKeys.Command?) {
    var keys = LinkKeys()
    for byte in key.utf8 { #expect(keys.take(byte, at: start) == command) }
  }

  @Test(
    arguments: [
      ([.checkSettings, .retry], "[s] Explain  [r] Retry  [a] Abort"),
      ([.openSettings, .retry], "[s] Explain  [r] Retry  [a] Abort"),
      ([.retry, .cancel], "[r] Retry  [a] Abort  [s] Explain"),
      ([.reconnect, .dismiss], "[r] Retry  [a] Abort  [s] Explain"),
      ([.dismiss], "[r] Retry  [a] Abort  [s] Explain"),
    ] as [([ErrorRecoveryOption.Kind], String)])
  func theOptionsOfTheErrorComeFirst(_ kinds: [ErrorRecoveryOption.Kind], _ line: String) {
    #expect(LinkKeys.options(of: kinds).joined(separator: "  ") == line)
  }

  @Test func everyKeyThatIsOfferedWorks() {
    for kinds in ErrorRecoveryOption.Kind.allCases.map({ [$0] }) + [[]] {
      let keys = LinkKeys.options(of: kinds).compactMap { $0.utf8.dropFirst().first }
      #expect(Set(keys).count == 3)
      for key in keys {
        var state = LinkKeys()
        #expect(state.take(key, at: start) != nil)
      }
    }
  }

  @Test(arguments: [("~.", 1), ("~~.", 1), ("~x.", 0), (".", 0), ("~r.", 0)])
  func aTildeAndADotLeave(_ text: String, _ count: Int) {
    var keys = LinkKeys()
    let commands = text.utf8.compactMap { keys.take($0, at: start) }
    #expect(commands.count { $0 == .disconnect } == count)
  }

  @Test func controlCTwiceInTwoSecondsLeaves() {
    var keys = LinkKeys()
    #expect(keys.take(3, at: start) == .confirmDisconnect(.controlC))
    #expect(keys.take(3, at: start + .milliseconds(2001)) == .confirmDisconnect(.controlC))
    #expect(keys.take(UInt8(ascii: "x"), at: start + .milliseconds(2500)) == nil)
    #expect(keys.take(3, at: start + .milliseconds(4001)) == .disconnect)
  }

  /// Who types on as if the shell were there still leaves by none of the letters.
  @Test(
    arguments: [
      ("cat /etc/hostname\r", 0), ("apt-get update\r", 0), ("la la la", 0), ("aa", 1), ("Aa", 1),
      ("a\u{3}a", 0), ("bazaar", 0),
    ])
  func aLetterLeavesOnlyTwiceInARow(_ text: String, _ count: Int) {
    var keys = LinkKeys()
    let commands = text.utf8.compactMap { keys.take($0, at: start) }
    #expect(commands.count { $0 == .disconnect } == count)
  }
}
