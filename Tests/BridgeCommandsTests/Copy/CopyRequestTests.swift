import BridgeCommands
import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import Testing

/// What SRC and DST mean, and what is refused before anything is dialed.
@Suite struct CopyRequestTests {
  @Test(arguments: [
    ("a", CopyOperand.local("a")), ("./a:b", .local("./a:b")), ("/a:b", .local("/a:b")),
    (":a", .local(":a")), ("h:", .remote(host: "h", path: ".")),
    ("h:a/b", .remote(host: "h", path: "a/b")), ("h:/a:b", .remote(host: "h", path: "/a:b")),
    ("u@h:~/a", .remote(host: "u@h", path: "a")), ("h:~", .remote(host: "h", path: ".")),
    ("u@[::1]:a", .remote(host: "u@[::1]", path: "a")),
    ("ssh://u@h:22/a", .remote(host: "ssh://u@h:22", path: "a")),
    ("ssh://h/a%20b%25", .remote(host: "ssh://h", path: "a b%")),
    ("scp://h:1/a", .remote(host: "ssh://h:1", path: "a")),
    ("ssh://h//a", .remote(host: "ssh://h", path: "/a")),
    ("ssh://h", .remote(host: "ssh://h", path: ".")),
  ])
  func aColonBeforeTheFirstSlashMakesItRemote(
    _ text: String, _ expected: CopyOperand
  ) throws {
    #expect(try CopyOperand(text, field: "SRC") == expected)
  }

  @Test(arguments: [
    ("a", "a"), ("d/a", "a"), ("d/a/", "a"), ("/", nil), (".", nil), ("..", nil), ("d/.", nil),
    ("h:d/a", "a"), ("h:", nil), ("h:/", nil),
  ])
  func theNameOfACopyIsTheLastOne(_ text: String, _ name: String?) throws {
    #expect(try CopyOperand(text, field: "SRC").name == name.map { Array($0.utf8) })
  }

  @Test(arguments: [("a", "b"), ("h:a", "i:b"), ("", "h:a"), ("a", ""), ("ws://h/x", "b")])
  func exactlyOneOfThemIsOnAHost(_ source: String, _ destination: String) {
    #expect(throws: AppError.self) {
      try CopyRequest(source: source, destination: destination, isRecursive: false)
    }
  }

  /// Another run finds what the one before has left; another copy does not.
  @Test func theSameCopyHasTheSameTransfer() throws {
    var runs = SeededRuns()
    let first = try CopyRequest(source: "a", destination: "h:b", isRecursive: false)
    let same = try CopyRequest(source: "/d/a", destination: "h:b", isRecursive: false)
    let other = try CopyRequest(source: "a", destination: "h:c", isRecursive: false)
    let ids = [first, same, other].map {
      $0.job(account: "u@h:22", directory: "/d", run: runs.next(), key: nil).transfer
    }
    #expect(ids[0] == ids[1] && ids[0] != ids[2])
  }
}

private struct SeededRuns {
  private var count: UInt64 = 0

  mutating func next() -> Identifier {
    count += 1
    return Identifier(high: count, low: 0)
  }
}
