import BridgeSessionProtocol
import Testing

/// Which names and links of a peer are taken.
@Suite struct FileNameTests {
  @Test(arguments: [
    "a", "...", "..a", ".hidden", "a b", "-rf", "*", "~", "C:\\x", "\u{1B}[2J", "line\nfeed",
  ])
  func anyNameOfAFileIsOne(_ name: String) { #expect(FileName(Array(name.utf8)) != nil) }

  @Test(arguments: ["", ".", "..", "/", "a/b", "../a", "/etc", "a/", "\0", "a\0b"])
  func whatLeadsElsewhereIsNone(_ name: String) {
    #expect(FileName(Array(name.utf8)) == nil)
  }

  @Test func aNameMayHaveEveryByteButTwo() {
    let bytes = (UInt8(1)...255).filter { $0 != UInt8(ascii: "/") }
    #expect(FileName(bytes)?.bytes == bytes)
    #expect(FileName([UInt8](repeating: 120, count: 256)) == nil)
  }

  /// The depth counts the directories around the link, the top one included.
  @Test(arguments: [
    ("f", 1, true), ("./f", 1, true), ("d/f", 1, true), ("..", 1, false), ("../f", 2, true),
    ("../../f", 2, false), ("../../f", 3, true), ("/etc/passwd", 9, false), ("", 1, false),
    // What lies below may be a link itself: after it, `..` is another place than it looks.
    ("d/..", 2, false), ("d/../../x", 9, false), ("./../f", 2, true), ("a//b", 1, true),
    ("f\0", 1, false),
  ])
  func aLinkStaysInsideTheTree(_ target: String, _ depth: Int, _ isInside: Bool) {
    #expect(FileName.staysInside(target: Array(target.utf8), depth: depth) == isInside)
  }

  @Test(arguments: ["a", "a/b/c", "a/\u{1}/..."])
  func aPathOfTheWireIsItsNames(_ text: String) {
    let path = FilePath(joined: Array(text.utf8))
    #expect(path?.joined == Array(text.utf8))
  }

  @Test(arguments: ["/a", "a/", "a//b", "..", "a/../b", "a/."])
  func aPathOfTheWireLeadsNowhereElse(_ text: String) {
    #expect(FilePath(joined: Array(text.utf8)) == nil)
  }
}
