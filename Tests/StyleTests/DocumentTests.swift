import Foundation
import Testing

/// Documents checked against the code.
@Suite struct DocumentTests {
  private func text(_ path: String) throws -> String {
    try #require(Checkout.files.first { $0.path == path }, "\(path) is missing").text
  }

  private func isExecutable(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: Checkout.root.appending(path: path).path)
  }

  @Test func theReadmeIsShort() throws {
    let lines = try text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 100)
    // A row of a table is as long as it must be.
    for line in lines where !line.hasPrefix("|") {
      #expect(line.count <= 120, "\(line)")
    }
  }

  /// What a reader with thirty seconds must find: why, a command to try, the first program.
  @Test func theReadmeComesToThePoint() throws {
    let lines = try text("README.md").split(separator: "\n", omittingEmptySubsequences: false)
    let why = try #require(lines.firstIndex { $0 == "## Why" })
    let command = try #require(lines.firstIndex { $0.hasPrefix("scripts/bridgectl connect ") })
    let program = try #require(lines.firstIndex { $0.contains("SSHConnection(") })
    #expect(why < 10 && command < 32 && program < 60)
  }

  @Test(arguments: ["Package.swift", "Benchmarks/Package.swift"])
  func theReadmeRequiresTheSwiftOfTheManifest(_ manifest: String) throws {
    let first = try text(manifest).prefix { $0 != "\n" }
    let tools = try #require(first.wholeMatch(of: /\/\/ swift-tools-version: ([0-9.]+)/))
    #expect(try text("README.md").contains("Swift \(tools.output.1) or newer"))
  }

  /// The examples are built and run by ExampleTests.
  @Test(arguments: ["README.md", "docs/recovery.md"])
  func theCodeOfTheDocumentIsThatOfAnExample(_ document: String) throws {
    let blocks = try text(document).matches(of: /```swift\n(?s)(.*?)\n```/)
      .map { String($0.output.1) }
    #expect(blocks.count == 1)
    let examples = Checkout.files.filter { $0.area == "Examples" && $0.isSwift }
    for block in blocks {
      #expect(examples.contains { $0.text.contains("\n\(block)\n") }, "\(block)")
    }
  }

  @Test func theArchitectureHasARowForEveryLibrary() throws {
    let architecture = try text("docs/architecture.md")
    let targets = Set(Checkout.files.filter { $0.area == "Sources" }.map(\.target))
    for target in targets.subtracting(ImportTable.systemLibraries)
      .subtracting(ImportTable.executables)
    {
      #expect(
        architecture.contains("\n| \(target) | "), "no row for \(target) in docs/architecture.md")
    }
  }

  /// Each row names the file to begin with.
  @Test func theFilesToStartReadingAtAreThere() throws {
    let rows = try text("docs/architecture.md").matches(
      of: /\| ([A-Za-z]+) \| [^\n]* \| `([A-Za-z+\/]+\.swift)` \|/)
    #expect(rows.count > 15)
    for row in rows {
      let path = "Sources/\(row.output.1)/\(row.output.2)"
      #expect(Checkout.files.contains { $0.path == path }, "\(path)")
    }
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func everyScriptThatIsNamedCanBeRun(_ document: String) throws {
    let named = try text(document).matches(of: /scripts\/[a-z-]+/).map { String($0.output) }
    #expect(!named.isEmpty)
    for script in Set(named) { #expect(isExecutable(script), "\(document) names \(script)") }
  }

  private static let documents = Checkout.files.map(\.path).filter { $0.hasSuffix(".md") }

  @Test(arguments: documents) func everyLinkLeadsSomewhere(_ document: String) throws {
    let folder = Checkout.root.appending(path: document).deletingLastPathComponent()
    for link in try text(document).matches(of: /\]\(([^)#:]+)\)/) {
      let target = folder.appending(path: String(link.output.1)).path
      #expect(FileManager.default.fileExists(atPath: target), "\(document): \(link.output.1)")
    }
  }

  @Test(arguments: documents.filter { $0.hasPrefix("docs/") })
  func everyDocumentIsLinkedFromTheReadme(_ document: String) throws {
    #expect(try text("README.md").contains("](\(document))"), "\(document)")
  }

  @Test func everyPathOfContributingIsThere() throws {
    let contributing = try text("CONTRIBUTING.md")
    let start = try #require(contributing.range(of: "\n## To change X, touch Y\n"))
    let end = try #require(contributing.range(of: "\n## To add an error case\n"))
    let paths = contributing[start.upperBound..<end.lowerBound]
      .matches(of: /`([A-Za-z]+[\/.][^`… ]*)`/).map { String($0.output.1) }
    #expect(paths.count > 30)
    for path in paths {
      let candidates = [path, "Sources/" + path].map { Checkout.root.appending(path: $0).path }
      #expect(candidates.contains(where: FileManager.default.fileExists(atPath:)), "\(path)")
    }
  }

  @Test func theChangelogIsOpen() throws {
    #expect(try text("CHANGELOG.md").contains("\n## [Unreleased]\n"))
  }

  @Test(arguments: Checkout.files.filter { $0.area == "scripts" && $0.name.allSatisfy(\.isLetter) })
  func scriptsStopAtTheFirstError(_ script: SourceFile) {
    #expect(isExecutable(script.path))
    #expect(script.text.hasPrefix("#!/usr/bin/env bash\n# "), "no shebang, or no purpose")
    #expect(script.text.contains("\nset -euo pipefail\n"))
  }
}
