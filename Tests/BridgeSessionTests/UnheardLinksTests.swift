import BridgeErrors
import BridgeSession
import Testing

/// Devices end the connection over any command: it is not dialed for ever.
struct UnheardLinksTests {
  @Test func theThirdInARowIsOneTooMany() {
    let links = UnheardLinks()
    #expect(links.lose(host: "switch") == nil)
    #expect(links.lose(host: "switch") == nil)
    #expect(!links.areTooMany)
    #expect(links.lose(host: "switch")?.caseName == "durableSessionHostUnusable")
    #expect(links.areTooMany)
  }

  /// It may have run a forced command, which is not to run again.
  @Test func theFirstIsWhereSomethingElseWasPrinted() {
    let links = UnheardLinks()
    links.hearOthers()
    #expect(!links.areTooMany)
    #expect(links.lose(host: "switch")?.caseName == "durableSessionHostUnusable")
  }

  /// A start-up file prints before the answer.
  @Test func whatIsPrintedBeforeAnAnswerCountsForNothing() {
    let links = UnheardLinks()
    links.hearOthers()
    links.hear()
    for _ in 0..<10 { #expect(links.lose(host: "build") == nil) }
  }

  /// Links that are lost later are outages.
  @Test func onceSomethingHasAnsweredNoneIs() {
    let links = UnheardLinks()
    #expect(links.lose(host: "build") == nil)
    links.hear()
    for _ in 0..<10 { #expect(links.lose(host: "build") == nil) }
    #expect(!links.areTooMany)
  }
}
