/// A cell of a screen in one word: a character or the number of a cluster, its width, its style.
struct ScreenCell: Sendable, Equatable {
  var word: UInt64

  static let styleShift: UInt64 = 24
  private static let clusterFlag: UInt64 = 1 << 21
  private static let wideFlag: UInt64 = 1 << 22
  private static let tailFlag: UInt64 = 1 << 23
  private static let contentMask: UInt64 = 0x1F_FFFF

  /// A blank in the terminal's own colors.
  static let blank = ScreenCell(word: 0x20)
  static let blankWord: UInt64 = 0x20

  init(word: UInt64) { self.word = word }

  init(_ scalar: UInt32, style: Int, isWide: Bool = false) {
    word = UInt64(scalar) | UInt64(style) << Self.styleShift | (isWide ? Self.wideFlag : 0)
  }

  /// The second cell of a wide character.
  static func tail(style: Int) -> ScreenCell {
    ScreenCell(word: UInt64(style) << styleShift | tailFlag)
  }

  var style: Int { Int(word >> Self.styleShift) }
  var isCluster: Bool { word & Self.clusterFlag != 0 }
  /// The first cell of a wide character.
  var isWide: Bool { word & Self.wideFlag != 0 }
  var isTail: Bool { word & Self.tailFlag != 0 }
  var isBlank: Bool { word & 0xFF_FFFF == Self.blankWord }
  /// A character of one scalar value and one column.
  var isPlain: Bool { word & (Self.clusterFlag | Self.wideFlag | Self.tailFlag) == 0 }
  /// A scalar value, or the number of a cluster.
  var content: UInt32 { UInt32(word & Self.contentMask) }

  func withCluster(_ number: Int) -> ScreenCell {
    ScreenCell(word: word & ~Self.contentMask | Self.clusterFlag | UInt64(number))
  }

  func withStyle(_ number: Int) -> ScreenCell {
    ScreenCell(word: word & 0xFF_FFFF | UInt64(number) << Self.styleShift)
  }
}
