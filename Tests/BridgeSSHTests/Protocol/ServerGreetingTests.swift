import BridgeSSH
import Testing

struct ServerGreetingTests {
  private func outcome(_ text: String) -> ServerGreeting.Outcome {
    var greeting = ServerGreeting()
    return greeting.feed(Array(text.utf8))
  }

  private func atEnd(_ text: String) -> ServerGreeting.Outcome? {
    var greeting = ServerGreeting()
    _ = greeting.feed(Array(text.utf8))
    return greeting.atEnd()
  }

  @Test(arguments: [
    ("SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0-OpenSSH_9.2"),
    ("SSH-2.0-dropbear\n", "SSH-2.0-dropbear"),
    ("SSH-1.99-Both\r\n", "SSH-1.99-Both"),
    ("Welcome\r\nto this\nhost\r\nSSH-2.0-x y z\r\n\0\0\0\u{1}", "SSH-2.0-x y z"),
    ("\nSSH-2.0-x\n", "SSH-2.0-x"),
    ("\u{1b}[1mBold\u{1b}[0m\n\tSSH-\nSSH-2.0-x\n", "SSH-2.0-x"),
    ("\r\n\n\r\nStarting session\u{7}\n\nSSH-2.0-x\r\n", "SSH-2.0-x"),
    ("SSH is only for staff\nSSH-2.0-x\n", "SSH-2.0-x"),
  ])
  func theVersionLineIsFound(text: String, version: String) {
    #expect(outcome(text) == .version(version))
  }

  @Test(arguments: ["SSH-1.5-old\n", "SSH-1.3-x\r\n", "hello\nSSH-1.5-old\n"])
  func ssh1IsToldApart(text: String) {
    guard case .ssh1 = outcome(text) else { return #expect(Bool(false), "\(outcome(text))") }
  }

  @Test(arguments: [
    ("\u{16}\u{3}\u{1}", "\\x16"), ("\0\0", "\\x00"),
    ("\n\r\nab\u{7}\0", "ab\\x07\\x00"),
    ("SSH-3.0-x\n", "SSH-3.0-x"), ("SSH-\n", "SSH-"), ("SSH-2.0-a\u{0}b\n", "SSH-2.0-a\\x00b"),
    ("SSH-2.0-\u{1b}[2J\n", "SSH-2.0-\\x1b[2J"),
  ])
  func whatIsNotSSHShowsItsFirstLineEscaped(text: String, firstLine: String) {
    #expect(outcome(text) == .notSSH(firstLine: firstLine, httpLocation: nil))
  }

  @Test func httpIsKnownByItsFirstLineAndItsRedirect() {
    let answer = "HTTP/1.1 302 Found\r\nServer: x\r\nlOcation:  http://portal/\u{1b}a\r\n"
    let expected = ServerGreeting.Outcome.notSSH(
      firstLine: "HTTP/1.1 302 Found", httpLocation: "http://portal/\\x1ba")
    #expect(outcome(answer) == .needMore)
    #expect(atEnd(answer) == expected)
    #expect(outcome(answer + "\r\n<html>") == expected)
    #expect(
      atEnd("HTTP/1.0 400 Bad") == .notSSH(firstLine: "HTTP/1.0 400 Bad", httpLocation: nil))
    guard case .notSSH = outcome("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 4000))
    else { return #expect(Bool(false), "endless headers") }
  }

  @Test func whatIsLeftAtTheEndDecides() {
    for silence in ["", "S", "SSH", "SSH-", "SSH-2.0-Open"] { #expect(atEnd(silence) == nil) }
    let mail = ServerGreeting.Outcome.notSSH(firstLine: "220 mail ESMTP", httpLocation: nil)
    #expect(atEnd("220 mail ESMTP\r\n") == mail)
    #expect(atEnd("220 mail ESMTP") == mail)
    #expect(atEnd("SSH-2.0-x\n") == .version("SSH-2.0-x"))
  }

  @Test(arguments: ["Exceeded MaxStartups\r\n", "Not allowed at this time\r\n", "Exceeded MaxSt"])
  func whatAThrottlingServerSaysIsKept(text: String) {
    var greeting = ServerGreeting()
    #expect(greeting.feed(Array(text.utf8)) == .needMore)
    #expect(greeting.preBanner.hasPrefix("Exceeded MaxSt") || greeting.preBanner.hasPrefix("Not "))
    #expect(!greeting.preBanner.contains("\r"))
  }

  @Test func theBudgetOfLinesIsExact() {
    let full = String(repeating: "a\n", count: 1024)
    #expect(outcome(full) == .needMore)
    #expect(outcome(full + "SSH-2.0-x\n") == .version("SSH-2.0-x"))
    #expect(outcome(full + "a\n") == .flood)
  }

  /// OpenSSH takes as much.
  @Test func theBudgetOfEachLineIsExact() {
    let full = String(repeating: "a", count: 8192)
    for end in ["\n", "\r\n"] {
      let text = String(repeating: full + end, count: 3)
      #expect(outcome(text) == .needMore)
      #expect(outcome(text + "SSH-2.0-x\n") == .version("SSH-2.0-x"))
      #expect(outcome(full + "a" + end) == .flood)
    }
    #expect(outcome(full + "aa") == .flood)
  }

  @Test func whatIsKeptOfTheTextIsBounded() {
    var greeting = ServerGreeting()
    for _ in 0..<1000 { _ = greeting.feed(Array((String(repeating: "a", count: 99) + "\n").utf8)) }
    #expect(greeting.preBanner.utf8.count == ServerGreeting.textLimit)
    #expect(greeting.feed(Array("SSH-2.0-x\n".utf8)) == .version("SSH-2.0-x"))
    #expect(greeting.versionStart == 100_000)
  }

  @Test func theVersionLineHasALimit() {
    let longest = "SSH-2.0-" + String(repeating: "x", count: 245)
    #expect(outcome(longest + "\r\n") == .version(longest))
    #expect(outcome(longest + "xy") == .tooLong(longest + "xy"))
  }

  @Test func everyCutGivesTheSameAnswer() {
    let bytes = Array("Hello\r\nSSH-2.0-OpenSSH_9.2\r\n\0\0\u{1}\u{2}rest".utf8)
    for cut in 0...bytes.count {
      var greeting = ServerGreeting()
      _ = greeting.feed(bytes[..<cut])
      #expect(greeting.feed(bytes[cut...]) == .version("SSH-2.0-OpenSSH_9.2"))
      #expect(greeting.consumed == 28)
      #expect(greeting.versionStart == 7)
      #expect(greeting.preBanner == "Hello\n")
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func mutatedGreetingsStayInTheBudget(seed: UInt64) {
    let text = "Hi\r\nHTTP/1.1 200\r\nLocation: x\r\nSSH-2.0-OpenSSH_9.2 Debian\r\n"
    for bytes in Mutation.of(Array(text.utf8), count: 300, seed: seed) {
      var greeting = ServerGreeting()
      for _ in 0..<200 { _ = greeting.feed(bytes) }
      let lines = ServerGreeting.lineLimit * (ServerGreeting.lineLength + 2)
      #expect(greeting.consumed <= lines + ServerGreeting.versionLimit)
      if case .notSSH(let line, _) = greeting.outcome {
        #expect(line.utf8.allSatisfy { $0 >= 32 && $0 != 127 }, "seed \(seed)")
      }
    }
  }
}
