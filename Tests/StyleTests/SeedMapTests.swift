import Foundation
import Testing

/// docs/seeds.md names what is there, and every row of the specification.
@Suite("docs/seeds.md") struct SeedMapTests {
  struct Row {
    var ids: String
    var places: String
    var tests: String
    var state: String
  }

  private static func text() throws -> String {
    try #require(Checkout.files.first { $0.path == "docs/seeds.md" }).text
  }

  private static func rows() throws -> [Row] {
    try text().split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
        .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, cells[0] != "rows", !cells[0].hasPrefix("---") else { return nil }
      return Row(ids: cells[0], places: cells[2], tests: cells[3], state: cells[4])
    }
  }

  @Test func everyRowThatIsDoneNamesCodeAndTestsThatAreThere() throws {
    let rows = try Self.rows()
    #expect(rows.count > 70)
    for row in rows where row.state == "done" {
      #expect(!row.places.isEmpty && !row.tests.isEmpty, "\(row.ids)")
      #expect(missing(row.places, in: "Sources").isEmpty, "\(row.ids)")
      #expect(missing(row.tests, in: "Tests").isEmpty, "\(row.ids)")
    }
  }

  @Test func whatIsNotThereIsSeen() {
    #expect(missing("BE/API/ErrorResponse, ErrorEnvelope, BridgeHTTP", in: "Sources").isEmpty)
    #expect(missing("../Examples/domain-errors, the rows above", in: "Sources").isEmpty)
    #expect(missing("BE/API/ErrorResponse, Nothing", in: "Sources") == ["Nothing"])
    #expect(missing("BE/API/ErrorRespons, BAT", in: "Sources") == ["BE/API/ErrorRespons", "BAT"])
  }

  @Test func aRowIsDoneOrSaysWhyNot() throws {
    for row in try Self.rows() {
      #expect(["done", "not built (X)"].contains(row.state), "\(row.ids)")
      #expect(row.state == "done" || row.places + row.tests == "", "\(row.ids)")
    }
  }

  @Test func everyNumberOfTheSpecificationIsThereOnce() throws {
    let last = ["S0": 86, "S1": 187, "S2": 47, "S3": 128, "S4": 70]
    var found: [String: [Int]] = [:]
    for row in try Self.rows() {
      guard let match = row.ids.wholeMatch(of: /(S[0-4])-([0-9…, ]+)/) else { continue }
      found[String(match.output.1), default: []] += numbers(match.output.2)
    }
    #expect(found.mapValues { $0.sorted() } == last.mapValues { Array(1...$0) })
  }

  private func numbers(_ list: Substring) -> [Int] {
    list.split(separator: ",").flatMap { part -> [Int] in
      let ends = part.split(separator: "…")
        .compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  /// The names in a cell that lead nowhere. `area` is where a path begins.
  private func missing(_ cell: String, in area: String) -> [String] {
    var folder = area
    return cell.split(separator: ", ").map(String.init).filter { name in
      guard name != "the rows above" else { return false }
      let candidates = [area + "/" + expanded(name), folder + "/" + name]
      guard let path = candidates.first(where: isThere) else { return true }
      folder = path.split(separator: "/").dropLast().joined(separator: "/")
      return false
    }
  }

  private func isThere(_ path: String) -> Bool {
    let path = Checkout.root.appending(path: path).path
    return [path, path + ".swift"].contains(where: FileManager.default.fileExists(atPath:))
  }

  private func expanded(_ name: String) -> String {
    let short = [
      "BE": "BridgeErrors", "BET": "BridgeErrorsTests", "BA": "BridgeAccount",
      "BAT": "BridgeAccountTests",
    ]
    var parts = name.split(separator: "/").map(String.init)
    parts[0] = short[parts[0]] ?? parts[0]
    return parts.joined(separator: "/")
  }
}
