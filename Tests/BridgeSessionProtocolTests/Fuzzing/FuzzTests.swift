import BridgeSessionProtocol
import Testing

/// The short form of `scripts/fuzz`: seeded bytes that look like frames and like terminal output.
@Suite struct FuzzTests {
  private static let sequences: [[UInt8]] = [
    "\u{1B}[?1049h", "\u{1B}[2J", "\u{1B}[1;5r", "\u{1B}(0", "\u{1B}]2;t\u{7}", "\u{1B}[1;31m",
    "\u{1B}[c", "\u{1B}P$qm\u{1B}\\", "\u{1B}[!p", "\u{1B}[4h", "\u{1B}=", "\u{1B}[3 q", "\u{1B}c",
    "\u{E}", "\u{7}", "text\r\n", "\u{1B}]52;c;?\u{1B}\\", "\u{1B}[?1;1;1;2004h", "\u{1B}[>4;1m",
  ].map { Array($0.utf8) }

  private func input(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = [UInt8(truncatingIfNeeded: generator.next())]
    for _ in 0..<(1 + generator.upTo(12)) {
      switch generator.upTo(3) {
      case 0: bytes += Sample.frames[generator.upTo(Sample.frames.count - 1)].encoded
      case 1: bytes += Self.sequences[generator.upTo(Self.sequences.count - 1)]
      case 2: bytes += [0x1B, UInt8(ascii: "[")]
      default: bytes += (0..<generator.upTo(40)).map { _ in UInt8(generator.upTo(255)) }
      }
    }
    for _ in 0..<generator.upTo(3) {
      bytes[generator.upTo(bytes.count - 1)] = UInt8(generator.upTo(255))
    }
    return bytes
  }

  @Test(arguments: 0..<8) func everyRuleHoldsForDamagedFramesAndOutput(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for turn in 0..<400 {
      let bytes = input(&generator)
      let broken = FuzzBody.broken(by: bytes)
      #expect(broken == nil, "seed \(seed), turn \(turn): \(bytes)")
      if broken != nil { return }
    }
  }
}
