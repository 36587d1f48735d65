import BridgeSessionProtocol
import BridgeTerminalState

/// What the terminal of a session shows at an offset. What was printed since is in the journal, and
/// taken in when it is asked for: no emulator runs while output flows.
struct ScreenCheckpoint {
  /// All output below is in the screen.
  private(set) var offset: UInt64 = 0
  private var screen: TerminalScreen
  /// New sizes that output behind `offset` was printed for.
  private var sizes = TerminalSizes(limit: 1024)
  /// The newest size.
  private(set) var size: WindowSize
  /// Whether it had another size before.
  private(set) var wasResized = false
  /// False where output was lost before it was taken in.
  private(set) var isExact = true

  /// Lines above the screen.
  static let history = 100
  /// Lines above the screen are written as far as the whole is no longer.
  static let usualLength = 16 << 10
  /// What else a welcome has needs the rest.
  static let longest = Int(Limits.handshake) - (4 << 10)

  init(_ size: WindowSize) {
    self.size = size
    screen = TerminalScreen(
      rows: Int(size.rows), columns: Int(size.columns), history: Self.history)
  }

  /// The terminal has another size from `offset` on.
  mutating func resize(to size: WindowSize, at offset: UInt64) {
    guard size.rows != self.size.rows || size.columns != self.size.columns else { return }
    self.size = size
    wasResized = true
    sizes.append(size, at: offset)
  }

  /// Takes in what was printed below `end`.
  mutating func advance(to end: UInt64, in journal: Journal) {
    while offset < end, isExact {
      let limit = min(end, sizes.next.map { max($0, offset) } ?? end)
      if limit > offset {
        switch journal.piece(from: offset, to: limit, framed: false) {
        case .bytes(let bytes, let through) where through > offset:
          screen.track(bytes)
          offset = through
        case .bytes, .missing: isExact = false
        }
      }
      applySize()
    }
    applySize()
  }

  private mutating func applySize() {
    guard let size = sizes.take(at: offset) else { return }
    screen.resize(rows: Int(size.rows), columns: Int(size.columns))
  }

  /// The sequences that bring a new terminal to what is shown at `offset`, in a size that it will
  /// have; nil where they would be too long.
  func render(for size: WindowSize?, history: Int = Self.history) -> [UInt8]? {
    var shown = screen
    if let size { shown.resize(rows: Int(size.rows), columns: Int(size.columns)) }
    var lines = history
    while true {
      let bytes = shown.render(history: lines)
      if bytes.count <= Self.usualLength { return bytes }
      if lines == 0 { return bytes.count <= Self.longest ? bytes : nil }
      lines /= 2
    }
  }
}
