import BridgeTerminal
import Testing

/// What a terminal sends by itself is not what is typed: the one is an answer that a program waits
/// for, the other an act of the user.
@Suite struct TerminalReportTests {
  @Test(arguments: [
    // Focus, the place of the cursor, kinds of terminals, modes, states, sizes, graphics.
    "\u{1B}[I", "\u{1B}[O", "\u{1B}[24;80R", "\u{1B}[1;17R", "\u{1B}[?24;80;1R",
    "\u{1B}[?62;4;6c", "\u{1B}[>0;276;0c", "\u{1B}[?2026;2$y", "\u{1B}[4;1$y", "\u{1B}[0n",
    "\u{1B}[?997;1n", "\u{1B}[8;24;80t", "\u{1B}[48;24;80;480;640t", "\u{1B}[?2;0;640;480S",
    "\u{1B}[?31u", "\u{1B}[>4;2m",
    // The wheel, and a mouse that moves without a button, in each of the three forms.
    "\u{1B}[<64;10;5M", "\u{1B}[<65;10;5M", "\u{1B}[<35;10;5M", "\u{1B}[<35;10;5m",
    "\u{1B}[96;10;5M", "\u{1B}[M`!!", "\u{1B}[MC!!",
    // Colors, the clipboard, settings, names, graphics.
    "\u{1B}]11;rgb:1e1e/1e1e/1e1e\u{1B}\\", "\u{1B}]52;c;aGVsbG8=\u{7}",
    "\u{1B}P1$r0m\u{1B}\\", "\u{1B}P>|XTerm(388)\u{1B}\\", "\u{1B}P!|00000000\u{1B}\\",
    "\u{1B}_Gi=31;OK\u{1B}\\",
  ])
  func whatNoUserTypedIsAReport(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(TerminalReport.length(at: bytes[...]) == bytes.count)
    #expect(TerminalReport.length(at: (bytes + bytes)[...]) == bytes.count)
    #expect(TerminalReport.without(Array("a".utf8) + bytes + Array("b".utf8)) == Array("ab".utf8))
    // A part of one is not waited for.
    for count in 0..<bytes.count { #expect(TerminalReport.length(at: bytes[..<count]) == nil) }
  }

  @Test(arguments: [
    "", "a", "\u{1B}", "\u{1B}\u{1B}", "\u{1B}[A", "\u{1B}OA", "\u{1B}[1;5A", "\u{1B}[3~",
    "\u{1B}[1;2R", "\u{1B}[1;5R", "\u{1B}OR", "\u{1B}[Z", "\u{1B}[97;5u", "\u{1B}[27;5;9~",
    "\u{1B}[200~text\u{1B}[201~", "\u{1B}[<0;10;5M", "\u{1B}[<0;10;5m", "\u{1B}[<32;10;5M",
    "\u{1B}[32;10;5M", "\u{1B}[M !!", "\u{1B}]", "\u{1B}]a\u{7}", "\u{1B}P", "\u{1B}Pa\r",
    "\u{1B}_", "\u{1B}x", "\u{1B}[", "\u{1B}[é",
  ])
  func aKeyAndAClickAreNone(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(TerminalReport.length(at: bytes[...]) == nil)
    #expect(TerminalReport.without(bytes) == bytes)
  }
}
