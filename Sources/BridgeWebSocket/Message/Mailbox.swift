import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// The queue behind a `MessageStream`: filled on the reactor, emptied anywhere.
///
/// A lock and not actor state, so that a reader that keeps up takes messages without a hop, and a
/// burst wakes it once.
final class Mailbox: Sendable {
  fileprivate typealias Answer = Result<WebSocketMessage?, AppError>
  fileprivate typealias Reader = Promise<Answer>

  fileprivate struct State {
    /// The newest last; then the oldest last: what was taken is let go, also when it never runs
    /// empty, and each message moves once.
    var arrived: [WebSocketMessage] = []
    var leaving: [WebSocketMessage] = []
    /// Bytes, each message counted with what it costs to keep.
    var weight = 0
    var reader: Reader?
    var end: Result<Void, AppError>?
    var isFull = false
    /// Messages that were taken since the reader last waited.
    var inARow = 0
  }

  /// The overhead of a message beside its bytes: empty ones must not pile up without a bound.
  static let overhead = 64

  private let state = Mutex(State())
  private let limit: Int
  private let hasSpaceAgain: @Sendable () -> Void
  /// After so many messages that it did not wait for, a reader gives way: on the reactor it would
  /// keep all else waiting until none is left.
  private static let longestRow = 8

  /// Holds `limit` bytes; `hasSpaceAgain` is called when a full one is half empty.
  init(limit: Int, hasSpaceAgain: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.hasSpaceAgain = hasSpaceAgain
  }

  /// Hands a message over; false when nothing more should come until `hasSpaceAgain`.
  func push(_ message: WebSocketMessage) -> Bool {
    let (reader, hasSpace) = state.withLock { state -> (Reader?, Bool) in
      if state.end != nil { return (nil, true) }
      if let reader = state.reader.take() { return (reader, true) }
      state.arrived.append(message)
      state.weight += message.count + Self.overhead
      state.isFull = state.weight >= limit
      return (nil, !state.isFull)
    }
    reader?.fulfill(.success(message))
    return hasSpace
  }

  /// No more messages come. The first end counts; what is queued can still be read.
  func finish(_ end: Result<Void, AppError>) {
    let reader = state.withLock { state -> Reader? in
      guard state.end == nil else { return nil }
      state.end = end
      return state.reader.take()
    }
    reader?.fulfill(end.map { WebSocketMessage?.none })
  }

  func next() async throws(AppError) -> WebSocketMessage? {
    if let (answer, mustGiveWay) = take() {
      if mustGiveWay { await Task.yield() }
      return try answer.get()
    }
    let reader = Reader()
    let (answer, sentAway) = state.withLock { state -> (Answer?, Reader?) in
      if let answer = state.takeNext() { return (answer, nil) }
      // A second reader sends the first away: one stream has one reader.
      defer { state.reader = reader }
      return (nil, state.reader)
    }
    sentAway?.fulfill(.failure(.cancelled))
    if let answer { return try answer.get() }
    return try await reader.value { self.dismiss(reader) }.get()
  }

  private func dismiss(_ reader: Reader) {
    let isThere = state.withLock { state in
      guard state.reader === reader else { return false }
      state.reader = nil
      return true
    }
    if isThere { reader.fulfill(.failure(.cancelled)) }
  }

  /// The next answer, where there is one, and whether its caller must give way first.
  private func take() -> (Answer, mustGiveWay: Bool)? {
    let (taken, wasFull) = state.withLock { state -> ((Answer, mustGiveWay: Bool)?, Bool) in
      guard let answer = state.takeNext() else {
        state.inARow = 0
        return (nil, false)
      }
      state.inARow += 1
      let mustGiveWay = state.inARow == Self.longestRow
      if mustGiveWay { state.inARow = 0 }
      guard state.isFull, state.weight <= limit / 2 else { return ((answer, mustGiveWay), false) }
      state.isFull = false
      return ((answer, mustGiveWay), true)
    }
    if wasFull { hasSpaceAgain() }
    return taken
  }
}

extension Mailbox.State {
  fileprivate mutating func takeNext() -> Result<WebSocketMessage?, AppError>? {
    if leaving.isEmpty {
      swap(&arrived, &leaving)
      leaving.reverse()
    }
    guard let message = leaving.popLast() else {
      return end.map { $0.map { WebSocketMessage?.none } }
    }
    weight -= message.count + Mailbox.overhead
    return .success(message)
  }
}
