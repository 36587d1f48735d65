import Foundation
import Testing

/// The rules of the code, checked against the checkout, each seen to fail on a fixture.
@Suite struct RuleTests {
  @Test func theCheckoutIsFound() {
    let paths = Set(Checkout.files.map(\.path))
    #expect(paths.contains("Package.swift"))
    #expect(paths.contains("Sources/BridgeErrors/AppError.swift"))
    #expect(paths.contains("Tests/StyleTests/RuleTests.swift"))
    #expect(paths.contains("scripts/test"))
  }

  @Test(arguments: Rule.all) func isSeenToFail(_ rule: Rule) {
    for file in rule.breaks {
      #expect(!rule.violations(file).isEmpty, "\(file.path) should break it: \(file.text)")
    }
    for file in rule.keeps {
      #expect(rule.violations(file).isEmpty, "\(file.path) should keep it: \(file.text)")
    }
  }

  @Test(arguments: Rule.all) func isKept(_ rule: Rule) {
    let found = Checkout.files.flatMap { file in
      rule.violations(file).map { $0 == 0 ? file.path : "\(file.path):\($0)" }
    }
    #expect(found.isEmpty, "\(rule.name): broken in\n\(found.joined(separator: "\n"))")
  }

  /// The table of imports names no target that the manifest lost or never had as a library.
  @Test func everyFolderIsATargetOfTheManifest() throws {
    let manifest = try #require(Checkout.files.first { $0.path == "Package.swift" })
    let targets = Set(Checkout.files.filter { $0.area == "Sources" }.map(\.target))
    for target in targets {
      #expect(manifest.text.contains("\"\(target)\""), "\(target) is a folder and no target")
    }
  }

  @Test func buildProductsAreNotTracked() throws {
    let isClone = FileManager.default.fileExists(
      atPath: Checkout.root.appending(path: ".git").path)
    guard isClone else { return }
    // A clone may belong to another user than the one who tests it.
    let listing = try #require(
      Checkout.run(["git", "-c", "safe.directory=*", "ls-files"]), "a clone without git")
    #expect(listing.status == 0, "\(listing.text)")
    let products = listing.text.split(separator: "\n").filter(isProduct)
    #expect(products.isEmpty)
    #expect(isProduct("Benchmarks/.build-tsan/a.o") && isProduct("Package.resolved"))
  }

  private func isProduct(_ path: Substring) -> Bool {
    path.split(separator: "/").contains { $0.hasPrefix(".build") || $0 == "Package.resolved" }
  }

  /// `.swift-format` also asks for a comment on every public declaration.
  @Test func theFormatterHasNothingToSay() throws {
    let paths = Checkout.files.filter(\.isSwift).map(\.path)
    let lint = try #require(
      Checkout.run(["swift", "format", "lint", "--strict", "--parallel"] + paths))
    #expect(lint.status == 0, "\(lint.text)")
  }
}
