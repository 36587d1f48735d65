import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeTransport

/// The user's keyboard for as long as shells own it, over all of them: while one lives, everything
/// goes to it but the escapes; while there is none, bare keys work.
final class Keyboard: Sendable {
  /// A command typed by the user.
  enum Command: Sendable, Equatable {
    case escape(EscapeParser.Token)
    case key(LinkKeys.Command)
  }

  private struct State {
    var isLive = false
    var wasOpened = false
    var parser = EscapeParser()
    var keys = LinkKeys()
    var screen = ScreenTracker()
  }

  private let state = Mutex(State())
  private let outbox = Outbox()
  private let opened: AsyncStream<Void>
  private let openedSink: AsyncStream<Void>.Continuation

  init() {
    (opened, openedSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  static let help = """
    Escapes, at the start of a line:\r
      ~.   disconnect; the shell ends\r
      ~r   reconnect now\r
      ~s   show connection status\r
      ~?   show this list\r
      ~~   a tilde\r

    """

  /// Whether a shell ever had it.
  var wasOpened: Bool { state.withLock { $0.wasOpened } }

  /// How many typed bytes wait to be sent.
  var waiting: Int { outbox.count }

  /// Tracks the output of the remote side.
  func see(_ bytes: [UInt8]) {
    state.withLock { $0.screen.see(bytes) }
  }

  /// Whether a remote program has the whole screen to itself.
  var isFullScreen: Bool { state.withLock { $0.screen.isTaken } }

  /// The sequences that restore the screen after the remote side was cut off; empty when none are
  /// needed.
  func takeReset() -> String {
    state.withLock { state in
      defer { state.screen = ScreenTracker() }
      return state.screen.reset
    }
  }

  /// A shell lives.
  func open() {
    state.withLock { state in
      state.isLive = true
      state.wasOpened = true
      state.parser = EscapeParser()
    }
    openedSink.yield()
  }

  /// Detaches the remote side; returns how many typed bytes never reached it.
  func close() -> Int {
    state.withLock { $0.isLive = false }
    return outbox.drop()
  }

  /// Keeps what is typed for a link that may be dead, or lets it go.
  func hold(_ isHeld: Bool) { outbox.hold(isHeld) }

  /// Sends what is typed until the channel takes no more.
  func carry(to channel: SSHChannel) async {
    do throws(AppError) {
      while let bytes = await outbox.take() { try await channel.write(bytes) }
      if !Task.isCancelled { try await channel.finishInput() }
    } catch {
      // It takes no more; its status reports how it ends.
    }
  }

  /// Reads the keyboard from the first shell on, until cancelled or hung up.
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
          bytes.compactMap { state.keys.take($0, at: now()) }
        }
        for command in commands { await act(.key(command)) }
      }
    }
  }

  private func take(_ bytes: [UInt8], _ act: (Command) async -> Void) async {
    for token in state.withLock({ $0.parser.take(bytes) }) {
      switch token {
      case .bytes(let bytes): await outbox.append(bytes)
      case .disconnect, .reconnect, .status, .help: await act(.escape(token))
      }
    }
  }
}
