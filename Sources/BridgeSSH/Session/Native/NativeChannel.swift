import BridgeErrors
import BridgeReactor
import CLibSSH2

/// One libssh2 channel: used on the session's thread only, freed once, dead with its session.
@safe final class NativeChannel: @unchecked Sendable {
  /// The two streams a server writes to (RFC 4254, 5.2).
  enum Stream: Int32, CaseIterable, Sendable {
    case output = 0
    case error = 1
  }

  /// Our number of the channel, as its packets carry it.
  let number: UInt32
  private let session: SSHSession
  private var channel: OpaquePointer?

  private let window: Int
  /// The server closed it in place of an answer to a request.
  private(set) var isClosedUnanswered = false
  /// How far the variable has come that goes with the start.
  private var companion = Companion.unasked
  /// Its output has ended, and the window is open for reading all of it: that needs nothing from
  /// the wire any more, which may exchange keys from the next packet on, or end.
  private(set) var isOutputHere = false
  /// Whether anything was written to it.
  private(set) var hasInput = false
  /// How many bytes the server had taken when that was looked at last.
  private var lastTaken: UInt64 = 0
  /// How many bytes of its output were handed out.
  private var handedOut = 0
  /// The window adjustment that the library has begun and could not send yet: one for each channel.
  /// Any other call that adjusts sends that one, and adds its own number to the window.
  private var begun: Adjustment?

  /// A variable whose answer the start does not wait for.
  private enum Companion {
    case unasked
    /// The start was sent behind it, and it is not answered yet.
    case sent
    /// It was answered. An acceptance may be that of the start where both were under way: the
    /// library looks for one in all that has come before it looks for a refusal
    /// (`_libssh2_packet_askv`), and another request may have read both.
    case answered(isDoubtful: Bool)
    /// It is asked for once more; this is the refusal of it, or of the start.
    case askedAgain(refusal: String)
  }

  /// The call that has begun an adjustment, and alone may resume it.
  private enum Adjustment {
    /// A read of any stream. After another call the next read would adjust the window again, by a
    /// number that may be negative and is sent as almost 4 GiB.
    case ofRead
    /// `openWindow`.
    case ofOpening
  }

  /// A stream without data: a type that no server uses (RFC 4254, 5.2).
  private static let noStream = Int32.min

  init(_ channel: OpaquePointer, number: UInt32, window: Int, of session: SSHSession) {
    unsafe self.channel = channel
    self.number = number
    self.window = window
    self.session = session
    session.windows += window
    session.add(self)
  }

  /// The most that goes into one packet (`libssh2_channel_write_ex`).
  private static let writeLimit = 32_700

  private func call(_ body: (LibraryPointer) -> Int32) -> Attempt<Void> {
    guard let channel = unsafe channel else { return .failed(.channelClosed, "channel is freed") }
    return unsafe session.attempt(body(LibraryPointer(channel)))
  }

  /// A request whose answer is waited for. The library does not notice that the server closes the
  /// channel instead, and nothing more comes of it then (RFC 4254, 5.3).
  private func request(_ body: (LibraryPointer) -> Int32) -> Attempt<Void> {
    let asked = call(body)
    guard case .again = asked, session.tap.closedChannels.contains(number) else { return asked }
    isClosedUnanswered = true
    return .failed(.channelRequestDenied, "the server closed the channel before it answered")
  }

  /// TTY_OP_END (RFC 4254, 8).
  private static let endOfModes: UInt8 = 0

  func requestTerminal(_ terminal: PseudoTerminal) -> Attempt<Void> {
    // channel.c refuses more than 256 bytes of both.
    let hasSpace = terminal.type.utf8.count + terminal.modes.count < 256
    let modes = (hasSpace ? terminal.modes : []) + [Self.endOfModes]
    let asked = request {
      unsafe libssh2_channel_request_pty_ex(
        $0.raw, terminal.type, UInt32(terminal.type.utf8.count),
        modes.map { CChar(bitPattern: $0) }, UInt32(modes.count),
        Int32(terminal.size.columns), Int32(terminal.size.rows), 0, 0)
    }
    // channel.c says LIBSSH2_ERROR_PROTO of whatever ends its wait, also of the link's end.
    guard case .failed(.protocolError, let text) = asked, !session.isLinkOpen else {
      return asked
    }
    return .failed(.socketReceive, text)
  }

  func resize(_ size: TerminalSize) -> Attempt<Void> {
    call {
      unsafe libssh2_channel_request_pty_size_ex(
        $0.raw, Int32(size.columns), Int32(size.rows), 0, 0)
    }
  }

  /// Asks for a variable in the environment of what is started next.
  func set(_ variable: EnvironmentVariable) -> Attempt<Void> {
    request {
      unsafe libssh2_channel_setenv_ex(
        $0.raw, variable.name, UInt32(variable.name.utf8.count), variable.value,
        UInt32(variable.value.utf8.count))
    }
  }

  /// Starts `program`, with one more variable, which costs no round trip: the start is sent before
  /// the server has answered to the variable. It answers in order (RFC 4254, 4).
  func start(_ program: RemoteProgram, with variable: EnvironmentVariable?) -> Attempt<Void> {
    guard let variable else { return start(program) }
    switch companion {
    case .unasked, .sent:
      switch set(variable) {
      case .done:
        let isSent = if case .sent = companion { true } else { false }
        companion = .answered(isDoubtful: isSent)
      // It was left out.
      case .failed(.channelRequestDenied, _) where !isClosedUnanswered:
        companion = .answered(isDoubtful: false)
      case .failed(let code, let text): return .failed(code, text)
      case .again:
        guard case .unasked = companion else { return .again }
        companion = .sent
        return sendAhead(program)
      }
    case .answered: break
    case .askedAgain(let refusal): return tellApart(variable, refusal)
    }
    let started = start(program)
    guard case .answered(isDoubtful: true) = companion,
      case .failed(.channelRequestDenied, let refusal) = started, !isClosedUnanswered
    else { return started }
    if hasRun { return .done(()) }
    companion = .askedAgain(refusal: refusal)
    return tellApart(variable, refusal)
  }

  private func sendAhead(_ program: RemoteProgram) -> Attempt<Void> {
    // The answer to the variable would be taken for the one to the start.
    session.isDeaf = true
    let sent = start(program)
    session.isDeaf = false
    session.wire.tryAgain()
    return sent
  }

  /// One acceptance and one refusal have come for the variable and the start. A server that takes
  /// the variable now has taken it before, and has refused the start; one that has started a
  /// program takes none, or never did.
  private func tellApart(_ variable: EnvironmentVariable, _ refusal: String) -> Attempt<Void> {
    switch set(variable) {
    case .again: return .again
    case .done: return .failed(.channelRequestDenied, refusal)
    case .failed(.channelRequestDenied, _) where !isClosedUnanswered: return .done(())
    // It was over before the server has read the question.
    case .failed(.channelRequestDenied, _) where hasRun:
      isClosedUnanswered = false
      return .done(())
    case .failed(let code, let text): return .failed(code, text)
    }
  }

  /// Whether something has come of a program.
  private var hasRun: Bool {
    guard let channel = unsafe channel else { return false }
    var waiting: UInt = 0
    _ = unsafe libssh2_channel_window_read_ex(channel, &waiting, nil)
    return waiting > 0 || session.tap.exitStatus[number] != nil
  }

  private func start(_ program: RemoteProgram) -> Attempt<Void> {
    let name = program.request.rawValue
    return request { channel in
      guard program.request != .shell else {
        return unsafe libssh2_channel_process_startup(
          channel.raw, name, UInt32(name.utf8.count), nil, 0)
      }
      return unsafe program.bytes.map { CChar(bitPattern: $0) }.withUnsafeBufferPointer {
        unsafe libssh2_channel_process_startup(
          channel.raw, name, UInt32(name.utf8.count), $0.baseAddress, UInt32($0.count))
      }
    }
  }

  /// Bytes that have arrived, up to what `scratch` holds; empty at the end of the stream.
  ///
  /// Every read of every stream of a channel must have the same length. The library computes the
  /// window adjustment from it, anew when a call is resumed, and the resumed call adds the new
  /// number where the first one was sent: from then on the two sides count different windows, and
  /// data of a server that keeps to its own is dropped in silence (`_libssh2_channel_read`).
  func read(_ stream: Stream, through scratch: ScratchBuffer) -> Attempt<[UInt8]> {
    if begun == .ofOpening, isWindowDue(before: scratch) {
      switch openWindow(before: scratch) {
      case .again: return .again
      case .failed(let code, let text): return .failed(code, text)
      case .done: break
      }
    }
    return read(stream.rawValue, through: scratch)
  }

  private func read(_ stream: Int32, through scratch: ScratchBuffer) -> Attempt<[UInt8]> {
    guard let channel = unsafe channel else { return .failed(.channelClosed, "channel is freed") }
    let buffer = unsafe scratch.bytes
    let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
    let count = unsafe libssh2_channel_read_ex(channel, stream, start, buffer.count)
    // A read that fails or finds nothing after its adjustment was sent leaves the window open.
    if begun != .ofOpening {
      begun = count < 0 && isWindowDue(before: scratch) ? .ofRead : nil
    }
    handedOut += max(0, count)
    return session.attempt(Int32(clamping: min(0, count))).map {
      unsafe Array(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Resumes the adjustment that a read has begun, without taking anything from this channel.
  private func resumeRead(through scratch: ScratchBuffer) -> Attempt<Void> {
    switch read(Self.noStream, through: scratch) {
    case .again: begun == .ofRead ? .again : .done(())
    case .failed(let code, let text): .failed(code, text)
    case .done: .done(())
    }
  }

  /// Whether a read first opens the window: it answers "again", with bytes queued, as long as that
  /// cannot be sent, while keys are exchanged or the wire takes nothing more. The condition of
  /// `_libssh2_channel_read`.
  func isWindowDue(before scratch: ScratchBuffer) -> Bool {
    guard let channel = unsafe channel else { return false }
    var initial: UInt = 0
    let window = unsafe libssh2_channel_window_read_ex(channel, nil, &initial)
    return window < initial / 4 * 3 + UInt(unsafe scratch.bytes.count)
  }

  /// Opens the window so far that no read of what has come opens it again. Only behind the end of
  /// the output: the server need not count it. A read that waits to be resumed is resumed first.
  func openWindow(before scratch: ScratchBuffer) -> Attempt<Void> {
    if begun == .ofRead {
      let resumed = resumeRead(through: scratch)
      guard case .done = resumed else { return resumed }
    }
    var initial: UInt = 0
    // What is queued is at most what the window still shows, which each read takes from it.
    let opened = call { channel in
      _ = unsafe libssh2_channel_window_read_ex(channel.raw, nil, &initial)
      let more = unsafe initial + UInt(scratch.bytes.count)
      return unsafe libssh2_channel_receive_window_adjust2(channel.raw, more, 1, nil)
    }
    if case .done = opened {
      begun = nil
      isOutputHere = hasAllOutput
    } else {
      begun = .ofOpening
    }
    return opened
  }

  /// On a link that has ended: opens the window, so that what is queued can be read.
  ///
  /// An exchange of keys that is under way holds the adjustment back. It is made to fail, in a few
  /// calls: where the library resumes it, and where it resumes the packet that began it.
  func openWindowWithoutLink(before scratch: ScratchBuffer) {
    session.wire.seal(.failing)
    for _ in 0..<8 { if case .done = openWindow(before: scratch) { break } }
    session.wire.seal(.silent)
  }

  /// Lets the library take what is on the wire without taking anything from this channel.
  func drain(through scratch: ScratchBuffer) -> Attempt<Void> {
    // One of no bytes never adjusts the window by itself: a read opens it before that is due.
    if begun == .ofRead { return resumeRead(through: scratch) }
    return call { channel in
      var nothing: CChar = 0
      return unsafe Int32(clamping: min(0, libssh2_channel_read_ex(channel.raw, 0, &nothing, 0)))
    }
  }

  /// Writes from `bytes[start...]`; how much was taken. After `.again`, call with the same bytes.
  func write(_ bytes: [UInt8], from start: Int) -> Attempt<Int> {
    guard let channel = unsafe channel else { return .failed(.channelClosed, "channel is freed") }
    let count = min(Self.writeLimit, bytes.count - start)
    let result = unsafe bytes.withUnsafeBytes { buffer in
      let base = unsafe buffer.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
      return unsafe libssh2_channel_write_ex(channel, 0, base, count)
    }
    if result == 0 { return .again }
    if result > 0 { hasInput = true }
    return session.attempt(Int32(clamping: min(0, result))).map { result }
  }

  /// After a `write` of `count` bytes that returned `.again`: how many of them the library holds in
  /// a packet that it has begun, because a key exchange is under way. It begins none without a
  /// window to send into.
  func heldBytes(of count: Int) -> Int {
    guard let channel = unsafe channel else { return 0 }
    let window = unsafe libssh2_channel_window_write_ex(channel, nil)
    return window > 0 ? min(Self.writeLimit, count) : 0
  }

  /// How many of `sent` bytes the server has taken: those for which it has opened its window again.
  func taken(of sent: UInt64) -> UInt64 {
    guard let channel = unsafe channel else { return lastTaken }
    var initial: UInt = 0
    let window = unsafe UInt64(libssh2_channel_window_write_ex(channel, &initial))
    let given = sent + window
    lastTaken = given > UInt64(initial) ? given - UInt64(initial) : 0
    return lastTaken
  }

  func sendEndOfFile() -> Attempt<Void> { call { unsafe libssh2_channel_send_eof($0.raw) } }

  /// Whether the server has sent its last byte and we have read it.
  var isAtEnd: Bool {
    guard let channel = unsafe channel else { return false }
    return unsafe libssh2_channel_eof(channel) == 1
  }

  /// Done when the server has closed the channel.
  func waitClosed() -> Attempt<Void> { call { unsafe libssh2_channel_wait_closed($0.raw) } }

  /// The signal that ended the command, without `SIG`; nil when it exited.
  func exitSignal() -> String? {
    guard let channel = unsafe channel else { return nil }
    var name: UnsafeMutablePointer<CChar>?
    var length = 0
    unsafe libssh2_channel_get_exit_signal(channel, &name, &length, nil, nil, nil, nil)
    guard let name = unsafe name else { return nil }
    // The session's allocator allocated it, so the session frees it.
    defer { unsafe session.returnBlock(name) }
    guard length > 0 else { return nil }
    return unsafe SessionCallbacks.text(name, Int32(clamping: min(length, 64)))
  }

  /// How the command ended, as far as the server has said it.
  var reportedStatus: ExitStatus? {
    if let signal = exitSignal() { return .signal(signal) }
    return session.tap.exitStatus[number].map { .status(Int($0)) }
  }

  /// What is wrong with its output so far; nil where all of it is handed out as it came.
  ///
  /// The library drops what exceeds the window or the size of a packet, takes the size of a packet
  /// for the length of its data, and reports none of that. It is done with a packet when it has
  /// handed out all of it.
  ///
  /// - Parameter isReadOut: whether the library holds no packet of which a part was handed out.
  func damage(isReadOut: Bool) -> OutputDamage? {
    let missing = (session.tap.outputBytes[number] ?? 0) - handedOut
    if missing > 0 { return .lost(missing) }
    return missing < 0 && isReadOut ? .foreign(-missing) : nil
  }

  /// Whether the server has closed the channel: nothing of it follows.
  var isClosedByServer: Bool { session.tap.closedChannels.contains(number) }

  /// Whether the server has sent its last byte: all there is, is on this side.
  var hasAllOutput: Bool { session.tap.endedChannels.contains(number) }

  /// Closes and frees; `.again` until the server has confirmed.
  func free() -> Attempt<Void> {
    guard let channel = unsafe channel else { return .done(()) }
    let result = session.attempt(unsafe libssh2_channel_free(channel))
    if case .again = result { return .again }
    abandon()
    return .done(())
  }

  /// The library has freed the channel, or is about to, with its session: it is not used again.
  func abandon() {
    guard unsafe channel != nil else { return }
    unsafe channel = nil
    session.windows -= window
    session.forgetChannel(number)
  }
}

extension SSHSession {
  /// Opens a session channel with a receive window of `window` bytes.
  func openChannel(window: Int) -> Attempt<NativeChannel> {
    open("session", window: window)
  }

  /// A channel type no server knows: its refusal is a round trip that leaves nothing behind.
  ///
  /// A server that accepts any type has answered as well: its channel must be closed.
  func roundTrip() -> Attempt<NativeChannel?> {
    switch open("probe@bridge", window: 32_768) {
    case .again: .again
    case .failed(let code, let text):
      tap.openRefusal != nil ? .done(nil) : .failed(code, text)
    case .done(let channel): .done(channel)
    }
  }

  /// Opens a channel that leads on to `target`.
  func openTunnel(to target: TunnelTarget, window: Int) -> Attempt<NativeChannel> {
    open(target.channelType, message: target.message, window: window)
  }

  private func open(
    _ type: String, message: [UInt8] = [], window: Int
  ) -> Attempt<NativeChannel> {
    prepareOpen()
    let opened = callForPointer { session -> LibraryPointer? in
      let channel = unsafe message.withUnsafeBytes { bytes in
        let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        return unsafe libssh2_channel_open_ex(
          session.raw, type, UInt32(type.utf8.count), UInt32(window), 32_768, start,
          UInt32(bytes.count))
      }
      return unsafe channel.map(LibraryPointer.init)
    }
    if case .again = opened { return .again }
    endOpen()
    switch opened.map({ ($0, tap.openedChannel) }) {
    case .again: return .again
    case .failed(let code, let text): return .failed(code, text)
    case .done((_, nil)):
      return .failed(
        .protocolError, "the server's confirmation of a channel does not show its number")
    case .done((let channel, let number?)):
      guard arrivals.confirm(number) else {
        return .failed(.protocolError, "the numbers of channels are not as they were counted")
      }
      return unsafe .done(NativeChannel(channel.raw, number: number, window: window, of: self))
    }
  }
}
