public import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// The output of a remote command, as it comes: bounded, for one reader, with back-pressure to the
/// server.
///
/// A stream without a reader fills up and then holds back its channel: read both streams, or
/// `discard` one. It keeps its connection alive.
public struct ByteStream: AsyncSequence, Sendable {
  /// Some bytes, at least one.
  public typealias Element = [UInt8]
  /// The error that ended the stream before its end.
  public typealias Failure = AppError

  let mailbox: ByteMailbox
  /// The channel that fills the mailbox: without it a reader would wait forever.
  let connection: SSHConnection

  /// Takes the bytes in order.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let mailbox: ByteMailbox
    let connection: SSHConnection

    /// The next bytes, nil at the end.
    ///
    /// - Throws: what ended the connection, or `cancelled`.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> [UInt8]? {
      try await mailbox.next()
    }
  }

  /// An iterator; two of one stream share its bytes.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(mailbox: mailbox, connection: connection)
  }

  /// Throws away what has come and what will come.
  public func discard() {
    mailbox.discard()
  }
}

/// The queue behind a `ByteStream`: filled on the reactor, emptied anywhere.
///
/// A lock and not actor state, so that a reader that keeps up takes bytes without a hop.
package final class ByteMailbox: Sendable {
  fileprivate typealias Answer = Result<[UInt8]?, AppError>

  fileprivate struct State {
    /// The newest last; then the oldest last: what was taken is let go, also when it never runs
    /// empty, and each chunk moves once.
    var arrived: [[UInt8]] = []
    var leaving: [[UInt8]] = []
    var count = 0
    var reader: Promise<Answer>?
    var end: Result<Void, AppError>?
    var isDiscarding = false
    var isFull = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private let smallChunk: Int
  private let hasSpaceAgain: @Sendable () -> Void

  /// Holds `limit` bytes; `hasSpaceAgain` is called when a full one is half empty.
  /// Chunks of less than `smallChunk` bytes are joined while they wait.
  package init(
    limit: Int, joiningBelow smallChunk: Int = 8 << 10,
    hasSpaceAgain: @escaping @Sendable () -> Void
  ) {
    self.limit = limit
    self.smallChunk = smallChunk
    self.hasSpaceAgain = hasSpaceAgain
  }

  /// Whether it is less than full; a full one says when it has space again.
  package var hasSpace: Bool {
    state.withLock { state in
      state.isFull = state.count >= limit
      return !state.isFull
    }
  }

  /// How much it holds, in bytes.
  package var count: Int { state.withLock { $0.count } }

  /// Whether `poll` has something.
  package var isReadable: Bool { state.withLock { $0.count > 0 || $0.end != nil } }

  /// Whether it has ended and everything was taken.
  package var isAtEnd: Bool { state.withLock { $0.count == 0 && $0.end != nil } }

  /// The oldest bytes or the end, if it is there: for a reader that does not wait.
  package func poll() -> Result<[UInt8]?, AppError>? { take() }

  /// Whether a reader waits.
  package var hasReader: Bool { state.withLock { $0.reader != nil } }

  /// Stores `bytes`; `deliver` resumes the waiting readers.
  package func push(_ bytes: [UInt8]) {
    state.withLock { state in
      if state.isDiscarding || state.end != nil { return }
      state.count += bytes.count
      // A chatty command must not cost an array for each of its words.
      if let last = state.arrived.indices.last, state.arrived[last].count < smallChunk,
        bytes.count < smallChunk
      {
        state.arrived[last] += bytes
      } else {
        state.arrived.append(bytes)
      }
    }
  }

  /// Resumes the waiting readers, if there are `least` bytes or it is over: once for all that a
  /// turn brought, for to wake a reader on another thread costs as much as to decrypt 10 KiB.
  package func deliver(atLeast least: Int = 1) {
    let (answered, wasFull) = state.withLock { state -> (Answered?, Bool) in
      guard state.count >= least || state.end != nil, let reader = state.reader,
        let answer = state.takeNext()
      else { return (nil, false) }
      state.reader = nil
      return ((reader, answer), state.makesSpace(of: limit))
    }
    if wasFull { hasSpaceAgain() }
    if let (reader, answer) = answered { reader.fulfill(answer) }
  }

  /// No more bytes come. The first end counts; what is queued can still be read.
  package func finish(_ end: Result<Void, AppError>) {
    state.withLock { $0.end = $0.end ?? end }
    deliver()
  }

  /// Drops what is there and what comes.
  package func discard() {
    let wasFull = state.withLock { state in
      state.isDiscarding = true
      state.arrived = []
      state.leaving = []
      state.count = 0
      defer { state.isFull = false }
      return state.isFull
    }
    if wasFull { hasSpaceAgain() }
  }

  /// The oldest bytes; nil after the last.
  ///
  /// - Throws: what ended it early; `cancelled`.
  package func next() async throws(AppError) -> [UInt8]? {
    if let answer = take() { return try answer.get() }
    let reader = Promise<Answer>()
    let (answer, sentAway) = state.withLock { state -> (Answer?, Promise<Answer>?) in
      if let answer = state.takeNext() { return (answer, nil) }
      // A second reader sends the first away: one stream has one reader.
      defer { state.reader = reader }
      return (nil, state.reader)
    }
    sentAway?.fulfill(.failure(.cancelled))
    if let answer { return try answer.get() }
    return try await reader.value { self.dismiss(reader) }.get()
  }

  private func dismiss(_ reader: Promise<Answer>) {
    let isThere = state.withLock { state in
      guard state.reader === reader else { return false }
      state.reader = nil
      return true
    }
    if isThere { reader.fulfill(.failure(.cancelled)) }
  }

  private typealias Answered = (Promise<Answer>, Answer)

  private func take() -> Answer? {
    let (answer, wasFull) = state.withLock { state in
      (state.takeNext(), state.makesSpace(of: limit))
    }
    if wasFull { hasSpaceAgain() }
    return answer
  }
}

extension ByteMailbox.State {
  /// Whether it was full and is half empty now.
  fileprivate mutating func makesSpace(of limit: Int) -> Bool {
    guard isFull, count <= limit / 2 else { return false }
    isFull = false
    return true
  }

  fileprivate mutating func takeNext() -> Result<[UInt8]?, AppError>? {
    if leaving.isEmpty {
      swap(&arrived, &leaving)
      leaving.reverse()
    }
    guard let bytes = leaving.popLast() else { return end.map { $0.map { [UInt8]?.none } } }
    count -= bytes.count
    return .success(bytes)
  }
}
