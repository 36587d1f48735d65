import BridgeTerminal
import Testing

@Suite struct EscapeParserTests {
  private typealias Token = EscapeParser.Token

  private static func bytes(_ text: String) -> EscapeParser.Token { .bytes(Array(text.utf8)) }

  @Test(
    arguments: [
      ("abc", [bytes("abc")]), ("~.", [.disconnect]), ("~r", [.reconnect]), ("~s", [.status]),
      ("~?", [.help]), ("~#", [.forwards]), ("~&", [.background]),
      ("~\u{1A}", [.suspend]), ("~~", [bytes("~")]), ("~~.", [bytes("~.")]), ("~x", [bytes("~x")]),
      ("a~.", [bytes("a~.")]), ("a\r~.", [bytes("a\r"), .disconnect]),
      ("a\n~.", [bytes("a\n"), .disconnect]), ("~", []), ("~\r~.", [bytes("~\r"), .disconnect]),
      ("~?~.", [.help, .disconnect]), ("ls ~/x\r", [bytes("ls ~/x\r")]),
      ("~sabc", [.status, bytes("abc")]), ("", []),
    ] as [(String, [EscapeParser.Token])])
  func findsEscapesAtTheStartOfALine(_ text: String, _ tokens: [EscapeParser.Token]) {
    var parser = EscapeParser()
    #expect(parser.take(Array(text.utf8)) == tokens)
  }

  @Test func detachingIsAnEscapeOnlyWhereTheShellGoesOn() {
    var plain = EscapeParser()
    #expect(plain.take(Array("~d".utf8)) == [Self.bytes("~d")])
    var durable = EscapeParser(canDetach: true)
    #expect(durable.take(Array("a\r~d".utf8)) == [Self.bytes("a\r"), .detach])
  }

  @Test(arguments: ["a\r~.b", "~~x\r~?~s~.", "~\r~~\n~.", "plain ~ text\r"])
  func whereItIsCutDoesNotMatter(_ text: String) {
    var whole = EscapeParser()
    var split = EscapeParser()
    let all = whole.take(Array(text.utf8))
    let single = text.utf8.flatMap { split.take([$0]) }
    #expect(Self.joined(single) == Self.joined(all))
  }

  private static func joined(_ tokens: [Token]) -> [Token] {
    tokens.reduce(into: []) { result, token in
      if case .bytes(let more) = token, case .bytes(let bytes)? = result.last {
        result[result.count - 1] = .bytes(bytes + more)
      } else {
        result.append(token)
      }
    }
  }

  @Test func anotherByteBeginsAnEscape() {
    var parser = EscapeParser(tilde: UInt8(ascii: "%"))
    #expect(parser.take(Array("~.%.".utf8)) == [.bytes(Array("~.%.".utf8))])
    #expect(parser.take(Array("\r%.".utf8)) == [.bytes([13]), .disconnect])
    #expect(parser.take(Array("%%x".utf8)) == [.bytes(Array("%x".utf8))])
  }

  /// A window that gets the focus does not take the beginning of the line from an escape.
  @Test func aReportIsNoPartOfALine() {
    var parser = EscapeParser()
    let focus = Array("\u{1B}[I".utf8)
    #expect(parser.take(focus) == [.report(focus)])
    #expect(
      parser.take(Array("~".utf8) + focus + Array(".".utf8)) == [.report(focus), .disconnect])
    #expect(
      parser.take(Array("a".utf8) + focus + Array("b".utf8))
        == [Self.bytes("a"), .report(focus), Self.bytes("b")])
  }

  @Test func whatIsPastedIsTyped() {
    let text = Array("\u{1B}[200~see \u{1B}[I\u{1B}[201~".utf8)
    let focus = Array("\u{1B}[O".utf8)
    for cut in 7..<text.count {
      var parser = EscapeParser()
      let tokens = parser.take(Array(text[..<cut])) + parser.take(Array(text[cut...]) + focus)
      #expect(Self.joined(tokens) == [.bytes(text), .report(focus)], "\(cut)")
    }
  }

  /// Who only looks types no lines.
  @Test func whereNothingIsTypedAnEscapeBeginsAnywhere() {
    var parser = EscapeParser(canDetach: true, hasLines: false)
    #expect(parser.take(Array("kk~d".utf8)) == [.bytes(Array("kk".utf8)), .detach])
    #expect(parser.take(Array("~xj~.".utf8)) == [.bytes(Array("~xj".utf8)), .disconnect])
    #expect(parser.isAtLineStart)
  }

  /// A key is typed already: an escape would go to the program, and Enter answers its question.
  @Test func aWindowIsMovedInALineToo() {
    let typed = Array("y\u{1B}[1;3C\u{1B}[1;3Dn\u{1B}[1;3A\u{1B}[1;3B\r~f".utf8)
    var window = EscapeParser(canDetach: true, canMove: true)
    let moves = "lhkj".utf8.map { Token.move($0) }
    let tokens: [Token] = [
      Self.bytes("y"), moves[0], moves[1], Self.bytes("n"), moves[2], moves[3], Self.bytes("\r"),
      .move(UInt8(ascii: "f")),
    ]
    #expect(window.take(typed) == tokens)
    var other = EscapeParser(canDetach: true)
    #expect(other.take(typed) == [.bytes(typed)])
    // Other keys of that kind, and a piece of one, are the program's.
    for keys in ["\u{1B}[1;5C", "\u{1B}[C", "\u{1B}[1;3F", "\u{1B}[1;3", "\u{1B}"] {
      #expect(window.take(Array(keys.utf8)) == [Self.bytes(keys)])
    }
    var none = EscapeParser(canMove: true, tilde: nil)
    #expect(none.take(typed) == [.bytes(typed)])
  }

  @Test func withoutOneAllIsSent() {
    var parser = EscapeParser(tilde: nil)
    #expect(parser.take(Array("~.\r~.".utf8)) == [.bytes(Array("~.\r~.".utf8))])
    #expect(!parser.isAtLineStart)
  }
}
