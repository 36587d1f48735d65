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
    let path = try CopyOperand(text, field: "SRC").path
    #expect(CopyPlace(text: text, path: path).name == name.map { Array($0.utf8) })
  }

  /// Names of files are bytes.
  @Test(
    arguments: [
      ([0x61, 0xFF, 0x62], "a\u{10FEFF}b"), ([0xE9], "\u{10FEE9}"), ([0xC3, 0xA9], "\u{e9}"),
      ([0xC3], "\u{10FEC3}"), ([0xE2, 0x82, 0x61], "\u{10FEE2}\u{10FE82}a"),
      ([0xF0, 0x9F, 0x98, 0x80], "\u{1F600}"),
      ([0xED, 0xA0, 0x80], "\u{10FEED}\u{10FEA0}\u{10FE80}"),
      ([0x65, 0xCC, 0x81], "e\u{301}"), ([], ""),
    ] as [([UInt8], String)])
  func whatIsNoTextKeepsItsBytes(_ bytes: [UInt8], _ text: String) throws {
    let found = try #require(ArgumentBytes.text(of: bytes))
    #expect(Array(found.unicodeScalars) == Array(text.unicodeScalars))
    #expect(ArgumentBytes.bytes(of: text) == bytes)
  }

  @Test func aTextThatLooksLikeSuchBytesIsRefused() {
    #expect(ArgumentBytes.text(of: Array("a\u{10FEFF}".utf8)) == nil)
  }

  @Test func aByteInAURINeedBeNoText() throws {
    let operand = try CopyOperand("ssh://h/a%FF%C3%A9", field: "SRC")
    #expect(operand.path == [0x61, 0xFF, 0xC3, 0xA9])
    let both = try CopyOperand("ssh://h/\u{10FEFE}%FF", field: "SRC")
    #expect(both.path == [0xFE, 0xFF])
  }

  @Test(arguments: [
    ["a", "b"], ["h:a", "i:b"], ["", "h:a"], ["a", ""], ["ws://h/x", "b"], ["h:a"], [],
    ["a", "b", "c"], ["h:a", "h:b", "h:c"],
  ])
  func exactlyOneSideIsAHost(_ operands: [String]) {
    #expect(throws: AppError.self) { try CopyRequest(operands, isRecursive: false) }
  }

  /// What is wrong with the operands, in the words of the error.
  @Test(arguments: [
    (["a", "h:b", "c"], "Some of them are HOST:PATH, others are here"),
    (["a", "h:b", "h:c"], "Some of them are HOST:PATH, others are here"),
    (["h:a", "i:b", "c"], "different hosts"), (["h:a", "u@h:b", "c"], "different hosts"),
    (["x/a", "y/a", "h:"], "x/a and y/a would have the same name"),
    (["h:x/a", "h:a/", "."], "h:x/a and h:a/ would have the same name"),
    (["a", "b", "./a", "h:"], "a and ./a would have the same name"),
    (["a", "d/.", "h:"], "d/. has no name"), (["h:", "h:a", "d"], "h: has no name"),
  ])
  func sourcesThatDoNotGoTogetherAreRefused(_ operands: [String], _ words: String) {
    let error = #expect(throws: AppError.self) {
      try CopyRequest(operands, isRecursive: true)
    }
    guard case .validationError("SRC", let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.contains(words), "\(message)")
  }

  @Test func aLimitIsBytesASecond() throws {
    func limit(_ text: String?) throws -> UInt64? {
      try CopyRequest(["a", "h:"], isRecursive: false, limit: text).limit
    }
    #expect(try limit(nil) == nil)
    #expect(try limit("500K") == 500 << 10)
    #expect(try limit("2048") == 2048)
    for text in ["", "0", "1023", "fast", "-1", "2 M", "1.5M", "9999T"] {
      let error = #expect(throws: AppError.self) { try limit(text) }
      guard case .validationError("--limit", _) = error else {
        Issue.record("\(text): \(String(describing: error))")
        continue
      }
    }
  }

  @Test func severalConnectionsCopyOneFile() throws {
    for operands in [["a", "b", "h:"], ["h:a", "h:b*", "d"]] {
      let error = #expect(throws: AppError.self) {
        try CopyRequest(operands, isRecursive: false, streams: 2).check([])
      }
      guard case .validationError("--streams", _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    // What a pattern stands for is known later.
    let request = try CopyRequest(["h:a*", "d"], isRecursive: false, streams: 2)
    let found = ["a1", "a2"].map { CopyPlace(text: "h:\($0)", path: Array($0.utf8)) }
    try request.check(Array(found.prefix(1)))
    #expect(throws: AppError.self) { try request.check(found) }
  }

  @Test func onlyAHostIsAskedForNames() throws {
    let get = try CopyRequest(["h:a*", "h:[b]", "h:c?", "h:d\\", "e"], isRecursive: false)
    #expect(get.sources.map(get.isPattern) == [true, true, true, false])
    let put = try CopyRequest(["a*", "h:"], isRecursive: false)
    #expect(!put.isPattern(put.sources[0]))
  }

  /// Two patterns may stand for files of one name.
  @Test func foundNamesThatAreTheSameAreRefused() throws {
    let request = try CopyRequest(["h:x/*", "h:y/*", "d"], isRecursive: false)
    let found = ["x/a", "y/a"].map { CopyPlace(text: "h:\($0)", path: Array($0.utf8)) }
    let error = #expect(throws: AppError.self) { try request.check(found) }
    guard case .validationError("SRC", let message) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(message.contains("h:x/a and h:y/a"))
  }

  /// With `.*` a shell finds the directory itself and the one around it.
  @Test func aPatternStandsForNamesOnly() {
    let paths = ["d/.", "d/..", "d/.a"].map { Array($0.utf8) }
    let hidden = CopyPlace(text: "h:d/.*", path: Array("d/.*".utf8))
    #expect(hidden.matches(paths, on: "h").map(\.text) == ["h:d/.a"])
    let content = CopyPlace(text: "h:d*/.", path: Array("d*/.".utf8))
    #expect(content.matches([Array("d1/.".utf8)], on: "h").map(\.text) == ["h:d1/."])
    // As it would be typed.
    let found = content.matches([Array("/d1/.".utf8)], on: "ssh://h:22")
    #expect(found.map(\.text) == ["ssh://h:22//d1/."])
    // A name that is no text stays as it is.
    let other = CopyPlace(text: "h:*", path: [42])
    #expect(other.matches([[0xFF]], on: "h").map(\.path) == [[0xFF]])
  }

  /// Another run finds what the one before has left, also beside other sources; another copy does
  /// not.
  @Test func theSameCopyHasTheSameTransfer() throws {
    var runs = SeededRuns()
    let requests = [
      try CopyRequest(["a", "h:b"], isRecursive: false),
      try CopyRequest(["/d/a", "h:b"], isRecursive: false),
      try CopyRequest(["a", "c", "h:b"], isRecursive: false),
      try CopyRequest(["a", "h:c"], isRecursive: false),
      try CopyRequest(["c", "h:b"], isRecursive: false),
    ]
    let ids = requests.map {
      $0.job(
        of: $0.sources[0], account: "u@h:22", directory: "/d", run: runs.next(), key: nil
      ).transfer
    }
    #expect(ids[1] == ids[0] && ids[2] == ids[0])
    #expect(ids[3] != ids[0] && ids[4] != ids[0] && ids[3] != ids[4])
  }
}

private struct SeededRuns {
  private var count: UInt64 = 0

  mutating func next() -> Identifier {
    count += 1
    return Identifier(high: count, low: 0)
  }
}
