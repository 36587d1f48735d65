public import BridgeErrors

/// A bounded queue for one reader: filled by a transport on its reactor, emptied anywhere.
///
/// A lock and not actor state, so that a reader that keeps up takes elements without a hop. Its
/// bound is a weight: a producer that learned that it is full is called, once, when it has space
/// again. Every way by which an element leaves goes through one function: no call is missed.
public final class Mailbox<Element: Sendable>: Sendable {
  /// An element, nil at the end, or what ended it early.
  public typealias Answer = Result<Element?, AppError>
  @usableFromInline typealias Reader = Promise<Answer>

  /// How elements count and are kept.
  public struct Rule: Sendable {
    @usableFromInline let weight: @Sendable (Element) -> Int
    @usableFromInline let join: (@Sendable (inout Element, Element) -> Bool)?
    @usableFromInline let longestRow: Int

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - longestRow: after so many elements that it did not wait for, a reader gives way: on the
    ///     reactor it would keep all else waiting until none is left.
    ///   - join: puts an element into the one before it, which was not taken yet; false where it
    ///     stays an element of its own.
    ///   - weight: what an element counts.
    @inlinable public init(
      longestRow: Int = .max, join: (@Sendable (inout Element, Element) -> Bool)? = nil,
      weight: @escaping @Sendable (Element) -> Int
    ) {
      self.longestRow = longestRow
      self.join = join
      self.weight = weight
    }
  }

  @usableFromInline struct State {
    /// The newest last; then the oldest last: what was taken is let go, also when it never runs
    /// empty, and each element moves once.
    @usableFromInline var arrived: [Element] = []
    @usableFromInline var leaving: [Element] = []
    @usableFromInline var weight = 0
    @usableFromInline var reader: Reader?
    @usableFromInline var end: Result<Void, AppError>?
    /// What does not fit into so much is dropped: all of it at 0.
    @usableFromInline var keeps = Int.max
    /// The producer has learned that there is no space, and waits.
    @usableFromInline var isProducerHeld = false
    /// Elements that were taken since the reader last waited.
    @usableFromInline var inARow = 0

    @inlinable init() {}
  }

  /// What left the queue, and whether its producer is to be called.
  @usableFromInline struct Taken {
    @usableFromInline var answer: Answer?
    @usableFromInline var makesSpace: Bool

    @inlinable init(answer: Answer?, makesSpace: Bool) {
      self.answer = answer
      self.makesSpace = makesSpace
    }
  }

  @usableFromInline let state = Mutex(State())
  @usableFromInline let limit: Int
  @usableFromInline let rule: Rule
  @usableFromInline let hasSpaceAgain: @Sendable () -> Void

  /// Creates an empty queue that is full at the weight `limit`; `hasSpaceAgain` is called when a
  /// producer that learned so may go on, because half of it is free.
  @inlinable public init(
    limit: Int, _ rule: Rule, hasSpaceAgain: @escaping @Sendable () -> Void
  ) {
    self.limit = limit
    self.rule = rule
    self.hasSpaceAgain = hasSpaceAgain
  }
}

// For the producer.
extension Mailbox {
  /// Whether it is less than full; after false it says when it has space again.
  @inlinable public var hasSpace: Bool { state.withLock { $0.hasSpace(of: limit) } }

  /// The weight of what it holds.
  @inlinable public var weight: Int { state.withLock { $0.weight } }

  /// Whether a reader waits.
  @inlinable public var hasReader: Bool { state.withLock { $0.reader != nil } }

  /// Stores an element; `deliver` resumes the waiting reader.
  @inlinable public func store(_ element: Element) {
    state.withLock { $0.store(element, rule) }
  }

  /// Stores an element and resumes the waiting reader with it; false when no more should come
  /// until `hasSpaceAgain`.
  @inlinable public func push(_ element: Element) -> Bool {
    let (delivery, hasSpace) = state.withLock { state in
      state.store(element, rule)
      let delivery = state.delivery(atLeast: 1, rule, limit)
      return (delivery, state.hasSpace(of: limit))
    }
    finish(delivery)
    return hasSpace
  }

  /// Resumes the waiting reader, if `least` is there or it is over: once for all that a turn
  /// brought, for to wake a reader on another thread costs as much as to decrypt 10 KiB.
  @inlinable public func deliver(atLeast least: Int = 1) {
    finish(state.withLock { $0.delivery(atLeast: least, rule, limit) })
  }

  /// No more elements come. The first end counts; what is queued can still be read.
  @inlinable public func finish(_ end: Result<Void, AppError>) {
    finish(
      state.withLock { state in
        state.end = state.end ?? end
        return state.delivery(atLeast: 1, rule, limit)
      })
  }

  @inlinable func finish(_ delivery: (reader: Reader, taken: Taken)?) {
    guard let delivery else { return }
    if delivery.taken.makesSpace { hasSpaceAgain() }
    if let answer = delivery.taken.answer { delivery.reader.fulfill(answer) }
  }
}

// For the reader.
extension Mailbox {
  /// Whether `poll` has something.
  @inlinable public var isReadable: Bool { state.withLock { $0.weight > 0 || $0.end != nil } }

  /// Whether it has ended and everything was taken.
  @inlinable public var isAtEnd: Bool { state.withLock { $0.weight == 0 && $0.end != nil } }

  /// The oldest element or the end, if it is there: for a reader that does not wait.
  @inlinable public func poll() -> Answer? {
    let taken = state.withLock { $0.take(rule, limit) }
    if taken.makesSpace { hasSpaceAgain() }
    return taken.answer
  }

  /// The oldest element; nil after the last.
  ///
  /// - Throws: what ended it early; `cancelled`.
  @inlinable public func next() async throws(AppError) -> Element? {
    let (taken, mustGiveWay) = state.withLock { $0.takeInARow(rule, limit) }
    if taken.makesSpace { hasSpaceAgain() }
    if mustGiveWay { await Task.yield() }
    if let answer = taken.answer { return try answer.get() }
    return try await wait()
  }

  @inlinable func wait() async throws(AppError) -> Element? {
    let reader = Reader()
    let (taken, sentAway) = state.withLock { $0.takeOrWait(reader, rule, limit) }
    if taken.makesSpace { hasSpaceAgain() }
    sentAway?.fulfill(.failure(.cancelled))
    if let answer = taken.answer { return try answer.get() }
    return try await reader.value { self.dismiss(reader) }.get()
  }

  /// Drops what comes and does not fit into so much.
  @inlinable public func discard(beyond limit: Int) { state.withLock { $0.keeps = limit } }

  /// Drops what is there and what comes.
  @inlinable public func discard() {
    let makesSpace = state.withLock { state in
      state.keeps = 0
      state.arrived = []
      state.leaving = []
      state.weight = 0
      return state.freesProducer(limit)
    }
    if makesSpace { hasSpaceAgain() }
  }

  @usableFromInline func dismiss(_ reader: Reader) {
    let isThere = state.withLock { state in
      guard state.reader === reader else { return false }
      state.reader = nil
      return true
    }
    if isThere { reader.fulfill(.failure(.cancelled)) }
  }
}

extension Mailbox.State {
  @inlinable mutating func store(_ element: Element, _ rule: Mailbox<Element>.Rule) {
    let more = rule.weight(element)
    guard end == nil, keeps > 0, more <= keeps - weight else { return }
    weight += more
    if let join = rule.join, let last = arrived.indices.last, join(&arrived[last], element) {
      return
    }
    arrived.append(element)
  }

  /// Whether there is space; where there is none the producer is called when there is.
  @inlinable mutating func hasSpace(of limit: Int) -> Bool {
    isProducerHeld = weight >= limit
    return !isProducerHeld
  }

  /// Whether the producer waits, and half of the queue is free now.
  @inlinable mutating func freesProducer(_ limit: Int) -> Bool {
    guard isProducerHeld, weight <= limit / 2 else { return false }
    isProducerHeld = false
    return true
  }

  /// Takes the oldest element or the end: the only way out.
  @inlinable mutating func take(
    _ rule: Mailbox<Element>.Rule, _ limit: Int
  ) -> Mailbox<Element>.Taken {
    if leaving.isEmpty {
      swap(&arrived, &leaving)
      leaving.reverse()
    }
    guard let element = leaving.popLast() else {
      return .init(answer: end.map { $0.map { Element?.none } }, makesSpace: freesProducer(limit))
    }
    weight -= rule.weight(element)
    return .init(answer: .success(element), makesSpace: freesProducer(limit))
  }

  /// The answer of the reader that waits, where it is due.
  @inlinable mutating func delivery(
    atLeast least: Int, _ rule: Mailbox<Element>.Rule, _ limit: Int
  ) -> (reader: Mailbox<Element>.Reader, taken: Mailbox<Element>.Taken)? {
    guard weight >= least || end != nil, let waiting = reader else { return nil }
    reader = nil
    return (waiting, take(rule, limit))
  }

  /// Takes what there is, and whether its reader must give way before it goes on.
  @inlinable mutating func takeInARow(
    _ rule: Mailbox<Element>.Rule, _ limit: Int
  ) -> (Mailbox<Element>.Taken, mustGiveWay: Bool) {
    let taken = take(rule, limit)
    inARow = taken.answer == nil ? 0 : inARow + 1
    guard inARow >= rule.longestRow else { return (taken, false) }
    inARow = 0
    return (taken, true)
  }

  /// Takes what came meanwhile, or makes `newcomer` the reader that waits. A second reader sends
  /// the first away: one stream has one reader.
  @inlinable mutating func takeOrWait(
    _ newcomer: Mailbox<Element>.Reader, _ rule: Mailbox<Element>.Rule, _ limit: Int
  ) -> (Mailbox<Element>.Taken, sentAway: Mailbox<Element>.Reader?) {
    let taken = take(rule, limit)
    guard taken.answer == nil else { return (taken, nil) }
    defer { reader = newcomer }
    return (taken, reader)
  }
}
