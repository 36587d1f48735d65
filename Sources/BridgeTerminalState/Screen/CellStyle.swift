/// How a cell is shown: colors, attributes and the hyperlink it belongs to.
struct CellStyle: Sendable, Hashable {
  /// A color in a word: the terminal's own, one of the palette, or red, green and blue.
  struct Color: Sendable, Hashable {
    var word: UInt32 = 0

    static func palette(_ number: Int) -> Color { Color(word: 1 << 24 | UInt32(number & 0xFF)) }
    /// One of the first eight, named by its number: terminals show bold text in a brighter one only
    /// where it was named as one of eight.
    static func numbered(_ number: Int) -> Color {
      number < 8 ? Color(word: palette(number).word | numberedBit) : palette(number)
    }
    private static let numberedBit: UInt32 = 1 << 8

    static func rgb(_ red: Int, _ green: Int, _ blue: Int) -> Color {
      let parts = UInt32(red & 0xFF) << 16 | UInt32(green & 0xFF) << 8 | UInt32(blue & 0xFF)
      return Color(word: 2 << 24 | parts)
    }

    var isDefault: Bool { word == 0 }
    var isPalette: Bool { word >> 24 == 1 }
    var isNumbered: Bool { isPalette && word & Self.numberedBit != 0 }
    /// Of the palette.
    var number: Int { Int(word & 0xFF) }
    var components: [Int] { [16, 8, 0].map { Int(word >> $0 & 0xFF) } }
  }

  struct Attributes: Sendable, Hashable, OptionSet {
    var rawValue: UInt16
    static let bold = Attributes(rawValue: 1)
    static let faint = Attributes(rawValue: 2)
    static let italic = Attributes(rawValue: 4)
    static let blink = Attributes(rawValue: 8)
    static let inverse = Attributes(rawValue: 16)
    static let hidden = Attributes(rawValue: 32)
    static let struck = Attributes(rawValue: 64)
    static let overlined = Attributes(rawValue: 128)
    /// Selective erasing spares the cell (DECSCA).
    static let protected = Attributes(rawValue: 256)
  }

  var foreground = Color()
  var background = Color()
  var underlineColor = Color()
  var attributes: Attributes = []
  /// 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed.
  var underline: UInt8 = 0
  /// The number of a hyperlink in the table; 0 for none.
  var link: UInt16 = 0

  /// The style of erased cells: only the background is kept.
  var erased: CellStyle {
    var style = CellStyle()
    style.background = background
    return style
  }
}

extension CellStyle {
  /// Applies the parameters of SGR.
  mutating func apply(_ parameters: SequenceParameters) {
    if parameters.count == 0 { applyOne(0) }
    var index = 0
    while index < parameters.count {
      let value = parameters[index] ?? 0
      let end = parameters.endOfGroup(at: index)
      switch value {
      case 38, 48, 58:
        let (color, next) = Self.color(in: parameters, at: index, groupEnd: end)
        if let color { setColor(value, color) }
        index = next
        continue
      case 4 where end > index + 1: underline = UInt8(min(parameters[index + 1] ?? 1, 5))
      case _: applyOne(value)
      }
      index = end
    }
  }

  private mutating func setColor(_ target: Int, _ color: Color) {
    switch target {
    case 38: foreground = color
    case 48: background = color
    case _: underlineColor = color
    }
  }

  private mutating func applyOne(_ value: Int) {
    switch value {
    case 0:
      // What is protected, and where a link goes, are not of the rendition.
      let kept = (attributes.intersection(.protected), link)
      self = CellStyle()
      (attributes, link) = kept
    case 4: underline = 1
    case 21: underline = 2
    case 22: attributes.subtract([.bold, .faint])
    case 24: underline = 0
    case 30...37: foreground = .palette(value - 30)
    case 39: foreground = Color()
    case 40...47: background = .palette(value - 40)
    case 49: background = Color()
    case 59: underlineColor = Color()
    case 90...97: foreground = .palette(value - 82)
    case 100...107: background = .palette(value - 92)
    case _:
      if let set = Self.attribute(setBy: value) { attributes.insert(set) }
      if let unset = Self.attribute(unsetBy: value) { attributes.remove(unset) }
    }
  }

  private static func attribute(setBy value: Int) -> Attributes? {
    switch value {
    case 1: .bold
    case 2: .faint
    case 3: .italic
    case 5, 6: .blink
    case 7: .inverse
    case 8: .hidden
    case 9: .struck
    case 53: .overlined
    case _: nil
    }
  }

  private static func attribute(unsetBy value: Int) -> Attributes? {
    switch value {
    case 23: .italic
    case 25: .blink
    case 27: .inverse
    case 28: .hidden
    case 29: .struck
    case 55: .overlined
    case _: nil
    }
  }

  /// The color that 38, 48 or 58 names, and the index behind it: `38;5;n`, `38;2;r;g;b`, `38:5:n`,
  /// `38:2:r:g:b` or, with a color space, `38:2:space:r:g:b`.
  private static func color(
    in parameters: SequenceParameters, at index: Int, groupEnd: Int
  ) -> (Color?, Int) {
    let hasColons = groupEnd > index + 1
    let kind = parameters[index + 1]
    if hasColons {
      let values = (index + 2..<max(groupEnd, index + 2)).map { parameters[$0] ?? 0 }
      if kind == 5, let number = values.first { return (checked(number), groupEnd) }
      guard kind == 2, values.count >= 3 else { return (nil, groupEnd) }
      let rgb = values.count > 3 ? Array(values[1...3]) : values
      return (checked(rgb[0], rgb[1], rgb[2]), groupEnd)
    }
    if kind == 5 { return (checked(parameters[index + 2] ?? 0), index + 3) }
    guard kind == 2 else { return (nil, index + 2) }
    let rgb = (2...4).map { parameters[index + $0] ?? 0 }
    return (checked(rgb[0], rgb[1], rgb[2]), index + 5)
  }

  private static func checked(_ number: Int) -> Color? { number < 256 ? .numbered(number) : nil }

  private static func checked(_ red: Int, _ green: Int, _ blue: Int) -> Color? {
    max(red, green, blue) < 256 ? .rgb(red, green, blue) : nil
  }
}

extension CellStyle {
  /// The shortest SGR that leads from another style to this one; empty where they are the same. The
  /// hyperlink is a sequence of its own.
  func rendition(from old: CellStyle) -> [UInt8] {
    let fromZero = ["0"] + changes(from: CellStyle())
    let changes = changes(from: old)
    guard !changes.isEmpty else { return [] }
    let direct = changes.joined(separator: ";")
    let whole = fromZero.count == 1 ? "" : fromZero.joined(separator: ";")
    return Array("\u{1B}[\(whole.utf8.count < direct.utf8.count ? whole : direct)m".utf8)
  }

  private static let codes: [(attribute: Attributes, set: String, unset: String)] = [
    (.italic, "3", "23"), (.blink, "5", "25"), (.inverse, "7", "27"), (.hidden, "8", "28"),
    (.struck, "9", "29"), (.overlined, "53", "55"),
  ]

  private func changes(from old: CellStyle) -> [String] {
    var changes: [String] = []
    let weights: Attributes = [.bold, .faint]
    var oldWeight = old.attributes.intersection(weights)
    if !oldWeight.isSubset(of: attributes) {
      changes.append("22")
      oldWeight = []
    }
    let added = attributes.subtracting(oldWeight)
    if added.contains(.bold) { changes.append("1") }
    if added.contains(.faint) { changes.append("2") }
    for code in Self.codes {
      let isSet = attributes.contains(code.attribute)
      guard isSet != old.attributes.contains(code.attribute) else { continue }
      changes.append(isSet ? code.set : code.unset)
    }
    if underline != old.underline {
      changes.append(underline == 0 ? "24" : underline == 1 ? "4" : "4:\(underline)")
    }
    if foreground != old.foreground { changes.append(Self.text(foreground, 30, 90)) }
    if background != old.background { changes.append(Self.text(background, 40, 100)) }
    if underlineColor != old.underlineColor { changes.append(underlineColorText) }
    return changes
  }

  private static func text(_ color: Color, _ normal: Int, _ bright: Int) -> String {
    if color.isDefault { return "\(normal + 9)" }
    guard color.isPalette else {
      return "\(normal + 8);2;" + color.components.map(String.init).joined(separator: ";")
    }
    switch color.number {
    case let number where color.isNumbered: return "\(normal + 8);5;\(number)"
    case 0...7: return "\(normal + color.number)"
    case 8...15: return "\(bright + color.number - 8)"
    case let number: return "\(normal + 8);5;\(number)"
    }
  }

  /// With colons: a terminal that does not know 58 takes numbers behind semicolons for others.
  private var underlineColorText: String {
    if underlineColor.isDefault { return "59" }
    if underlineColor.isPalette { return "58:5:\(underlineColor.number)" }
    return "58:2::" + underlineColor.components.map(String.init).joined(separator: ":")
  }
}
