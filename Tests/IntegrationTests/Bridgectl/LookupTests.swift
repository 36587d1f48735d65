import BridgeErrors
import Foundation
import Testing

/// `bridgectl errors`, as a person and as a script reads it.
@Suite(.timeLimit(.minutes(2))) struct LookupTests {
  @Test func everyErrorHasItsPage() async throws {
    let outcome = try await Home().run(["errors"])
    #expect(outcome.code == 0 && outcome.error.isEmpty)
    let pages = outcome.text.components(separatedBy: "\n\n")
    #expect(
      pages.map { $0.prefix { $0 != ":" } } == ErrorCatalogue.entries.map { $0.caseName[...] })
  }

  @Test func oneErrorIsOnePage() async throws {
    for name in ["sshHostKeyMismatch", "SSHHOSTKEYMISMATCH"] {
      let outcome = try await Home().run(["errors", name])
      #expect(outcome.code == 0)
      #expect(outcome.text.hasPrefix("sshHostKeyMismatch: Error (ssh, error)\n"))
      #expect(outcome.text.contains("\n  exit code 79\n"))
    }
  }

  @Test func theJSONIsTheCatalogue() async throws {
    let encoder = JSONEncoder()
    let all = try await Home().run(["errors", "--json"])
    #expect(
      try JSONSerialization.jsonObject(with: Data(all.output)) as? NSArray
        == JSONSerialization.jsonObject(with: encoder.encode(ErrorCatalogue.entries)) as? NSArray)
    let one = try await Home().run(["errors", "--json", "cancelled"])
    #expect(
      try JSONSerialization.jsonObject(with: Data(one.output)) as? NSDictionary
        == JSONSerialization.jsonObject(
          with: encoder.encode(ErrorCatalogue.entry(named: "cancelled"))) as? NSDictionary)
    #expect(all.code == 0 && one.code == 0)
  }

  @Test func aMisspelledNameGetsTheRightOne() async throws {
    let outcome = try await Home().run(["errors", "sshTimeoot"])
    #expect(outcome.code == 64)
    #expect(outcome.error.contains("Did you mean") && outcome.error.contains("sshTimeout"))
  }
}
