import BridgeCommands
import Testing

/// The answer to `~s`.
@Suite struct StatusTextTests {
  private func lines(_ link: StatusText.Link) -> [String] {
    StatusText(StatusText.login("ann", at: "web:22"), link: link).lines
  }

  @Test func aLinkThatIsDownHasWhatIsKnownOfTheOutage() {
    let text = StatusText(
      StatusText.login("ann", at: "web:22"), outage: ["no answer for 8 s.", "why"])
    #expect(text.lines == ["ann at web:22", "  no answer for 8 s.", "  why"])
  }

  @Test func aLinkThatIsUpSaysWhenItWasHeard() {
    let link = StatusText.Link(algorithms: "curve, aes", silence: .milliseconds(1_234))
    #expect(lines(link) == ["ann at web:22", "  curve, aes", "  last heard 1234 ms ago"])
    #expect(lines(.init(algorithms: nil, silence: nil)) == ["ann at web:22"])
  }

  @Test func aRoundTripIsGivenOrMissed() {
    #expect(StatusText.roundTrip(.microseconds(12_345)) == "  round trip 12.3 ms")
    #expect(StatusText.roundTrip(nil) == "  no answer within 3 s")
  }

  @Test func whatAServerNamesIsEscaped() {
    let link = StatusText.Link(algorithms: "a\u{1B}[2J", silence: nil)
    #expect(!lines(link).joined().unicodeScalars.contains("\u{1B}"))
  }
}
