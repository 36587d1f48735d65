import BridgeCommands
import BridgeErrors
import BridgeWebSocket
import Testing

@Suite struct MessageFramingTests {
  @Test(arguments: 0...9)
  func linesAreMessagesWhereverTheyAreCut(_ cut: Int) {
    var framing = MessageFraming(isBinary: false)
    let bytes = Array("é\n\nab\r\nc".utf8)
    let first = framing.take(Array(bytes[..<cut]))
    let second = framing.take(Array(bytes[cut...]))
    #expect(first + second == [.text("é"), .text(""), .text("ab\r")])
    #expect(framing.finish() == .text("c"))
    #expect(framing.finish() == nil)
  }

  @Test(arguments: 0...12)
  func lengthsStandBeforeBinaryMessages(_ cut: Int) {
    var framing = MessageFraming(isBinary: true)
    let bytes: [UInt8] = [0, 0, 0, 2, 10, 255, 0, 0, 0, 0, 0, 0]
    let first = framing.take(Array(bytes[..<cut]))
    let second = framing.take(Array(bytes[cut...]))
    #expect(first + second == [.binary([10, 255]), .binary([])])
    #expect(framing.finish() == nil)
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var isBinary = false
    var bytes: [UInt8]
    var before: [WebSocketMessage]
    var message: String
  }

  static let faults = [
    Fault(
      testDescription: "not UTF-8", bytes: Array("a\nb\n".utf8) + [0x63, 0xE9, 10, 100, 10],
      before: [.text("a"), .text("b")],
      message: "Line 3 is not UTF-8; with --binary bytes go as they are. What came before was sent."
    ),
    Fault(
      testDescription: "not UTF-8 at the end", bytes: [97, 10, 0xE9], before: [.text("a")],
      message: "Line 2 is not UTF-8; with --binary bytes go as they are. What came before was sent."
    ),
    Fault(
      testDescription: "a line that is too long",
      bytes: [97, 10] + [UInt8](repeating: 120, count: MessageFraming.limit + 5),
      before: [.text("a")], message: "Line 2 is longer than 16 MiB. What came before was sent."),
    Fault(
      testDescription: "a length that is too long", isBinary: true,
      bytes: [0, 0, 0, 1, 97, 1, 0, 0, 1, 97], before: [.binary([97])],
      message: "Message 2 is longer than 16 MiB. What came before was sent."),
    Fault(
      testDescription: "a message cut off", isBinary: true,
      bytes: [0, 0, 0, 1, 97, 0, 0, 0, 2, 97],
      before: [.binary([97])],
      message: "Message 2 is cut off: the input ended in it. What came before was sent."),
    Fault(
      testDescription: "a length cut off", isBinary: true, bytes: [0, 0], before: [],
      message: "Message 1 is cut off: the input ended in it. What came before was sent."),
  ]

  @Test(arguments: faults)
  func whatIsNoMessageIsTold(_ expected: Fault) {
    var framing = MessageFraming(isBinary: expected.isBinary)
    #expect(framing.take(expected.bytes) == expected.before)
    #expect(framing.finish() == nil)
    #expect(framing.fault == .validationError(field: "standard input", message: expected.message))
    #expect(framing.take([97, 10]).isEmpty)
    #expect(framing.finish() == nil)
  }

  @Test("on a terminal a message is one visible line, whatever is in it")
  func onATerminal() {
    let terminal = MessageFraming(isBinary: false, isForTerminal: true)
    for (message, line) in [
      (.text("plain é"), "plain é"), (.text("\u{1B}[2J\u{7}"), #"\x1b[2J\x07"#),
      (.text("a\nb\tc"), "a b c"), (.text("\u{202E}\u{9B}"), #"\u{202e}\x9b"#),
      (.text(""), ""), (.binary([0x1B, 0xFF]), #"\x1b"# + "\u{FFFD}"),
      (.text("\u{E0001}\u{10FFFF}"), #"\u{e0001}\u{10ffff}"#),
    ] as [(WebSocketMessage, String)] {
      let encoded = terminal.encode(message)
      #expect(String(decoding: encoded.bytes, as: UTF8.self) == line + "\n")
      #expect(encoded.isFaithful)
    }
  }

  @Test func messagesAreWrittenAsTheyAreRead() {
    let lines = MessageFraming(isBinary: false)
    #expect(lines.encode(.text("a")).bytes == [97, 10])
    #expect(lines.encode(.text("a")).isFaithful)
    #expect(!lines.encode(.text("a\nb")).isFaithful)
    #expect(!lines.encode(.binary([1])).isFaithful)
    #expect(lines.encode(.text("a\nb\n")).lines == 3)
    let binary = MessageFraming(isBinary: true, isForTerminal: true)
    #expect(binary.encode(.text("ab")).bytes == [0, 0, 0, 2, 97, 98])
    #expect(
      binary.encode(.binary([UInt8](repeating: 1, count: 258))).bytes.prefix(4) == [0, 0, 1, 2])
  }
}
