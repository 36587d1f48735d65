import BridgeErrors
import Foundation
import Testing

/// `docs/failures.md` is printed from the failure table: with `UPDATE_DOCS=1` in the environment
/// this suite writes it.
@Suite("docs/failures.md") struct FailureTableTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    let data = FileManager.default.contents(atPath: Self.root.appending(path: path).path)
    return String(decoding: try #require(data), as: UTF8.self)
  }

  @Test func theDocumentIsWhatTheTableSays() throws {
    let document = FailureDocument.text
    if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
      try Data(document.utf8).write(to: Self.root.appending(path: "docs/failures.md"))
    }
    #expect(try text("docs/failures.md") == document)
  }

  /// A kind that `allCases` leaves out would be in no table.
  @Test func allCasesLeavesNoKindOut() throws {
    let source = try text("Sources/BridgeErrors/Failure/FailureKind.swift")
    let declared = source.matches(of: /\n  case ([a-zA-Z]+)/).map { String($0.output.1) }
    let listed = Set(
      FailureKind.allCases.map { String($0.description.prefix { $0 != "." }) })
    #expect(!declared.isEmpty && Set(declared) == listed)
    #expect(Set(FailureKind.allCases.map(\.description)).count == FailureKind.allCases.count)
  }

  @Test(arguments: FailureKind.allCases)
  func everyRowIsASentenceAndAPolicy(_ kind: FailureKind) {
    let row = kind.row
    #expect(row.meaning.first?.isUppercase == true && row.meaning.hasSuffix("."))
    // What is never retried later is not retried at first.
    #expect(row.retry.isAutomatic || row.firstRetry == row.retry)
    #expect(kind.stops == .connection || !row.retry.isAutomatic, "it stops what goes on")
  }
}

/// The failure table as a page.
enum FailureDocument {
  static var text: String {
    let rows = FailureKind.allCases.map(cells)
    let head = [
      "kind", "what has happened", "protocol", "errors", "first dial", "later", "exit",
      "session lost", "cost", "stops",
    ]
    let table = [head, head.map { _ in "---" }] + rows
    return """
      # Failures

      Every native failure is classified as one `FailureKind`, and all that follows comes from one
      row of this table (`Sources/BridgeErrors/Failure/FailureTable.swift`). This page is printed
      from it: `UPDATE_DOCS=1 scripts/test --filter FailureTableTests` writes it again.

      - **errors**: the cases of `AppError` that a connection ends with; `bridgectl errors CASE`
        prints one.
      - **first dial**, **later**: what happens by itself (`RetryClass`, below). First dials are
        retried where `retriesFirstDial` is set: a link's default; in `bridgectl` only `--wait`.
      - **exit**, **session lost**: the exit code of a program that ends with this failure, and
        where a running shell or command was lost with the connection.
      - **cost**: what the failed dial costs the retry budget of its host (`DialCost`).
      - **stops**: what is not dialed any more until a person has decided.

      \(table.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n"))

      | class | what happens |
      | --- | --- |
      \(RetryClass.allCases.map { "| `\($0.rawValue)` | \($0.explanation) |" }
        .joined(separator: "\n"))

      ## Remedies

      What the hint of an error adds for a kind, here during authentication. Kinds that are missing
      have no remedy beside the error's own.

      \(remedies.joined(separator: "\n"))

      """
  }

  private static func cells(of kind: FailureKind) -> [String] {
    let row = kind.row
    let retries = [row.firstRetry, row.retry].map { "`\($0.rawValue)`" }
    let exits = [row.exit, row.sessionExit].map { "\($0.rawValue)" }
    let errors = ErrorCatalogue.entries.filter { entry in
      entry.links.contains { $0.kind == row.name }
    }
    let shown = errors.map { "`\($0.caseName)`" }.joined(separator: ", ")
    return ["`\(row.name)`", row.meaning, row.protocols.rawValue, shown] + retries + exits
      + ["`\(row.cost.rawValue)`", row.stops.rawValue]
  }

  private static var remedies: [String] {
    FailureKind.allCases.compactMap { kind in
      let context = FailureContext(kind: kind, phase: .authenticate, host: "host.example")
      return kind.row.remedy(in: context).map { "- `\(kind)`: \($0)" }
    }
  }
}
