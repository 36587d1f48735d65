import BridgeTerminalState
import Testing

/// The questions of a program in output that its terminal is not sent.
@Suite struct TerminalQueriesTests {
  @Test func theyAreFoundInTheirOrder() {
    let output = "text\u{1B}[6n\u{1B}[31mmore\u{1B}]11;?\u{7}\u{1B}[c\u{1B}[1;1H"
    let found = TerminalQueries.last(in: Array(output.utf8), limit: 100)
    #expect(String(decoding: found, as: UTF8.self) == "\u{1B}[6n\u{1B}]11;?\u{7}\u{1B}[c")
  }

  @Test func ofManyTheLastAreTaken() {
    let output = String(repeating: "\u{1B}[5n", count: 1000) + "\u{1B}[6n"
    let found = TerminalQueries.last(in: Array(output.utf8), limit: 8)
    #expect(String(decoding: found, as: UTF8.self) == "\u{1B}[5n\u{1B}[6n")
  }

  @Test func oneThatAnotherSequenceEndedHasAnEnd() {
    let output = Array("\u{1B}]11;?\u{1B}[6n\u{1B}P+q544e\u{1B}[c".utf8)
    let found = TerminalQueries.last(in: output, limit: 100)
    #expect(
      String(decoding: found, as: UTF8.self)
        == "\u{1B}]11;?\u{1B}\\\u{1B}[6n\u{1B}P+q544e\u{1B}\\\u{1B}[c")
  }

  @Test func whatIsCutIsNoQuery() {
    #expect(TerminalQueries.last(in: Array("6n\u{1B}[6".utf8), limit: 100).isEmpty)
  }
}
