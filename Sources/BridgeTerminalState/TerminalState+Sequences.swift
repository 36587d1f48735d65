// What each sequence changes (ECMA-48; xterm's "Control Sequences"; kitty's keyboard protocol).
extension TerminalState {
  mutating func apply(_ sequence: ControlSequence) {
    if sequence.isCSI { return applyCSI(sequence) }
    if sequence.isOSC { return applyOSC(sequence) }
    // Images move the cursor.
    if sequence.isDCS || sequence.isAPC { return moved() }
    switch sequence.introducer {
    case UInt8(ascii: "c"): resetAll()
    case UInt8(ascii: "="): modes.hasKeypad = true
    case UInt8(ascii: ">"): modes.hasKeypad = false
    case UInt8(ascii: "7"): saveCursor()
    case UInt8(ascii: "8"): restoreCursor()
    case UInt8(ascii: "n"), UInt8(ascii: "o"): modes.shift = sequence.introducer
    case UInt8(ascii: "H"): modes.hasOwnTabStops = true
    case UInt8(ascii: "D"), UInt8(ascii: "E"), UInt8(ascii: "M"), UInt8(ascii: "#"): moved()
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"):
      let isInitial = sequence.final == UInt8(ascii: "B") || sequence.bytes.count > 8
      modes.charsets[sequence.introducer] = isInitial ? nil : sequence.bytes
    case _: break
    }
  }

  /// RIS: the cursor is in the first cell of an empty screen.
  private mutating func resetAll() {
    modes = TerminalSettings()
    (savedModes, candidate) = ([:], nil)
    (savedAt.main, savedAt.alternate, clearings.alternate) = (nil, nil, nil)
    clearings.main = Clearing(offset: sequenceStart, modes: modes)
  }

  /// What is longer sets nothing that matters here.
  private static let longest = 128

  private mutating func applyCSI(_ sequence: ControlSequence) {
    guard sequence.bytes.count <= Self.longest else { return moved() }
    let numbers = sequence.numbers
    switch (sequence.marker, sequence.intermediate) {
    case (0, 0): applyPlain(sequence, numbers)
    case (UInt8(ascii: "?"), 0): applyPrivate(sequence.final, numbers)
    case (UInt8(ascii: ">"), 0): applyKeys(sequence, numbers)
    case (UInt8(ascii: "<"), 0) where sequence.final == UInt8(ascii: "u"):
      modes.keyboard[isAlternate: modes.isAlternate].pop(Self.first(numbers) ?? 1)
    case (UInt8(ascii: "="), 0) where sequence.final == UInt8(ascii: "u"):
      let mode = numbers.count > 1 ? numbers[1] ?? 1 : 1
      modes.keyboard[isAlternate: modes.isAlternate].set(Self.first(numbers) ?? 0, mode: mode)
    case (0, UInt8(ascii: " ")) where sequence.final == UInt8(ascii: "q"):
      modes.cursorShape = min(Self.first(numbers) ?? 0, 99)
    case (0, UInt8(ascii: "!")) where sequence.final == UInt8(ascii: "p"):
      modes.softReset()
      moved()
    case _: break
    }
  }

  private static func first(_ numbers: [Int?]) -> Int? { numbers.first ?? nil }

  private mutating func applyPlain(_ sequence: ControlSequence, _ numbers: [Int?]) {
    let first = Self.first(numbers)
    switch sequence.final {
    case UInt8(ascii: "m"): applyRendition(sequence, numbers)
    case UInt8(ascii: "H"), UInt8(ascii: "f"):
      place(row: first ?? 1, column: (numbers.count > 1 ? numbers[1] : nil) ?? 1)
    case UInt8(ascii: "J"):
      // CSI 3 J clears what has left the screen.
      if first == 2 || ((first ?? 0) == 0 && modes.cursor == .home) { clear() }
    case UInt8(ascii: "c"): identityQueries += 1
    case UInt8(ascii: "h"), UInt8(ascii: "l"):
      for case let mode? in numbers where [2, 4, 20].contains(mode) {
        if sequence.final == UInt8(ascii: "h") {
          modes.ansi.insert(mode)
        } else {
          modes.ansi.remove(mode)
        }
      }
    case UInt8(ascii: "r"):
      modes.region = Self.span(numbers)
      goHome()
    case UInt8(ascii: "s"):
      guard modes.privates[69] == true else { return saveCursor() }
      modes.margins = Self.span(numbers)
      goHome()
    case UInt8(ascii: "u"): restoreCursor()
    case UInt8(ascii: "g"): modes.hasOwnTabStops = true
    // Erasing, scrolling, reports: the cursor stays.
    case UInt8(ascii: "K"), UInt8(ascii: "X"), UInt8(ascii: "P"), UInt8(ascii: "@"),
      UInt8(ascii: "S"), UInt8(ascii: "T"), UInt8(ascii: "n"), UInt8(ascii: "q"),
      UInt8(ascii: "t"), UInt8(ascii: "i"), UInt8(ascii: "x"):
      break
    case _: moved()
    }
  }

  /// First and last row or column; none for those of the whole screen.
  private static func span(_ numbers: [Int?]) -> [Int?] {
    let given = numbers.prefix(2)
    let isWhole = (given.first.flatMap(\.self) ?? 0) <= 1 && (given.dropFirst().first ?? nil) == nil
    return isWhole ? [] : Array(given)
  }

  private mutating func applyPrivate(_ final: UInt8, _ numbers: [Int?]) {
    for case let number? in numbers {
      switch final {
      case UInt8(ascii: "h"): setPrivate(number, true)
      case UInt8(ascii: "l"): setPrivate(number, false)
      case UInt8(ascii: "s"): if savedModes.count < 64 { savedModes[number] = value(of: number) }
      case UInt8(ascii: "r"): if let value = savedModes[number] { setPrivate(number, value) }
      case _: return
      }
    }
  }

  private func value(of number: Int) -> Bool? {
    if [47, 1047, 1049].contains(number) { return modes.isAlternate }
    guard let mode = PrivateModes.all.first(where: { $0.number == number }) else { return nil }
    return modes.privates[number] ?? mode.initial
  }

  mutating func setPrivate(_ number: Int, _ isOn: Bool) {
    switch number {
    case 47, 1047, 1049: if isOn { enterAlternate(number) } else { leaveAlternate(number) }
    case 1048: if isOn { saveCursor() } else { restoreCursor() }
    case 66: modes.hasKeypad = isOn
    case 3: moved()
    case _:
      modes.privates.set(number, isOn)
      if number == 6 { goHome() }
      if number == 69, !isOn { modes.margins = [] }
    }
  }

  private mutating func enterAlternate(_ number: Int) {
    guard !modes.isAlternate else { return }
    // The modes before the switch: the sequence itself is part of a replay.
    let before = modes
    if number == 1049 { saveCursor() }
    modes.alternate = number
    clearings.alternate = nil
    moved()
    // Its cells are empty, unless it was left by mode 47.
    if number != 47 { candidate = Clearing(offset: sequenceStart, modes: before) }
  }

  private mutating func leaveAlternate(_ number: Int) {
    let wasAlternate = modes.isAlternate
    modes.alternate = nil
    clearings.alternate = nil
    moved()
    if number == 1049, wasAlternate { restoreCursor() }
  }

  private mutating func saveCursor() {
    modes.saveCursor(isAlternate: modes.isAlternate)
    savedAt[isAlternate: modes.isAlternate] = sequenceStart
  }

  /// Where it goes is known to a replay that saw it being saved only.
  private mutating func restoreCursor() {
    let isAlternate = modes.isAlternate
    moved()
    modes.restoreCursor(isAlternate: isAlternate)
    if let saved = savedAt[isAlternate: isAlternate] {
      modes.cursor = .unknown
      if let clearing = clearings[isAlternate: isAlternate], saved < clearing.offset {
        clearings[isAlternate: isAlternate] = nil
      }
    }
  }

  mutating func place(row: Int, column: Int) {
    let (row, column) = (max(row, 1), max(column, 1))
    modes.cursor = row == 1 && column == 1 ? .home : .at(row: row, column: column)
    if let candidate { settle(candidate) }
    candidate = nil
  }

  /// As new margins do.
  private mutating func goHome() {
    candidate = nil
    modes.cursor = .home
  }

  private mutating func clear() {
    let clearing = Clearing(offset: sequenceStart, modes: modes)
    if modes.cursor == .unknown { candidate = candidate ?? clearing } else { settle(clearing) }
  }

  /// Own tab stops are not restored.
  private mutating func settle(_ clearing: Clearing) {
    guard !modes.hasOwnTabStops else { return }
    clearings[isAlternate: modes.isAlternate] = clearing
  }

  private mutating func applyKeys(_ sequence: ControlSequence, _ numbers: [Int?]) {
    switch sequence.final {
    case UInt8(ascii: "u"):
      modes.keyboard[isAlternate: modes.isAlternate].push(Self.first(numbers) ?? 0)
    // XTMODKEYS and XTFMTKEYS; without a value, and without a resource, it is as it was.
    case UInt8(ascii: "m"), UInt8(ascii: "f"):
      guard let resource = Self.first(numbers) else {
        modes.keys[sequence.final] = nil
        return
      }
      guard resource < 16, sequence.bytes.count <= 16 else { return }
      let hasValue = numbers.count > 1 && numbers[1] != nil
      modes.keys[sequence.final, default: [:]][resource] = hasValue ? sequence.bytes : nil
      if modes.keys[sequence.final]?.isEmpty == true { modes.keys[sequence.final] = nil }
    // A resource is switched off.
    case UInt8(ascii: "n"):
      guard let resource = Self.first(numbers), resource < 16, sequence.bytes.count <= 16 else {
        return
      }
      modes.keys[UInt8(ascii: "m"), default: [:]][resource] = sequence.bytes
    case _: break
    }
  }

  static let renditionLimit = 256
  private static let sequenceLimit = 64

  private mutating func applyRendition(_ sequence: ControlSequence, _ numbers: [Int?]) {
    let first = Self.first(numbers) ?? 0
    if first == 0 { modes.rendition = [] }
    guard numbers.count > 1 || first != 0 else { return }
    modes.rendition += sequence.bytes
    if modes.rendition.count > Self.renditionLimit {
      modes.rendition = sequence.bytes.count <= Self.sequenceLimit ? sequence.bytes : []
    }
  }

  private static let titleLimit = 256
  private static let colorLimit = 40

  private mutating func applyOSC(_ sequence: ControlSequence) {
    guard let (number, rest) = sequence.command, !sequence.isQuery else { return }
    let bytes = sequence.terminated
    switch number {
    case 0, 2: if bytes.count <= Self.titleLimit { modes.title = bytes }
    case 4: modes.hasPalette = true
    case 104: modes.hasPalette = false
    case 8: modes.hasHyperlink = !rest.elementsEqual(";".utf8) && rest.last != UInt8(ascii: ";")
    case 9 where rest.starts(with: "4;".utf8):
      modes.hasProgress = !rest.dropFirst(2).starts(with: "0".utf8)
    case 10...19: modes.colors[number] = bytes.count <= Self.colorLimit ? bytes : []
    case 110...119: modes.colors[number - 100] = nil
    case _: break
    }
  }
}
