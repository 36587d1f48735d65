import BridgeErrors
import BridgeTransport
import BridgeWaiting
import Dispatch
import Glibc

/// Carries keyboard-interactive prompts from libssh2's callback, which must have the answers at
/// once and therefore waits on a helper thread, to the code that can ask a person.
final class PromptExchange: Sendable {
  private struct State {
    var answers: [Secret]?
    var isCancelled = false
    var isUnanswered = false
    var wasAsked = false
    var timeAsked: Duration = .zero
    var askedSince: ContinuousClock.Instant?
    var granted: Duration = .zero

    var total: Duration {
      timeAsked + (askedSince.map { ContinuousClock.now - $0 } ?? .zero)
    }
  }

  /// How late the end of the link may be seen: no call reads the wire meanwhile.
  private static let lookInterval = DispatchTimeInterval.milliseconds(250)

  let requests: AsyncStream<KeyboardInteractiveRequest>
  private let sink: AsyncStream<KeyboardInteractiveRequest>.Continuation
  private let state = Mutex(State())
  private let answered = DispatchSemaphore(value: 0)

  init() {
    (requests, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4))
  }

  /// How long people took, the present question included.
  var timeAsked: Duration { state.withLock(\.total) }

  /// What people took since this was asked last: a deadline is put off by as much.
  func takeTimeAsked() -> Duration {
    state.withLock { state in
      let total = state.total
      defer { state.granted = total }
      return total - state.granted
    }
  }

  /// Whether a prompt was declined.
  var isUnanswered: Bool { state.withLock { $0.isUnanswered } }

  /// Whether the server has asked for anything.
  var wasAsked: Bool { state.withLock { $0.wasAsked } }

  /// On the helper thread: waits for the answers. Empty ones when none were given, or when
  /// `isOver` says that they would go nowhere.
  func ask(_ request: KeyboardInteractiveRequest, until isOver: () -> Bool) -> [Secret] {
    // A request without prompts is only a notice, or ends the conversation (RFC 4256, 3.4).
    if request.prompts.isEmpty && request.instruction.isEmpty { return [] }
    if state.withLock({ $0.isCancelled }) { return [] }
    if !request.prompts.isEmpty { state.withLock { $0.wasAsked = true } }
    let begun = ContinuousClock.now
    state.withLock { $0.askedSince = begun }
    sink.yield(request)
    while answered.wait(timeout: .now() + Self.lookInterval) == .timedOut {
      guard !isOver() else {
        cancel()
        break
      }
    }
    return state.withLock { state in
      state.timeAsked += ContinuousClock.now - begun
      state.askedSince = nil
      defer { state.answers = nil }
      return state.answers ?? []
    }
  }

  func answer(_ answers: [Secret]?) {
    state.withLock { state in
      state.answers = answers
      if answers == nil { state.isUnanswered = true }
    }
    answered.signal()
  }

  /// Lets the helper thread go, with empty answers from now on.
  func cancel() {
    state.withLock { $0.isCancelled = true }
    sink.finish()
    answered.signal()
  }
}
