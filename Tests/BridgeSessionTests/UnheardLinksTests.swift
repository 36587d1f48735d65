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

  /// Links that are lost later are outages.
  @Test func onceSomethingHasAnsweredNoneIs() {
    let links = UnheardLinks()
    #expect(links.lose(host: "build") == nil)
    links.hear()
    for _ in 0..<10 { #expect(links.lose(host: "build") == nil) }
    #expect(!links.areTooMany)
  }
}
