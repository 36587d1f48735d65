import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// The user's keyboard for as long as shells own it, over all of them: while one lives, everything
/// goes to it but the escapes; while there is none, bare keys work.
final class Keyboard: Sendable {
  /// A command typed by the user.
  enum Command: Sendable, Equatable {
    case escape(EscapeParser.Token)
    case key(LinkKeys.Command)
    /// Whether what was typed while the link was down is sent.
    case sendsHeld(Bool)
  }

  private struct State {
    var isLive = false
    var wasOpened = false
    var parser: EscapeParser
    var keys = LinkKeys()
    var canDetach = false
    var writes = true
    var canMove = false
    /// Set while the user is asked whether to send what was typed: gets each byte.
    var isAsking = false
  }

  private let tilde: UInt8?
  private let state: Mutex<State>
  private let outbox = Outbox()
  private let opened: AsyncStream<Void>
  private let openedSink: AsyncStream<Void>.Continuation

  /// - Parameter tilde: the byte that begins an escape; nil for none.
  init(tilde: UInt8? = UInt8(ascii: "~")) {
    self.tilde = tilde
    state = Mutex(State(parser: EscapeParser(tilde: tilde)))
    (opened, openedSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// What the user types for an escape; nil where there are none. A control as ssh(1) has it.
  var escape: String? {
    tilde.map { byte in
      let letter = byte == 0x7F ? "?" : String(UnicodeScalar(byte < 0x20 ? byte + 0x40 : byte))
      return byte < 0x20 || byte == 0x7F ? "^" + letter : letter
    }
  }

  /// `words` about escapes as the user types them; nil where there are none.
  func spelled(_ words: String) -> String? {
    escape.map { words.replacing("~", with: $0) }
  }

  /// The escapes, for display on a terminal of so many rows: those that matter most come first, and
  /// of a list that is too long the others are left out.
  func help(rows: Int) -> [String] {
    let writes = state.withLock(\.writes)
    let all =
      [writes ? "Escapes, at the start of a line:" : "Keys of a viewer:"]
      + escapes.map { key, meaning in
        "  " + key + String(repeating: " ", count: max(2, 5 - key.count)) + meaning
      }
    // The row of the cursor before it, and that behind it.
    let space = max(1, rows - 2)
    return (all.count > space ? all.dropFirst().prefix(space) : all[...]).compactMap(spelled)
  }

  /// The escapes as one text, for a banner over the screen of a program.
  var shortHelp: [String] {
    let all = escapes.map { key, meaning in TerminalText.unbroken("\(key) \(meaning)") }
    return ["  " + all.joined(separator: ", ") + "."].compactMap(spelled)
  }

  /// The keys and what they do, those that matter most first.
  private var escapes: [(key: String, meaning: String)] {
    let (canDetach, canMove, writes) = state.withLock { ($0.canDetach, $0.canMove, $0.writes) }
    let ends =
      canDetach
      ? [("~.", "disconnect; the session goes on"), ("~d", "detach; the session goes on")]
      : [("~.", "disconnect; the shell ends")]
    let moves =
      switch (writes, canMove) {
      case (false, _):
        [("arrows or h j k l", "move the window"), ("f or space", "follow the cursor again")]
      case (true, true):
        [
          ("Alt-arrows or ~h ~j ~k ~l", "move the window"), ("~f", "follow the cursor again"),
        ]
      case (true, false): [(String, String)]()
      }
    return ends + moves + [
      ("~r", "reconnect now"), ("~s", "show connection status"),
      ("~#", "list forwarded connections"), ("~^Z", "suspend bridgectl"),
      ("~&", "how to run in the background"), ("~?", "show this list"),
      ("~~", "that character"),
    ]
  }

  /// Whether a shell ever had it.
  var wasOpened: Bool { state.withLock { $0.wasOpened } }

  /// Whether what is typed belongs to a shell.
  var isLive: Bool { state.withLock { $0.isLive } }

  /// The keys that act on the link now. Before a shell has the keyboard they are the terminal's.
  var keys: LinkStatus.Keys {
    state.withLock { state in
      guard state.wasOpened else { return .none }
      guard state.isLive else { return .bare }
      guard tilde != nil else { return state.writes ? .held : .none }
      guard state.writes else { return .viewing }
      return .escapes(isLineStart: state.parser.isAtLineStart, canDetach: state.canDetach)
    }
  }

  /// How many typed bytes wait to be sent.
  var waiting: Int { outbox.count }

  /// A shell lives.
  ///
  /// - Parameters:
  ///   - canDetach: whether it goes on without this process, over all links.
  ///   - writes: whether it takes what is typed.
  ///   - canMove: whether it is shown in a window that escapes move.
  func open(canDetach: Bool = false, writes: Bool = true, canMove: Bool = false) {
    if canDetach { outbox.limitHeld(to: Self.heldLimit) }
    state.withLock { state in
      state.isLive = true
      state.wasOpened = true
      state.canDetach = canDetach
      state.writes = writes
      state.canMove = canMove
      state.parser = EscapeParser(
        canDetach: canDetach, hasLines: writes, canMove: canMove, tilde: tilde)
    }
    openedSink.yield()
  }

  /// Detaches the remote side; returns how many typed bytes never reached it.
  func close() -> Int {
    state.withLock { $0.isLive = false }
    return outbox.drop()
  }

  /// So much of what is typed while the link of a shell that goes on is down is kept, in bytes.
  static let heldLimit = 4 << 10

  /// Keeps what is typed for a link that may be dead, or lets it go.
  func hold(_ isHeld: Bool) { outbox.hold(isHeld ? .all : .nothing) }

  /// Asks for Enter or Ctrl-C, or no longer: what else is typed meanwhile is kept behind the rest.
  /// A program that asks the terminal has its answer.
  func ask(_ isAsking: Bool) {
    state.withLock { $0.isAsking = isAsking }
    if isAsking { outbox.hold(.typing) }
  }

  /// How many typed bytes were lost since the last call, beyond what is kept.
  func takeLost() -> Int { outbox.takeLost() }

  /// Drops what was typed and not sent; returns how many bytes that were.
  func dropHeld() -> Int {
    state.withLock { $0.parser.beginLine() }
    return outbox.drop(keepsReports: true)
  }

  /// Sends what is typed until the target takes no more.
  func carry(to target: some InputTarget) async {
    do throws(AppError) {
      while let bytes = await outbox.take() {
        do throws(AppError) {
          try await target.write(bytes)
        } catch {
          outbox.countUnsent(bytes.count)
          throw error
        }
      }
      if !Task.isCancelled { try await target.finishInput() }
    } catch {
      // It takes no more; its status reports how it ends.
    }
  }

  /// Reads the keyboard from the first shell on, until canceled or hung up.
  func listen(
    to input: DescriptorReader, now: @Sendable () -> Moment,
    _ act: @Sendable (Command) async -> Void
  ) async {
    for await _ in opened { break }
    while true {
      guard case .bytes(let bytes) = await input.read() else {
        outbox.close()
        return
      }
      if state.withLock({ $0.isLive }) {
        await take(bytes, act)
      } else {
        let commands = state.withLock { state in
          TerminalReport.without(bytes).compactMap { state.keys.take($0, at: now()) }
        }
        for command in commands { await act(.key(command)) }
      }
      // They are sent before the thread of the terminal is woken to read more, which takes as long.
      await Task.yield()
    }
  }

  /// The meaning of a byte as an answer: Enter, or Ctrl-C.
  private static func answer(_ byte: UInt8) -> Command? {
    switch byte {
    case 10, 13: .sendsHeld(true)
    case 3: .sendsHeld(false)
    case _: nil
    }
  }

  /// Takes typed bytes that are no escape: an answer to an open question, or input.
  private func take(text: [UInt8], _ act: (Command) async -> Void) async {
    var rest = text[...]
    while state.withLock({ $0.isAsking }),
      let index = rest.firstIndex(where: { Self.answer($0) != nil })
    {
      await outbox.append(Array(rest[..<index]))
      if let answer = Self.answer(rest[index]) { await act(answer) }
      rest = rest[(index + 1)...]
    }
    if !rest.isEmpty { await outbox.append(Array(rest)) }
  }

  /// Takes what was typed while a shell lives. What follows an escape that leaves it is dropped:
  /// the user has left.
  func take(_ bytes: [UInt8], _ act: (Command) async -> Void) async {
    for token in state.withLock({ $0.parser.take(bytes) }) {
      switch token {
      case .bytes(let bytes): await take(text: bytes, act)
      case .report(let bytes): await outbox.append(report: bytes)
      case .disconnect, .detach: return await act(.escape(token))
      case .reconnect, .status, .forwards, .suspend, .background, .help, .move:
        await act(.escape(token))
      }
    }
  }
}

/// Where input goes: a channel, or a durable session.
protocol InputTarget: Sendable {
  /// Sends bytes; waits while the other side takes none.
  func write(_ bytes: [UInt8]) async throws(AppError)
  /// Ends the input.
  func finishInput() async throws(AppError)
}

extension SSHChannel: InputTarget {}
