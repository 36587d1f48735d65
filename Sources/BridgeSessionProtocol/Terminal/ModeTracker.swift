/// The modes of a terminal that output has set: enough to begin a replay in the state it needs, and
/// no terminal emulator.
public struct ModeTracker: Sendable {
  private var scanner = SequenceScanner()
  private var modes = Modes()
  /// The output offset of the next byte.
  private var offset: UInt64
  /// Where the last sequence began.
  private var sequenceStart: UInt64

  private struct Modes: Sendable, Equatable {
    /// DEC private modes that differ from a terminal's defaults.
    var changed: [Int: Bool] = [:]
    var insert = false
    var keypad = false
    var scrollRegion: [UInt8] = []
    var cursorShape: [UInt8] = []
    var modifyKeys: [UInt8] = []
    /// Designated character sets, by the byte that names the slot.
    var charsets: [UInt8: [UInt8]] = [:]
    var isShifted = false
    var title: [UInt8] = []
    /// What the last reset of the rendition was followed by.
    var rendition: [UInt8] = []
  }

  /// Where the screen was cleared last, and the modes there.
  public private(set) var cleared: ReplayPoint?

  /// A terminal in its initial state before the byte at `offset`.
  public init(offset: UInt64 = 0) {
    self.offset = offset
    sequenceStart = offset
  }

  /// A terminal that was brought into a state by `restore` or `checkpoint` of another tracker.
  public init(restoring bytes: [UInt8], offset: UInt64) {
    self.init(offset: 0)
    track(bytes)
    self.offset = offset
    sequenceStart = offset
    cleared = nil
  }

  /// Modes of DEC private mode sequences that matter: cursor keys, colors reversed, origin, wrap,
  /// cursor, keypad, mouse, focus, alternate screen, bracketed paste.
  private static let tracked: Set = [
    1, 5, 6, 7, 9, 12, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1047,
    1049, 2004,
  ]
  /// Modes that are on in the initial state.
  private static let initiallyOn: Set = [7, 25]
  private static let alternateScreens: Set = [47, 1047, 1049]
  private static let titleLimit = 256
  private static let renditionLimit = 256
  private static let sequenceLimit = 64

  /// A sequence that sets one mode is short; what is not is left out of a replay.
  private static func kept(_ sequence: ControlSequence) -> [UInt8] {
    sequence.bytes.count <= sequenceLimit ? sequence.bytes : []
  }

  /// True while a full-screen program has the alternate screen.
  public var isAlternateScreen: Bool {
    Self.alternateScreens.contains { modes.changed[$0] == true }
  }

  /// True between sequences: a replay may begin here.
  public var isAtBoundary: Bool { scanner.isGround }

  /// `restore` with the bytes of a sequence that has not ended: a tracker that takes them in, and
  /// then the output that follows here, is in the same state.
  public var checkpoint: [UInt8] { restore + scanner.unfinished }

  /// How often output queried the terminal's attributes (DA1): some programs wait for the answer.
  public private(set) var identityQueries = 0

  /// Takes output in.
  public mutating func track(_ bytes: [UInt8]) {
    let base = offset
    var scanner = scanner
    scanner.scan(bytes[...]) { token, position in
      let end = base + UInt64(position)
      switch token {
      case .text, .broken: break
      case .control(let byte):
        if byte == 0x0E { modes.isShifted = true }
        if byte == 0x0F { modes.isShifted = false }
      case .sequence(let sequence):
        let length = UInt64(sequence.bytes.count)
        sequenceStart = end >= length ? end - length : 0
        apply(sequence)
      }
    }
    self.scanner = scanner
    offset = base + UInt64(bytes.count)
  }

  /// Escape sequences that bring a terminal in its initial state into this one.
  public var restore: [UInt8] {
    var bytes: [UInt8] = []
    // The screen first: switching saves the cursor and clears.
    for mode in modes.changed.keys.sorted(by: Self.screensFirst) {
      bytes += Array("\u{1B}[?\(mode)\(modes.changed[mode] == true ? "h" : "l")".utf8)
    }
    bytes += modes.scrollRegion
    for slot in modes.charsets.keys.sorted() { bytes += modes.charsets[slot] ?? [] }
    if modes.isShifted { bytes.append(0x0E) }
    if modes.insert { bytes += Array("\u{1B}[4h".utf8) }
    if modes.keypad { bytes += Array("\u{1B}=".utf8) }
    bytes += modes.cursorShape + modes.modifyKeys + modes.title + modes.rendition
    return bytes
  }

  private static func screensFirst(_ left: Int, _ right: Int) -> Bool {
    let (first, second) = (alternateScreens.contains(left), alternateScreens.contains(right))
    return first == second ? left < right : first
  }

  private mutating func apply(_ sequence: ControlSequence) {
    if sequence.isCSI { return applyCSI(sequence) }
    if sequence.isOSC { return applyTitle(sequence) }
    switch sequence.introducer {
    case UInt8(ascii: "c"):
      modes = Modes()
      markCleared()
    case UInt8(ascii: "="): modes.keypad = true
    case UInt8(ascii: ">"): modes.keypad = false
    case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"):
      let isASCII = sequence.final == UInt8(ascii: "B")
      modes.charsets[sequence.introducer] = isASCII ? nil : Self.kept(sequence)
    case _: break
    }
  }

  private mutating func applyCSI(_ sequence: ControlSequence) {
    switch (sequence.marker, sequence.intermediate, sequence.final) {
    case (0, 0, UInt8(ascii: "c")): identityQueries += 1
    case (UInt8(ascii: "?"), 0, UInt8(ascii: "h")): setPrivate(sequence, true)
    case (UInt8(ascii: "?"), 0, UInt8(ascii: "l")): setPrivate(sequence, false)
    case (0, 0, UInt8(ascii: "h")): if sequence.numbers.contains(4) { modes.insert = true }
    case (0, 0, UInt8(ascii: "l")): if sequence.numbers.contains(4) { modes.insert = false }
    case (0, 0, UInt8(ascii: "r")):
      modes.scrollRegion = sequence.numbers.compactMap { $0 }.isEmpty ? [] : Self.kept(sequence)
    case (0, UInt8(ascii: " "), UInt8(ascii: "q")): modes.cursorShape = Self.kept(sequence)
    case (UInt8(ascii: ">"), 0, UInt8(ascii: "m")): modes.modifyKeys = Self.kept(sequence)
    case (0, UInt8(ascii: "!"), UInt8(ascii: "p")): softReset()
    case (0, 0, UInt8(ascii: "m")): applyRendition(sequence)
    case (0, 0, UInt8(ascii: "J")):
      if [2, 3].contains((sequence.numbers.first ?? nil) ?? 0) { markCleared() }
    case _: break
    }
  }

  private mutating func setPrivate(_ sequence: ControlSequence, _ isOn: Bool) {
    for case let mode? in sequence.numbers where Self.tracked.contains(mode) {
      // The modes before the switch: the sequence itself is part of the replay.
      if isOn, Self.alternateScreens.contains(mode), !isAlternateScreen { markCleared() }
      modes.changed[mode] = isOn == Self.initiallyOn.contains(mode) ? nil : isOn
    }
  }

  /// DECSTR: what xterm resets of the modes kept here.
  private mutating func softReset() {
    for mode in [1, 6, 25, 66] { modes.changed[mode] = nil }
    modes.insert = false
    modes.keypad = false
    modes.scrollRegion = []
    modes.charsets = [:]
    modes.isShifted = false
    modes.rendition = []
  }

  private mutating func applyRendition(_ sequence: ControlSequence) {
    let first = sequence.numbers.first ?? nil
    if first == nil || first == 0 { modes.rendition = [] }
    let isPlainReset = sequence.numbers.count <= 1 && (first == nil || first == 0)
    guard !isPlainReset else { return }
    modes.rendition += sequence.bytes
    if modes.rendition.count > Self.renditionLimit { modes.rendition = Self.kept(sequence) }
  }

  private mutating func applyTitle(_ sequence: ControlSequence) {
    let content = sequence.content
    let isTitle = content.starts(with: "0;".utf8) || content.starts(with: "2;".utf8)
    guard isTitle, sequence.bytes.count <= Self.titleLimit else { return }
    modes.title = sequence.bytes
  }

  private mutating func markCleared() {
    cleared = ReplayPoint(offset: sequenceStart, modes: restore)
  }
}
