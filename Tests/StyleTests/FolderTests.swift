import Testing

/// The folders of a module are layers: none uses one that uses it.
@Suite struct FolderTests {
  /// Move a type to the folder that it belongs to; give what both need a folder of its own.
  @Test func noFoldersOfAModuleUseEachOther() {
    let circles = Folders(Checkout.files).circles
    #expect(circles.isEmpty, "\(circles.map(\.description).joined(separator: "\n"))")
  }

  @Test func theFoldersOfTheCheckoutAreSeen() {
    let uses = Folders(Checkout.files).uses
    #expect(uses.contains { $0.module == "BridgeErrors" && $0.to == "Failure" })
    #expect(Set(uses.map(\.module)).count > 8)
  }

  @Test func twoThatNameEachOthersTypesAreACircle() {
    let found = circles(
      ("A/One.swift", "struct One { var two: Two }"), ("B/Two.swift", "enum Two { case one(One) }"))
    #expect(found == ["BridgeSSH: A uses B: Two", "BridgeSSH: B uses A: One"])
  }

  @Test func threeThatLeadBackAreACircle() {
    let found = circles(
      ("A/One.swift", "struct One { var two: Two }"), ("B/Two.swift", "enum Two { case a(Three) }"),
      ("C/Three.swift", "actor Three { let one: One? }"),
      ("D/Four.swift", "protocol Four { var one: One { get } }"))
    #expect(found.map { $0.contains(" D ") } == [false, false, false])
  }

  @Test func anExtensionUsesTheTypeThatItExtends() {
    let found = circles(
      ("A/One.swift", "struct One { var two: Two }\nstruct Other {}"),
      ("B/Two.swift", "struct Two {}\nextension Other {}"))
    #expect(found == ["BridgeSSH: A uses B: Two", "BridgeSSH: B uses A: Other"])
  }

  @Test func theTopOfAModuleIsAFolder() {
    let found = circles(
      ("One.swift", "struct One { var two: Two }"), ("B/Two.swift", "typealias Two = [One]"))
    #expect(found == ["BridgeSSH: . uses B: Two", "BridgeSSH: B uses .: One"])
  }

  @Test func whatTouchesCBelongsToItsFolder() {
    let uses = ("A/Native/Two.swift", "struct Two { var one: One }")
    #expect(circles(("A/One.swift", "struct One { var two: Two }"), uses).isEmpty)
    let apart = ("Native/Two.swift", "struct Two { var one: One }")
    #expect(circles(("A/One.swift", "struct One { var two: Two }"), apart).count == 2)
  }

  @Test(arguments: [
    "struct Two {}", "struct Two {} // One", "struct Two { let text = \"One\" }",
    "struct Two { func a() { b.One() } }", "private struct One {}\nstruct Two { }",
    "struct Two { struct Three {} }",
  ]) func oneDirectionIsNoCircle(text: String) {
    let found = circles(
      ("A/One.swift", "struct One { var two: Two; let three: Three }"), ("B/Two.swift", text))
    #expect(found.isEmpty)
  }

  @Test func modulesAreApart() {
    let files = [
      SourceFile("Sources/BridgeSSH/A/One.swift", "struct One { var two: Two }"),
      SourceFile("Sources/BridgeErrors/B/Two.swift", "struct Two { var one: One }"),
      SourceFile("Tests/BridgeSSHTests/B/Two.swift", "struct Two { var one: One }"),
    ]
    #expect(Folders(files).uses.isEmpty)
  }

  private func circles(_ files: (String, String)...) -> [String] {
    Folders(files.map { SourceFile("Sources/BridgeSSH/\($0.0)", $0.1) }).circles
      .map(\.description)
  }
}
