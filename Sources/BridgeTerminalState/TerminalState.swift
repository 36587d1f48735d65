/// The state of a terminal that output has set: what brings a fresh terminal into it (`restore`),
/// and what gives a user's terminal back as it was (`reset`). Of the screens it knows where they
/// were cleared, and not their cells.
public struct TerminalState: Sendable {
  /// A place in output from which a screen can be drawn.
  public struct Mark: Sendable, Equatable {
    /// The offset of its first byte.
    public var offset: UInt64
    /// `restore` there.
    public var restore: [UInt8]
  }

  /// A clearing of a screen, and the state that was held there.
  struct Clearing: Sendable, Equatable {
    var offset: UInt64
    var modes: TerminalSettings
  }

  private(set) var scanner = SequenceScanner()
  var modes = TerminalSettings()
  /// XTSAVE: the value of a private mode.
  var savedModes: [Int: Bool] = [:]
  /// The output offset of the next byte.
  private var offset: UInt64
  /// Where the newest sequence began.
  var sequenceStart: UInt64
  var clearings = TerminalSettings.Pair<Clearing?>(main: nil, alternate: nil)
  /// A clearing with the cursor anywhere: of use where the cursor is placed before anything else.
  var candidate: Clearing?
  /// Where the cursor of each screen was saved last.
  var savedAt = TerminalSettings.Pair<UInt64?>(main: nil, alternate: nil)
  /// How often output queried the terminal's attributes (DA1): some programs wait for the answer.
  public internal(set) var identityQueries = 0

  /// A terminal in its initial state before the byte at `offset`.
  public init(offset: UInt64 = 0) {
    self.offset = offset
    sequenceStart = offset
  }

  /// A terminal that was brought into a state by `restore` or `checkpoint` of another.
  public init(restoring bytes: [UInt8], offset: UInt64) {
    self.init(offset: 0)
    track(bytes)
    self.offset = offset
    sequenceStart = offset
    (clearings.main, clearings.alternate, candidate) = (nil, nil, nil)
    // Where it was put, and what was saved before, is not known.
    (savedAt.main, savedAt.alternate) = (0, 0)
    if modes.cursor == .home { modes.cursor = .unknown }
    identityQueries = 0
  }

  /// Whether a program has the alternate screen.
  public var isAlternateScreen: Bool { modes.isAlternate }

  /// Whether a program has the whole screen to itself: the alternate one, or without a cursor, as
  /// `top` does.
  public var isFullScreen: Bool { modes.isAlternate || modes.privates[25] == false }

  /// Whether no sequence is under way: a replay may begin here.
  public var isAtBoundary: Bool { scanner.isGround }

  /// Sequences that bring a terminal in its initial state into this one.
  public var restore: [UInt8] { modes.restore }

  /// Sequences that give a user's terminal back as it was before this output; empty where nothing
  /// is to be given back. A sequence that has not ended is broken off.
  public var reset: [UInt8] {
    let reset = modes.reset
    // CAN. In the middle of a string nothing else is seen, and in one of DCS tmux sees only ST.
    return isAtBoundary ? reset : [0x18, 0x1B, 0x5C] + reset
  }

  /// `restore` with the bytes of a sequence that has not ended: a terminal that takes them in, and
  /// then the output that follows here, is in the same state.
  public var checkpoint: [UInt8] { modes.restore + scanner.prefix }

  /// Where the screen in use was cleared last with all that was held there known; nil where that is
  /// not known.
  public var cleared: Mark? { mark(clearings[isAlternate: modes.isAlternate]) }

  /// The same of the main screen, also while the alternate one is in use.
  public var mainCleared: Mark? { mark(clearings.main) }

  private func mark(_ clearing: Clearing?) -> Mark? {
    clearing.map { Mark(offset: $0.offset, restore: $0.modes.restore) }
  }

  /// Takes output in.
  public mutating func track(_ bytes: [UInt8]) { track(bytes[...]) }

  /// Takes output in.
  public mutating func track(_ bytes: ArraySlice<UInt8>) {
    var position = bytes.startIndex
    while position < bytes.endIndex {
      if scanner.isGround {
        position = trackCommon(bytes, from: position)
      } else if let token = scanner.next(in: bytes, at: &position) {
        apply(token, end: offset + UInt64(position - bytes.startIndex))
      }
    }
    offset += UInt64(bytes.count)
  }

  /// Text, controls that move the cursor only, and common sequences: most of all output. Returns
  /// the index of the first byte that is none of these, or follows the ESC of another sequence.
  private mutating func trackCommon(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.endIndex {
      let end = bytes.firstControl(from: index)
      if end > index { moved() }
      guard end < bytes.endIndex else { return end }
      let place = offset + UInt64(end - bytes.startIndex)
      index = end + 1
      if bytes[end] != 0x1B {
        shift(bytes[end])
      } else if let next = takeShort(bytes, at: end, offset: place) {
        index = next
      } else {
        scanner.begin()
        break
      }
    }
    return index
  }

  private mutating func apply(_ token: SequenceScanner.Token, end: UInt64) {
    switch token {
    case .control(let byte): if byte == 0x0E || byte == 0x0F { shift(byte) } else { moved() }
    case .sequence(let sequence):
      let length = UInt64(sequence.bytes.count)
      sequenceStart = end >= length ? end - length : 0
      apply(sequence)
    case .text, .start, .rest, .end, .broken: moved()
    }
  }

  private mutating func shift(_ byte: UInt8) { modes.shift = byte == 0x0E ? byte : 0 }

  /// The cursor has moved, or may have.
  mutating func moved() {
    if modes.cursor != .unknown { modes.cursor = .unknown }
    if candidate != nil { candidate = nil }
  }
}
