import BridgeSessionProtocol
import Testing

/// The names that a copy leaves out.
@Suite struct FileExclusionTests {
  private func leavingOut(_ patterns: String...) -> FileExclusion? {
    FileExclusion(patterns.map { Array($0.utf8) })
  }

  private func path(_ text: String) -> FilePath {
    text.split(separator: "/").map { Array($0.utf8) }
  }

  @Test(arguments: [
    // A name anywhere.
    ("*.o", "a.o", true), ("*.o", "b/c/a.o", true), ("*.o", "a.oo", false), ("*.o", "o", false),
    ("*.o", ".a.o", true), ("*", ".git", true), ("?it", ".it", true), (".git", "a/.git", true),
    // The last names of a path.
    ("cache/*.tmp", "cache/a.tmp", true), ("cache/*.tmp", "x/cache/a.tmp", true),
    ("cache/*.tmp", "cache/x/a.tmp", false), ("cache/*.tmp", "a.tmp", false),
    // From the top.
    ("/build", "build", true), ("/build", "a/build", false), ("/a/*", "a/b", true),
    ("/a/*", "b/a/b", false), ("/a/*", "a/b/c", false),
    // A set, and what has no meaning.
    ("[ab]x", "ax", true), ("[!ab]x", "ax", false), ("[!ab]x", "cx", true),
    ("\\*x", "*x", true), ("\\*x", "ax", false), ("[", "[", true), ("a b", "a b", true),
    ("a\\b", "a\\b", true), ("a\\b", "ab", false), ("a\\b*", "ab", true),
    ("\u{e9}", "\u{e9}", true), ("A", "a", false),
  ])
  func aPatternFitsAName(_ pattern: String, _ name: String, _ isOut: Bool) throws {
    let exclusion = try #require(leavingOut(pattern))
    #expect(exclusion.leavesOut(path(name), isDirectory: false) == isOut)
    #expect(exclusion.leavesOut(path(name), isDirectory: true) == isOut)
  }

  @Test(arguments: ["x/", "/x/", "a/x/"])
  func aSlashAtTheEndMeansDirectories(pattern: String) throws {
    let exclusion = try #require(leavingOut(pattern))
    let path = self.path(pattern.contains("a") ? "a/x" : "x")
    #expect(exclusion.leavesOut(path, isDirectory: true))
    #expect(!exclusion.leavesOut(path, isDirectory: false))
  }

  @Test func oneOfSeveralIsEnough() throws {
    let exclusion = try #require(leavingOut("a", "b*", "/c"))
    for name in ["a", "bb", "c"] {
      #expect(exclusion.leavesOut(path(name), isDirectory: false))
    }
    #expect(!exclusion.leavesOut(path("x/c"), isDirectory: false))
  }

  @Test func theTopIsNeverLeftOut() throws {
    #expect(try #require(leavingOut("*", "/*", "*/")).leavesOut([], isDirectory: true) == false)
    #expect(!FileExclusion.none.leavesOut(path("a"), isDirectory: true))
  }

  @Test(arguments: [
    "", "/", "//", "//a", "a//b", "a//", ".", "..", "../a", "a/../b", "./a", "a\0b",
    String(repeating: "a", count: 256), String(repeating: "a/", count: 200),
  ])
  func whatCanFitNothingIsRefused(pattern: String) {
    #expect(leavingOut(pattern) == nil)
    #expect(leavingOut("a", pattern) == nil)
  }

  @Test func aRequestHoldsSoMany() {
    let patterns = (0..<1024).map { Array("pattern-\($0).with.a.long.name".utf8) }
    #expect(FileExclusion(patterns) != nil)
    #expect(FileExclusion(patterns + patterns) == nil)
  }
}
