import BridgeErrors
import Foundation
import Testing

@Suite("The catalogue can be looked up")
struct ErrorCatalogueTests {
  @Test func everyCaseHasAPage() {
    #expect(ErrorCatalogue.entries.map(\.caseName) == ErrorCatalogue.examples.map(\.caseName))
    for entry in ErrorCatalogue.entries {
      #expect(!entry.cause.isEmpty && !entry.remedy.isEmpty && !entry.hint.isEmpty)
      #expect(RetryClass(rawValue: entry.automatic) != nil)
      #expect(ErrorDomain(rawValue: entry.domain) != nil)
    }
  }

  @Test func aPageIsFoundByNameInAnyCase() throws {
    let page = try #require(ErrorCatalogue.entry(named: "sshServerBusy"))
    #expect(page.title == "Server Busy")
    #expect(page.options == ["Wait", "Cancel"])
    #expect(page.exitCode == 75)
    #expect(page.metadataKeys == ["error_type", "severity"])
    #expect(ErrorCatalogue.entry(named: "SSHSERVERBUSY") == page)
    #expect(ErrorCatalogue.entry(named: "nothing") == nil)
  }

  @Test func aPageOfAConnectionSaysWhatIsDoneForEachKind() throws {
    let page = try #require(ErrorCatalogue.entry(named: "sshConnectionFailed"))
    #expect(
      page.links.map(\.kind) == [
        "refused", "unreachable", "localResource", "dropped", "channelDenied", "targetRefused",
        "linkLost",
      ])
    #expect(page.links.first { $0.kind == "refused" }?.retry == "reconnectSoon")
    #expect(page.links.first { $0.kind == "channelDenied" }?.exitCode == 76)
    #expect(ErrorCatalogue.entry(named: "agentBusy")?.links.isEmpty == true)
    let closed = try #require(ErrorCatalogue.entry(named: "webSocketDisconnected"))
    #expect(
      closed.links.map(\.kind) == [
        "linkLost", "overLimit", "closedByPeer", "rejected", "closedByApplication",
      ])
    #expect(closed.links.map(\.exitCode) == [69, 78, 0, 76, 69])
  }

  @Test func pagesAreJSON() throws {
    let data = try JSONEncoder().encode(ErrorCatalogue.entries)
    let pages = try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    #expect(pages.count == 67)
    #expect(pages.allSatisfy { $0["caseName"] is String && $0["exitCode"] is Int })
  }

  @Test func aChangedHostKeyNeverAsksForAnotherTry() throws {
    let failures: [SSHFailure] = [
      SSHFailure(code: -11, message: "", phase: .keyExchange, host: "build.example"),
      SSHFailure(
        code: 0, message: "", phase: .hostKey, host: "build.example",
        observation: .hostKeyChanged(detail: "ssh-ed25519 differs, known_hosts line 3")),
    ]
    for failure in failures {
      let (error, context) = (failure.typed.error, FailureContext(sshFailure: failure))
      let shown = PresentedError(error: error, context: context)
      let texts =
        [
          TerminalBanner.lastLines(error, context: context).joined(separator: "\n"),
          TerminalBanner.render(shown, color: false), WebBanner.render(shown),
          TerminalBanner.render(error, color: false), WebBanner.render(error),
          try #require(error.hint), try #require(error.hint(in: context)),
        ]
      for text in texts {
        for word in ["try again", "retry", "reconnect", "again"] {
          #expect(!text.lowercased().contains(word), "\(text)")
        }
        #expect(text.contains("Do not continue"))
      }
    }
  }
}
