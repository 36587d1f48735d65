import Testing

/// The name of a type says what it is in the whole package: two with one name are two ideas that
/// pass for one, or one that exists twice.
@Suite struct TopLevelTests {
  /// Types that a file declares outside of any other.
  private static func types(_ file: SourceFile) -> [TypeName] {
    var depth = 0
    return file.tokens.indices.compactMap { index in
      let token = file.tokens[index]
      if token.text == "{" { depth += 1 }
      if token.text == "}" { depth -= 1 }
      let name = file.token(at: index + 1)
      guard depth == 0, keywords.contains(token.text), file.token(at: index - 1) != ".",
        name.first?.isUppercase == true
      else { return nil }
      return TypeName(name: name, line: token.line)
    }
  }

  private static let keywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]

  /// Names that more than one file declares, with their places.
  private static func doubles(in files: [SourceFile]) -> [String] {
    var places: [String: [String]] = [:]
    for file in files {
      for type in types(file) { places[type.name, default: []].append("\(file.path):\(type.line)") }
    }
    return places.filter { $0.value.count > 1 }
      .map { "\($0.key): \($0.value.joined(separator: ", "))" }.sorted()
  }

  @Test func noNameIsThereTwice() {
    let found = Self.doubles(
      in: Checkout.files.filter { $0.isSwift && ["Sources", "Examples"].contains($0.area) })
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test func twoFilesWithOneNameAreFound() {
    let files = [
      SourceFile("Sources/A/One.swift", "private struct One {}\nenum Two { struct Inner {} }"),
      SourceFile("Sources/B/One.swift", "public actor One {}\nclass Three { enum Inner {} }"),
      SourceFile("Sources/B/Two.swift", "typealias Two = Int\nextension Three {}"),
    ]
    #expect(
      Self.doubles(in: files) == [
        "One: Sources/A/One.swift:1, Sources/B/One.swift:1",
        "Two: Sources/A/One.swift:2, Sources/B/Two.swift:1",
      ])
  }
}
