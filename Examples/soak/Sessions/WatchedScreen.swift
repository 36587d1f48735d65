import BridgeSession
import BridgeSessionProtocol
import BridgeTerminalState

/// The screen of a session as a client has it, which may be sent it in place of output, beside that
/// of a terminal that saw every byte, and a smaller terminal with a window on it.
struct WatchedScreen: Sendable {
  /// The size of the program's terminal.
  static let (rows, columns) = (24, 80)
  private static let phone = TerminalScreen(rows: 20, columns: 45)

  private let output: SeededBytes
  private var shown = Self.blank
  private var whole = Self.blank
  private var window = ScreenWindow(rows: Self.phone.rows, columns: Self.phone.columns)
  private var phone = Self.phone
  /// The bytes that `whole` has seen.
  private(set) var position = 0
  /// How often a screen came in place of output.
  private(set) var skips = 0

  private static var blank: TerminalScreen { TerminalScreen(rows: rows, columns: columns) }

  init(_ output: SeededBytes) { self.output = output }

  /// Takes over what came; the screens are compared where one was sent.
  /// - Returns: what is wrong.
  mutating func take(_ chunk: SessionChunk) -> String? {
    switch chunk.content {
    case .bytes(let bytes, _): shown.track(bytes)
    case .screen(let drawing, live: _):
      guard !drawing.isEmpty else { return nil }
      draw(drawing)
    case .omitted(to: _, screen: let drawing):
      skips += 1
      draw(drawing)
    case .size(let size):
      let isRight = (Int(size.rows), Int(size.columns)) == (Self.rows, Self.columns)
      return isRight ? nil : "the size of the terminal is \(size)"
    case .gap: return "a gap at \(chunk.offset) to \(chunk.end)"
    }
    whole.track(output.bytes(position..<Int(chunk.end)))
    position = Int(chunk.end)
    phone.track(window.paint(shown))
    if case .bytes = chunk.content { return nil }
    return difference
  }

  /// What differs; nil where nothing does.
  var difference: String? {
    guard shown == whole else { return "another screen at \(position)" }
    var (anew, terminal) = (window, Self.phone)
    anew.invalidate()
    terminal.track(anew.paint(shown))
    return terminal == phone ? nil : "another window on the screen at \(position)"
  }

  private mutating func draw(_ drawing: [UInt8]) {
    shown = Self.blank
    shown.track(drawing)
  }
}
