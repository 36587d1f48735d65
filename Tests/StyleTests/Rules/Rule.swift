import Testing

/// One rule of the code: where it is broken, and a fixture for each side of it.
struct Rule: Sendable, CustomTestStringConvertible {
  let name: String
  /// The line numbers where a file breaks it; 0 stands for the file as a whole.
  let violations: @Sendable (SourceFile) -> [Int]
  /// Files that break it.
  let breaks: [SourceFile]
  /// Files that look nearly the same and keep it.
  let keeps: [SourceFile]

  init(
    _ name: String, breaks: [SourceFile], keeps: [SourceFile],
    violations: @escaping @Sendable (SourceFile) -> [Int]
  ) {
    self.name = name
    self.violations = violations
    self.breaks = breaks
    self.keeps = keeps
  }

  var testDescription: String { name }

  static let all = numbers + words + language + concurrency + names + targets + nativeCodes
}

/// A fixture that stands in an ordinary library.
func library(_ text: String) -> SourceFile {
  SourceFile("Sources/BridgeErrors/Fixture.swift", text)
}

/// A fixture that stands in a test target.
func test(_ text: String) -> SourceFile {
  SourceFile("Tests/BridgeErrorsTests/FixtureTests.swift", text)
}

/// A fixture that stands in a `Native/` folder.
func native(_ text: String) -> SourceFile {
  SourceFile("Sources/BridgeSSH/Native/Fixture.swift", text)
}

/// A fixture that stands in BridgeCommands.
func commands(_ text: String) -> SourceFile {
  SourceFile("Sources/BridgeCommands/Fixture.swift", text)
}
