/// Takes out of replayed output what a terminal would answer: an answer to an old question would be
/// typed into the program that reads now. The bell goes too.
///
/// For output below the live mark (`newest` of the welcome) only.
public struct MuteFilter: Sendable {
  private var scanner = SequenceScanner()

  /// A filter at the start of the replay.
  public init() {}

  /// The bytes to show. A sequence that has not ended is held back.
  public mutating func filter(_ bytes: [UInt8]) -> [UInt8] {
    var shown: [UInt8] = []
    shown.reserveCapacity(bytes.count)
    scanner.scan(bytes[...]) { token, _ in
      switch token {
      case .text(let text): shown += text
      case .control(let byte): if byte != Self.bell, byte != Self.enquiry { shown.append(byte) }
      case .sequence(let sequence): if !sequence.isQuery { shown += sequence.bytes }
      case .broken(let bytes): shown += bytes
      }
    }
    return shown
  }

  /// What is held back, at the live mark: the rest of the sequence follows in live output.
  public mutating func finish() -> [UInt8] {
    let rest = scanner.unfinished
    scanner = SequenceScanner()
    return rest
  }

  private static let bell: UInt8 = 0x07
  private static let enquiry: UInt8 = 0x05
}

extension ControlSequence {
  /// True when a terminal answers it.
  var isQuery: Bool {
    if isCSI { return isDeviceQuery }
    if isOSC { return isColorOrClipboardQuery }
    // DECRQSS and XTGETTCAP.
    return isDCS && (content.starts(with: "$q".utf8) || content.starts(with: "+q".utf8))
      // DECID.
      || bytes == [0x1B, UInt8(ascii: "Z")]
  }

  private var isDeviceQuery: Bool {
    switch (final, intermediate) {
    // DA1, DA2, DA3; DSR and DECDSR; DECREQTPARM.
    case (UInt8(ascii: "c"), 0), (UInt8(ascii: "n"), 0), (UInt8(ascii: "x"), 0): return true
    // DECRQM; DECRQTSR and DECRQPSR.
    case (UInt8(ascii: "p"), UInt8(ascii: "$")), (UInt8(ascii: "w"), UInt8(ascii: "$")),
      (UInt8(ascii: "u"), UInt8(ascii: "$")):
      return true
    // XTVERSION, and the keyboard flags of kitty.
    case (UInt8(ascii: "q"), 0): return marker == UInt8(ascii: ">")
    case (UInt8(ascii: "u"), 0): return marker == UInt8(ascii: "?")
    // XTQMODKEYS.
    case (UInt8(ascii: "m"), 0): return marker == UInt8(ascii: "?")
    // Reports of the window's state, size and title.
    case (UInt8(ascii: "t"), 0): return (11...21).contains((numbers.first ?? nil) ?? 0)
    // XTSMGRAPHICS.
    case (UInt8(ascii: "S"), 0): return marker == UInt8(ascii: "?")
    case _: return false
    }
  }

  /// A question mark in place of the value: colors (4, 5, 10 to 19), the clipboard (52), others.
  private var isColorOrClipboardQuery: Bool {
    content.split(separator: UInt8(ascii: ";")).dropFirst()
      .contains { $0.elementsEqual([UInt8(ascii: "?")]) }
  }
}
