import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// All that is said beside the remote output: for a person on standard error, or as JSON lines.
///
/// Anything may be said from anywhere; lines come out in the order they were said.
final class Reporter: Sendable {
  /// How standard error is used.
  struct Style: Sendable {
    /// Standard error is JSON lines only.
    var isJSON = false
    /// Standard error is a terminal, for words.
    var isTerminal = false
    /// Standard output is one too.
    var sharesTerminal = false
    /// Whether the terminal can erase what it shows: progress, and a banner.
    var showsProgress = false
    /// Colors are wanted and shown.
    var usesColor = false
    /// How much is said.
    var loudness = ConnectRequest.Loudness.normal
    /// The host as the user typed it, with the options that lead there, for a command to copy.
    var target = "HOST"
    /// Whether the run is one of ssh(1): our own words are for `-v`, but for the last ones, which
    /// are ssh's.
    var isSSH = false
    /// Who logs in where, once that is known.
    var login: SSHWords.Login?
  }

  private struct State {
    var style: Style
    var isProgressShown = false
    var overlay = Overlay()
    /// Questions that wait on the terminal for an answer.
    var questions = 0
    var utf8 = PartialText()
    /// The remote standard error ends in the middle of a line.
    var isLineOpen = false
    /// What is to be written to the terminal before a text.
    var prelude: TextPrelude?
    /// The terminal that is shared with a program.
    var screen: OutputScreen?
  }

  private let state: Mutex<State>
  private let standardError: DescriptorWriter
  /// What bridgectl says itself: standard error, or the file of `-E`.
  private let words: DescriptorWriter
  /// The outputs of events: standard error, a descriptor of their own, both or nowhere.
  private let lines: [EventLines]
  private static let erase = "\r\u{1B}[K"

  /// A reporter that writes events also to `eventsDescriptor`, and its own words to
  /// `logDescriptor` where there is one.
  init(_ style: Style, eventsDescriptor: Int32? = nil, logDescriptor: Int32? = nil) {
    var style = style
    standardError = DescriptorWriter(2)
    words = logDescriptor.map { DescriptorWriter($0) } ?? standardError
    if logDescriptor != nil {
      style.isTerminal = false
      style.sharesTerminal = false
      style.showsProgress = false
      style.usesColor = false
    }
    state = Mutex(State(style: style))
    lines =
      (style.isJSON ? [EventLines(words)] : [])
      + (eventsDescriptor.map { [EventLines(descriptor: $0)] } ?? [])
  }

  /// Has `prelude` write to the terminal before each text: the cursor may be anywhere after that.
  func precede(with prelude: TextPrelude) {
    state.withLock { $0.prelude = prelude }
  }

  /// Has lines drawn on a terminal that a program writes to.
  func draw(on screen: OutputScreen?) { state.withLock { $0.screen = screen } }

  /// Another program has written to the terminal: nothing of what was shown is there.
  func forgetScreen() {
    let (prelude, screen) = state.withLock { ($0.prelude, $0.screen) }
    prelude?.forget()
    screen?.overwrite()
  }

  /// Writes what goes before a text: something else is written to the terminal next.
  func interrupt() {
    // Not under the lock: it may wait for who writes beside this.
    guard let prelude = state.withLock(\.prelude) else { return }
    let bytes = prelude.bytes()
    if !bytes.isEmpty { standardError.post(bytes, isUnbounded: true) }
  }

  /// The current style.
  var style: Style { state.withLock { $0.style } }

  /// From here on what is typed shows on the terminal, and nothing is drawn over it.
  func makeSpaceForTyping() {
    state.withLock { if $0.style.showsProgress { $0.overlay = Overlay(cursor: .typing) } }
  }

  /// Says more or less from here on.
  func set(_ loudness: ConnectRequest.Loudness) {
    state.withLock { $0.style.loudness = loudness }
  }

  /// Who logs in where.
  func set(login: SSHWords.Login) { state.withLock { $0.style.login = login } }

  /// A line for a person; nothing with `-q`.
  func log(_ text: String) {
    if style.isSSH, text.hasPrefix("bridgectl: ") { return detail(text) }
    say(text, unless: .quiet)
  }

  /// What a host tells its users before they log in; as with ssh(1), there on standard error also
  /// where words go elsewhere.
  func notice(_ lines: [String]) {
    guard style.isSSH else { return lines.forEach { log($0) } }
    if style.loudness != .quiet { standardError.post(lines.map { $0 + "\n" }.joined()) }
  }

  /// A line for a person who asked for more (`-v`).
  func detail(_ text: String) {
    if style.loudness == .verbose { say(text, unless: .quiet) }
  }

  /// Something that does not stop the work.
  func warn(_ text: String) {
    event(.warning(message: text))
    let words = style.isSSH ? "ssh: \(text)" : "bridgectl: warning: \(text)"
    if style.loudness != .errors { say(words, unless: .quiet) }
  }

  /// Shows the current step in one line that the next one replaces; nil erases it. A line that
  /// wraps would stay.
  func progress(_ text: String?) {
    let width = (TerminalSize(of: standardError.descriptor) ?? TerminalSize()).columns
    state.withLock { state in
      guard !state.style.isJSON, state.style.showsProgress, state.style.loudness != .quiet else {
        return
      }
      guard state.questions == 0 else { return }
      if let text {
        standardError.post(Self.erase + TerminalText.clipped(text, to: max(1, width - 1)))
      } else if state.isProgressShown {
        standardError.post(Self.erase)
      }
      state.isProgressShown = text != nil
    }
  }

  /// Lines under the cursor, or at the bottom of a program's screen, that the next ones replace;
  /// none take them away. Only on a terminal.
  func overlay(_ lines: [String]) {
    let size = TerminalSize(of: standardError.descriptor) ?? TerminalSize()
    state.withLock { state in
      guard !state.style.isJSON, state.style.showsProgress, state.questions == 0 else { return }
      // What was handed over comes first, and then they: on a terminal that takes nothing, later.
      let mayDraw = state.screen?.isWriting != true && !standardError.isBehind
      guard lines.isEmpty || mayDraw else { return }
      let text = state.overlay.draw(lines, on: size) { state.screen?.cells }
      guard !text.isEmpty else { return }
      state.screen?.makeSpace(state.overlay.height)
      standardError.post(text, isUnbounded: true)
    }
  }

  /// To be called before remote output is written: on a terminal that both share, all that was said
  /// comes before it, and no banner stands where it goes.
  ///
  /// - Parameter isUpdate: whether a banner is drawn again behind it. A terminal that can shows
  ///   nothing between (mode 2026), until `endUpdate`.
  /// - Returns: whether that has begun.
  @discardableResult
  func makeWay(isUpdate: Bool = false) async -> Bool {
    let (isNeeded, hasBegun) = state.withLock { state in
      guard state.style.sharesTerminal else { return (false, false) }
      let hasBegun = isUpdate && state.overlay.isShown
      if state.overlay.isShown || state.isProgressShown {
        let erased = state.isProgressShown ? Self.erase : ""
        let begin = hasBegun ? "\u{1B}[?2026h" : ""
        let cleared = Array(begin.utf8) + state.overlay.clear() + erased.utf8
        standardError.post(cleared, isUnbounded: true)
        state.isProgressShown = false
      }
      return (standardError.hasPosts, hasBegun)
    }
    if isNeeded { await standardError.drain() }
    return hasBegun
  }

  /// Ends what `makeWay` has begun.
  func endUpdate() { standardError.post("\u{1B}[?2026l", isUnbounded: true) }

  /// A question is about to be asked on the terminal; until its end nothing is drawn over it.
  func beginQuestion() async {
    progress(nil)
    overlay([])
    state.withLock { $0.questions += 1 }
    await drain()
  }

  /// Ends a question that was answered.
  func endQuestion() {
    state.withLock { $0.questions -= 1 }
  }

  /// Text as it is, on standard error; nothing with `--json`.
  func show(_ text: String) { show(text, onLineOfItsOwn: false) }

  /// Likewise; where `isLine`, not behind an unfinished line of the remote standard error.
  func show(_ text: String, onLineOfItsOwn isLine: Bool) {
    let size = TerminalSize(of: standardError.descriptor) ?? TerminalSize()
    interrupt()
    state.withLock { state in
      guard !state.style.isJSON else { return }
      if state.style.isTerminal { state.screen?.overwrite() }
      let erased = state.isProgressShown ? Self.erase : ""
      state.isProgressShown = false
      let isAfterError = isLine && state.isLineOpen && words === standardError
      let end = isAfterError ? (state.style.isTerminal ? "\r\n" : "\n") : ""
      if isAfterError { state.isLineOpen = false }
      words.post(Array((erased + end).utf8) + state.overlay.makeLine(on: size) + text.utf8)
    }
  }

  /// Leaves the line in which the cursor stands.
  func leaveLine() {
    // What is said next may do so by itself.
    if !state.withLock({ $0.overlay.leavesLines }) { show("\r\n") }
  }

  /// One JSON line where events go.
  func event(_ event: CommandEvent) {
    guard !lines.isEmpty else { return }
    let line = event.line
    for lines in lines { lines.post(line, isFinal: event.isFinal) }
  }

  /// One JSON line that is waited for: a slow reader holds up what it is about.
  @discardableResult
  func writtenEvent(_ event: CommandEvent) async -> DescriptorWriter.Outcome {
    let line = event.line
    var outcome = DescriptorWriter.Outcome.written
    for lines in lines { outcome = outcome.worse(await lines.write(line)) }
    return outcome
  }

  /// Writes the remote command's standard error; failed when it has no reader any more.
  @discardableResult
  func remoteError(_ bytes: [UInt8]) async -> DescriptorWriter.Outcome {
    await makeWay()
    progress(nil)
    guard style.isJSON else {
      state.withLock { $0.isLineOpen = bytes.last != UInt8(ascii: "\n") }
      return await standardError.write(bytes)
    }
    var outcome = DescriptorWriter.Outcome.written
    for start in stride(from: 0, to: bytes.count, by: Self.pieceSize) {
      let piece = bytes[start..<min(bytes.count, start + Self.pieceSize)]
      let text = state.withLock { $0.utf8.take(Array(piece)) }
      guard !text.isEmpty else { continue }
      outcome = outcome.worse(await writtenEvent(.standardError(text: text)))
      if outcome == .failed { return outcome }
    }
    return outcome
  }

  /// No more comes of the remote standard error: an event of what was not yet a whole character.
  func endRemoteError() {
    let text = state.withLock { $0.utf8.end() }
    if !text.isEmpty { event(.standardError(text: text)) }
  }

  /// So much of the remote standard error, in bytes, is one line at most: six times as long where
  /// every byte is escaped.
  private static let pieceSize = 16 << 10 - 4

  /// Waits until all is written.
  func drain() async {
    await standardError.drain()
    await words.drain()
    for lines in lines { await lines.drain() }
  }

  private func say(_ text: String, unless loudness: ConnectRequest.Loudness) {
    guard style.loudness != loudness else { return }
    show(lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }

  /// Lines of our own, each in one piece where it is no terminal that shows them.
  func show(lines: [String]) {
    guard !lines.isEmpty else { return }
    guard style.isTerminal else {
      return show(lines.map { $0 + "\n" }.joined(), onLineOfItsOwn: true)
    }
    let columns = (TerminalSize(of: standardError.descriptor) ?? TerminalSize()).columns
    // A terminal in raw mode does not return the carriage by itself.
    let wrapped = lines.flatMap { Paragraph.wrapped($0, at: columns) }.map { $0 + "\r\n" }
    show(wrapped.joined(), onLineOfItsOwn: true)
  }
}

/// Bytes that become text where a character may be cut in two by a chunk's end.
package struct PartialText: Sendable {
  private var rest: [UInt8] = []

  /// Creates an empty value.
  package init() {}

  /// The text up to the last whole character; what is not UTF-8 becomes U+FFFD.
  package mutating func take(_ bytes: [UInt8]) -> String {
    var all = rest + bytes
    rest = []
    let tail = all.suffix(3).reversed().enumerated().first { $0.element & 0xC0 != 0x80 }
    if let tail, tail.element >= 0xC0, tail.offset + 1 < Self.length(tail.element) {
      rest = Array(all.suffix(tail.offset + 1))
      all.removeLast(tail.offset + 1)
    }
    return String(decoding: all, as: UTF8.self)
  }

  /// The end: U+FFFD where a character is not complete.
  package mutating func end() -> String {
    defer { rest = [] }
    return String(decoding: rest, as: UTF8.self)
  }

  private static func length(_ lead: UInt8) -> Int {
    if lead >= 0xF0 { return 4 }
    return lead >= 0xE0 ? 3 : 2
  }
}
