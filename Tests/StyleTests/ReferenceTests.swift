import Foundation
import Testing

/// Documents whose tables name decisions, tests and constants: each entry is there.
@Suite struct ReferenceTests {
  private func text(_ path: String) throws -> String {
    try #require(Checkout.files.first { $0.path == path }, "\(path) is missing").text
  }

  @Test func everyDecisionThatIsCitedIsExplainedAndNoOther() throws {
    let explained = try text("docs/decisions.md").matches(of: /\n\| (G-[0-9]+) \|/)
      .map { String($0.output.1) }
    let citing = Checkout.files.filter {
      ["Sources", "Tests", "Examples", "docs"].contains($0.area) && $0.name != "decisions.md"
    }
    let cited = citing.flatMap { $0.text.matches(of: /\bG-[0-9]+\b/).map { String($0.output) } }
    #expect(Set(explained).count == explained.count)
    #expect(Set(cited) == Set(explained), "\(Set(cited).symmetricDifference(explained))")
  }

  @Test func everyGuaranteeNamesATest() throws {
    let rows = try text("docs/guarantees.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| what ") }
    #expect(rows.count > 10)
    for row in rows {
      let named = try #require(row.firstMatch(of: /`([^`]+)` › `([^`]+)` \|$/), "\(row)")
      let (path, name) = (String(named.output.1), named.output.2)
      let file = try text("Tests/" + path)
      #expect(
        file.contains("func \(name)(") || file.contains("@Test(\"\(name)\""), "\(path) › \(name)")
    }
  }

  /// The values of constants and stored defaults in a source file: name and text of the document.
  private func values(_ path: String, in type: Substring? = nil) throws -> [String: String] {
    let source = try text(path)[...]
    let body = type.flatMap { source.range(of: $0) }.map { source[$0.lowerBound...] } ?? source
    let declaration = /(?:static let|var) ([a-zA-Z]+)(?:: Duration)? = ([a-zA-Z.]*)\(?([0-9_]+)/
    var found: [String: String] = [:]
    for match in body.matches(of: declaration) {
      let number = match.output.3.filter { $0 != "_" }
      let unit =
        switch match.output.2 {
        case "": ""
        case "Duration.seconds", ".seconds": " s"
        default: " ms"
        }
      if found[String(match.output.1)] == nil { found[String(match.output.1)] = number + unit }
    }
    return found
  }

  @Test func theDefaultsOfRecoveryAreThoseOfTheCode() throws {
    let document = try text("docs/recovery.md")
    let rows = document.matches(of: /\n\| ([a-zA-Z]+) \| ([0-9]+(?: m?s)?) \| [^|\n]+ \|/)
    let written = Dictionary(
      rows.map { (String($0.output.1), String($0.output.2)) }, uniquingKeysWith: { $1 })
    var constants = try values("Sources/BridgeRecovery/RecoveryDefaults.swift")
    constants = constants.filter { !["resolve", "dial", "close"].contains($0.key) }
    let recovery = written.filter { constants[$0.key] != nil }
    #expect(recovery == constants)
    #expect(constants.count > 25)
  }

  @Test func theTimeoutsAreThoseOfTheCode() throws {
    let document = try text("docs/recovery.md")
    let rows = document.matches(
      of: /\n\| ([a-z]+) \| ([0-9]+ s) \| ([a-z]*) ?\| ([0-9 s]*?) ?\|/)
    var (ssh, socket): ([String: String], [String: String]) = ([:], [:])
    for row in rows {
      ssh[String(row.output.1)] = String(row.output.2)
      if !row.output.3.isEmpty { socket[String(row.output.3)] = String(row.output.4) }
    }
    #expect(try ssh == values("Sources/BridgeSSH/Connection/SSHTimeouts.swift"))
    let configuration = try values(
      "Sources/BridgeWebSocket/WebSocketConfiguration.swift", in: "struct Timeouts")
    #expect(socket == configuration.filter { $0.value.hasSuffix(" s") })
  }
}
