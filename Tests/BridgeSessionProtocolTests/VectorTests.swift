import BridgeSessionProtocol
import Foundation
import Testing

/// The test vectors of docs/sessions.md.
@Suite struct VectorTests {
  private struct Vector {
    var name: String
    var bytes: [UInt8]
  }

  private static let names = [
    "hello", "hello-new", "welcome", "refused", "output", "output-terminal", "gap", "input",
    "acknowledge", "resize", "signal", "end-of-input", "detach", "close", "exited", "signaled",
    "keeper-died", "rebooted", "ping", "pong", "start", "start-shell", "status", "notice",
    "screen", "size",
  ]

  private func document() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "docs/sessions.md"), encoding: .utf8)
  }

  private func vectors() throws -> [Vector] {
    let section = try #require(try document().components(separatedBy: "### Test vectors").last)
    let block = try #require(section.components(separatedBy: "```").dropFirst().first)
    var vectors: [Vector] = []
    for line in block.split(separator: "\n") {
      let words = line.split(separator: " ")
      if !line.hasPrefix(" "), let name = words.first {
        vectors.append(Vector(name: String(name), bytes: []))
      } else {
        vectors[vectors.count - 1].bytes += words.joined().hexadecimal
      }
    }
    return vectors
  }

  @Test func theDocumentListsEveryFrame() throws {
    #expect(try vectors().map(\.name) == Self.names)
    #expect(Sample.frames.count == Self.names.count)
  }

  @Test func framesAreWrittenAsTheDocumentSays() throws {
    for (vector, frame) in zip(try vectors(), Sample.frames) {
      #expect(frame.encoded == vector.bytes, "\(vector.name)\n\(Self.text(frame.encoded))")
    }
  }

  @Test func theDocumentsBytesAreReadAsFrames() throws {
    for (vector, frame) in zip(try vectors(), Sample.frames) {
      var parser = FrameParser()
      parser.append(vector.bytes)
      #expect(try parser.drain() == [frame], "\(vector.name)")
    }
  }

  /// The header on a line of its own, then 32 bytes a line.
  static func text(_ bytes: [UInt8]) -> String {
    let digits = bytes.map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }
    var lines = ["  " + digits.prefix(16).joined()]
    for start in stride(from: 16, to: digits.count, by: 32) {
      lines.append("  " + digits[start..<min(start + 32, digits.count)].joined())
    }
    return lines.joined(separator: "\n")
  }
}

extension String {
  fileprivate var hexadecimal: [UInt8] {
    let digits = compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { index in
      UInt8(digits[index] << 4 | digits[index + 1])
    }
  }
}
