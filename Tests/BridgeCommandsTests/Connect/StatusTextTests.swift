import BridgeCommands
import Testing

/// The answer to `~s`.
@Suite struct StatusTextTests {
  private func lines(_ link: StatusText.Link?) -> [String] {
    StatusText(user: "ann", endpoint: "web:22", link: link).lines
  }

  @Test func aLinkThatIsDownHasAnAddress() {
    #expect(lines(nil) == ["ann at web:22"])
  }

  @Test func aLinkThatIsUpHasItsRoundTrip() {
    let link = StatusText.Link(
      algorithms: "curve, aes", silence: .milliseconds(1_234), roundTrip: .microseconds(12_345))
    #expect(
      lines(link) == [
        "ann at web:22", "  curve, aes", "  last heard 1234 ms ago", "  round trip 12.3 ms",
      ])
  }

  @Test func aPeerThatDoesNotAnswerIsReported() {
    let link = StatusText.Link(algorithms: nil, silence: nil, roundTrip: nil)
    #expect(lines(link) == ["ann at web:22", "  no answer within 3 s"])
  }

  @Test func whatAServerNamesIsEscaped() {
    let link = StatusText.Link(algorithms: "a\u{1B}[2J", silence: nil, roundTrip: .zero)
    #expect(!lines(link).joined().unicodeScalars.contains("\u{1B}"))
  }
}
