import BridgeFaults

/// Output of a program that uses all that a terminal has, without sense.
enum ScreenOutput {
  private static let words = [
    "hello", "日本語", "e\u{301}", "│─┌", "~~~qqq", "lorem ipsum dolor sit amet", "😀", " ",
    "x\u{1B}[3b",
    "\r\n", "\r\n", "\r", "\n", "\u{8}", "\t", "\u{E}", "\u{F}", "012345678901234567890123456789",
  ]
  private static let escapes = [
    "7", "8", "D", "E", "M", "H", "(0", "(B", ")0", "*0", "n", "o", "N", "#8", "c", "=",
    "]0;title\u{7}", "]8;;http://a\u{1B}\\", "]8;;\u{1B}\\", "P$qm\u{1B}\\", "_G\u{1B}\\",
  ]
  private static let finals = Array("ABCDEFGHIJKLMPSTXZ@dfghlmrsu`")
  private static let privates = [1, 6, 7, 25, 45, 47, 69, 1000, 1006, 1047, 1048, 1049, 2004, 2026]
  private static let renditions = [
    "1", "2", "3", "4", "5", "7", "8", "9", "22", "23", "24", "27", "53", "4:3", "58:5:9", "59",
    "31", "42", "94", "105", "38;5;200", "48;2;1;2;3", "38:2::4:5:6", "0", "",
  ]

  static func pieces(_ count: Int, using random: inout SplitMix64) -> [UInt8] {
    var text = ""
    for _ in 0..<count {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3: text += Self.words.randomElement(using: &random) ?? ""
      case 4: text += "\u{1B}" + (Self.escapes.randomElement(using: &random) ?? "")
      case 5: text += "\u{1B}[\(Self.renditions.randomElement(using: &random) ?? "")m"
      case 6:
        let mode = Self.privates.randomElement(using: &random) ?? 1
        text += "\u{1B}[?\(mode)\(Bool.random(using: &random) ? "h" : "l")"
      case 7: text += "\u{1B}[\(Int.random(in: 1...3, using: &random)) q\u{1B}[>1u"
      default:
        let numbers = (0..<Int.random(in: 0...2, using: &random)).map { _ in
          String(Int.random(in: 0...12, using: &random))
        }
        let final = Self.finals.randomElement(using: &random) ?? "m"
        text += "\u{1B}[\(numbers.joined(separator: ";"))\(final)"
      }
    }
    return Array(text.utf8)
  }
}
