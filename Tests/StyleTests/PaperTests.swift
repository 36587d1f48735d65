import Foundation
import Testing

/// What a stranger reads first says what is so.
@Suite struct PaperTests {
  private func text(_ path: String) throws -> String {
    try #require(Checkout.files.first { $0.path == path }, "\(path) is missing").text
  }

  private func isExecutable(_ path: String) -> Bool {
    FileManager.default.isExecutableFile(atPath: Checkout.root.appending(path: path).path)
  }

  @Test func theReadmeIsShort() throws {
    #expect(
      try text("README.md").split(separator: "\n", omittingEmptySubsequences: false).count < 150)
  }

  @Test func theReadmesExampleIsAProgram() throws {
    let readme = try text("README.md")
    let block = try #require(readme.firstMatch(of: /```swift\n(?s)(.*?)\n```/)).output.1
    #expect(try text("Examples/remote-command/RemoteCommand.swift").contains(block))
  }

  @Test func theReadmeHasARowForEveryLibrary() throws {
    let readme = try text("README.md")
    let rooms = Set(Checkout.files.filter { $0.area == "Sources" }.map(\.room))
    for room in rooms.subtracting(ImportTable.systemLibraries)
      .subtracting(ImportTable.executables)
    {
      #expect(readme.contains("\n| \(room) | "), "no row for \(room) in README.md")
    }
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func everyScriptThatIsNamedCanBeRun(_ paper: String) throws {
    let named = try text(paper).matches(of: /scripts\/[a-z]+/).map { String($0.output) }
    #expect(!named.isEmpty)
    for script in Set(named) { #expect(isExecutable(script), "\(paper) names \(script)") }
  }

  @Test(arguments: ["README.md", "CONTRIBUTING.md"])
  func everyLinkLeadsSomewhere(_ paper: String) throws {
    for link in try text(paper).matches(of: /\]\(([^)#:]+)\)/) {
      let target = Checkout.root.appending(path: String(link.output.1)).path
      #expect(FileManager.default.fileExists(atPath: target), "\(paper): \(link.output.1)")
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
