import BridgeErrors
import BridgeSessionProtocol
import BridgeTransport
import BridgeWaiting

/// How long a host may take to run a command, up to the marker of its answer: a login that starts
/// another shell, or reads standard input, never comes to it. It closes the channel then.
final class AnswerWatch: Sendable {
  private struct State {
    var heard: Milliseconds
    /// When it was run, without the time in which the link was silent.
    var start: Milliseconds
    var isOver = false
    var isLate = false
  }

  /// In milliseconds, while the host says nothing.
  let silence: Milliseconds
  /// In milliseconds, whatever it says.
  private static let total: Milliseconds = 60_000
  /// For what cannot be done without an answer, in milliseconds: a login may be slow.
  static let longSilence: Milliseconds = 30_000

  /// How long nothing follows the marker of a `bridge-host` without a greeting before it is
  /// recognized by that. In milliseconds.
  static let greeting: Milliseconds = 1000

  private let clock: SessionClock
  private let state: Mutex<State>

  /// A watch over a command that the server has accepted just now.
  init(_ clock: SessionClock, silence: Milliseconds = longSilence) {
    (self.clock, self.silence) = (clock, silence)
    let start = clock.now()
    state = Mutex(State(heard: start, start: start))
  }

  /// The host said something.
  func hear() { state.withLock { $0.heard = clock.now() } }

  /// Whether the answer is there.
  var isStopped: Bool { state.withLock { $0.isOver } }

  /// The answer is there.
  func stop() { state.withLock { $0.isOver = true } }

  /// Whether no answer came in time.
  var isLate: Bool { state.withLock { $0.isLate } }

  /// Closes `channel` where the time is over. A link that is silent says nothing of the host: its
  /// time does not count.
  func run(closing channel: any ByteChannel) async {
    while !Task.isCancelled {
      let (seen, now) = (state.withLock { $0 }, clock.now())
      guard !seen.isOver else { return }
      let end = seen.start + max(silence, Self.total)
      let due = min(seen.heard + silence, end)
      guard now >= due else {
        await clock.sleep(due - now)
        continue
      }
      if await channel.waitsForPeer(clock) {
        state.withLock { state in
          state.start += clock.now() - state.heard
          state.heard = clock.now()
        }
        continue
      }
      let isLate = state.withLock { state in
        // Something may have come meanwhile; a host that prints on has its end all the same.
        if !state.isOver, state.heard == seen.heard || now >= end { state.isLate = true }
        return state.isLate
      }
      guard isLate else { continue }
      return await channel.close()
    }
  }

  /// The error of an answer that did not come in time.
  func error(host: String) -> AppError { SessionFailure.silent(host: host, silence) }
}
