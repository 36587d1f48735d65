import BridgeCommands
import BridgeErrors
import BridgeWebSocket
import Testing

@Suite struct MessageFramingTests {
  @Test(arguments: 0...9)
  func linesAreMessagesWhereverTheyAreCut(_ cut: Int) throws {
    var framing = MessageFraming(isBinary: false)
    let bytes = Array("é\n\nab\r\nc".utf8)
    let first = try framing.take(Array(bytes[..<cut]))
    let second = try framing.take(Array(bytes[cut...]))
    #expect(first + second == [.text("é"), .text(""), .text("ab\r")])
    #expect(framing.finish() == .text("c"))
    #expect(framing.finish() == nil)
  }

  @Test(arguments: 0...12)
  func lengthsStandBeforeBinaryMessages(_ cut: Int) throws {
    var framing = MessageFraming(isBinary: true)
    let bytes: [UInt8] = [0, 0, 0, 2, 10, 255, 0, 0, 0, 0, 0, 0]
    let first = try framing.take(Array(bytes[..<cut]))
    let second = try framing.take(Array(bytes[cut...]))
    #expect(first + second == [.binary([10, 255]), .binary([])])
    #expect(framing.finish() == nil)
  }

  @Test func whatIsTooLongIsRefused() {
    var binary = MessageFraming(isBinary: true)
    #expect(throws: AppError.self) { try binary.take([1, 0, 0, 1]) }
    var lines = MessageFraming(isBinary: false)
    #expect(throws: AppError.self) {
      try lines.take([UInt8](repeating: 120, count: MessageFraming.limit + 5))
    }
  }

  @Test func messagesAreWrittenAsTheyAreRead() {
    let lines = MessageFraming(isBinary: false)
    #expect(lines.encode(.text("a")).bytes == [97, 10])
    #expect(lines.encode(.text("a")).isFaithful)
    #expect(!lines.encode(.text("a\nb")).isFaithful)
    #expect(!lines.encode(.binary([1])).isFaithful)
    let binary = MessageFraming(isBinary: true)
    #expect(binary.encode(.text("ab")).bytes == [0, 0, 0, 2, 97, 98])
    #expect(
      binary.encode(.binary([UInt8](repeating: 1, count: 258))).bytes.prefix(4) == [0, 0, 1, 2])
  }
}
