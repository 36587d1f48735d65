/// Takes out of output that was printed before what a terminal would answer now: an answer to an
/// old question would be typed into the program that reads now.
///
/// For output below the live mark (`newest` of the welcome) only.
public struct MuteFilter: Sendable {
  /// For whom output is old.
  public enum Audience: Sendable {
    /// A new client: the bell and notifications are old as well.
    case replay
    /// One that goes on after an outage: what was to be heard is heard.
    case resumption
  }

  private let audience: Audience
  private var scanner: SequenceScanner
  /// How many bytes of the sequence under way the terminal has already.
  private var shown: Int
  /// What follows of a long string is taken out, too.
  private var dropsRest = false
  /// Modes whose setting makes a terminal report at once: set at the live mark.
  private var reporting: Set<Int> = []
  private static let reports: Set = [1004, 2031, 2048]

  /// A filter at the start of old output, which follows what has brought a terminal into `state`.
  public init(_ audience: Audience = .replay, after state: TerminalState = TerminalState()) {
    self.audience = audience
    scanner = state.scanner
    shown = scanner.unfinished.count
  }

  /// The bytes to show. A sequence that has not ended is held back.
  public mutating func filter(_ bytes: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    var position = 0
    while let token = scanner.next(in: bytes[...], at: &position) {
      switch token {
      case .text(let text): output += text
      case .control(let byte): if !isMuted(byte) { output.append(byte) }
      case .sequence(let sequence): output += take(sequence)
      case .start(let start):
        // One with parameters may end as a query; it has no other meaning.
        dropsRest = start.isCSI || isMuted(start)
        output += dropsRest ? drop() : take(start)
      case .rest(let rest): if !dropsRest { output += rest }
      case .end(let end):
        if !dropsRest { output += end.dropFirst(min(shown, end.count)) }
        (shown, dropsRest) = (0, false)
      case .broken(let bytes):
        output += bytes.dropFirst(min(shown, bytes.count))
        shown = 0
      }
    }
    return output
  }

  /// What is held back, at the live mark: the rest of the sequence follows in live output.
  public mutating func finish() -> [UInt8] {
    // The rest of what is taken out is no text.
    let held = dropsRest ? scanner.prefix : Array(scanner.unfinished.dropFirst(shown))
    defer { (scanner, shown, reporting, dropsRest) = (SequenceScanner(), 0, [], false) }
    return reporting.sorted().flatMap { Array("\u{1B}[?\($0)h".utf8) } + held
  }

  private func isMuted(_ control: UInt8) -> Bool {
    // ENQ is answered. In the middle of a sequence that is shown they act as they always do.
    control == 0x05 || (control == 0x07 && audience == .replay)
  }

  private func isMuted(_ sequence: ControlSequence) -> Bool {
    sequence.isQuery || (audience == .replay && sequence.isNotification)
  }

  /// Takes a sequence out: CAN takes back what the terminal has of it.
  private func drop() -> [UInt8] { shown > 0 ? [0x18] : [] }

  /// What is shown of a sequence.
  private mutating func take(_ sequence: ControlSequence) -> [UInt8] {
    defer { shown = 0 }
    guard !isMuted(sequence) else { return drop() }
    guard shown == 0 else { return Array(sequence.bytes.dropFirst(shown)) }
    return setReporting(sequence) ?? sequence.quietImage ?? sequence.bytes
  }

  /// The sequence without the modes that are set later; nil for what sets no mode.
  private mutating func setReporting(_ sequence: ControlSequence) -> [UInt8]? {
    guard sequence.marker == UInt8(ascii: "?"), sequence.intermediate == 0,
      [UInt8(ascii: "h"), UInt8(ascii: "l")].contains(sequence.final)
    else {
      if sequence.introducer == UInt8(ascii: "c") { reporting = [] }
      return nil
    }
    let numbers = sequence.numbers.compactMap(\.self)
    let found = numbers.filter(Self.reports.contains)
    guard !found.isEmpty else { return nil }
    guard sequence.final == UInt8(ascii: "h") else {
      reporting.subtract(found)
      return nil
    }
    reporting.formUnion(found)
    let rest = numbers.filter { !Self.reports.contains($0) }.map(String.init)
    return rest.isEmpty ? [] : Array("\u{1B}[?\(rest.joined(separator: ";"))h".utf8)
  }
}
