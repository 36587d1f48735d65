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
    links.hearOthers([])
    #expect(links.lose(host: "switch") == nil)
    links.hearOthers("moved\n".utf8)
    #expect(links.areTooMany)
    let fresh = UnheardLinks()
    fresh.hearOthers("moved\n".utf8)
    #expect(!fresh.areTooMany)
    let reason = "it ended the connection when it was asked for bridge-host; it printed: moved"
    #expect(
      fresh.lose(host: "switch") == .durableSessionHostUnusable(host: "switch", reason: reason))
  }

  /// The account may have another forced command since, or its machine is another one.
  @Test func aHostThatHadItIsAskedMoreOften() {
    let links = UnheardLinks()
    for _ in 0..<5 {
      links.expect()
      links.hearOthers("moved".utf8)
      #expect(links.lose(host: "build") == nil)
    }
    links.expect()
    let error = links.lose(host: "build")
    #expect(
      error
        == .durableSessionHostUnusable(
          host: "build",
          reason: "6 connections ended when it was asked for bridge-host; it printed: moved"))
  }

  /// A start-up file prints before the answer.
  @Test func whatIsPrintedBeforeAnAnswerCountsForNothing() {
    let links = UnheardLinks()
    links.hearOthers([65])
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
