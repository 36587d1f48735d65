import Testing

import BridgeSessionProtocol

/// Which names a pattern stands for.
@Suite struct NamePatternTests {
  private func matches(_ pattern: String, _ name: String, escapes: Bool = true) -> Bool {
    NamePattern(pattern.utf8, escapes: escapes).matches(Array(name.utf8))
  }

  @Test(arguments: [
    ("*.gz", ".bashrc"), ("*", ".bashrc"), ("?bashrc", ".bashrc"), ("[.]bashrc", ".bashrc"),
    ("*.gz", "a.gz.sh"), ("*.gz", "gz"), ("a*b*c", "a-c-b"), ("a?", "a"), ("a?", "abc"),
    ("[a-c]", "d"), ("[!a-c]", "b"), ("[^a-c]", "b"), ("[c-a]", "b"), ("[[:digit:]]", "a"),
    ("[a", "a"), ("a", "b"), ("", "a"), ("é", "?"), ("?", "é"), (#"\*"#, "a"), (#"[\]]"#, #"\"#),
  ])
  func anotherNameIsRefused(_ pattern: String, _ name: String) {
    #expect(!matches(pattern, name))
  }

  @Test(arguments: [
    ("*.gz", "a.gz"), ("*.gz", "a.gz.gz"), ("*", "a b\n"), ("*", ""), ("a*b*c", "a-b-b-c"),
    ("**a", "ba"), ("a?", "ab"), ("??", "é"), ("[a-c]x", "bx"), ("[!a-c]", "d"), ("[]a]", "]"),
    ("[a-]", "-"), ("[[:digit:][:upper:]_]", "A"), ("[a", "[a"), (".*", ".a"), (#"\*"#, "*"),
    (#"[\]]"#, "]"), (#"[a\-c]"#, "-"), ("literal", "literal"), (#"\.a"#, ".a"),
  ])
  func aNameThatItStandsForIsTaken(_ pattern: String, _ name: String) {
    #expect(matches(pattern, name))
  }

  @Test func aBackslashMayBeItself() {
    #expect(matches(#"\*"#, #"\a"#, escapes: false) && !matches(#"\*"#, #"\a"#))
  }

  /// A pattern of many stars is no work without an end.
  @Test func manyStarsAreSoonDone() {
    #expect(!matches(String(repeating: "*a", count: 100), String(repeating: "a", count: 255) + "b"))
  }
}
