import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// The messages that wait to be written: filled anywhere, emptied on the reactor.
///
/// A lock and not actor state: a sender that has space neither hops nor suspends, and many messages
/// share one wake of the loop. A full queue holds its senders back until half of it is written.
final class SendQueue: Sendable {
  /// A frame to come.
  struct Entry: Sendable {
    /// Which kind of frame, and for a ping which one.
    enum Kind: Sendable, Equatable {
      case text
      case binary
      case ping(Int)
    }

    var kind: Kind
    /// The payload, after the padding that the library requires in front of it.
    var bytes: [UInt8]

    /// Whether it is data, and not a frame of the protocol's own.
    var isMessage: Bool {
      switch kind {
      case .text, .binary: true
      case .ping: false
      }
    }
  }

  typealias Answer = Result<Void, AppError>

  fileprivate struct Waiter {
    let id: Int
    let entry: Entry
    let caller: Promise<Answer>
  }

  fileprivate struct State {
    var entries: [Entry?] = []
    var first = 0
    var weight = 0
    var waiters: [Waiter] = []
    var lastID = 0
    var isWakePending = false
    /// Nil before the connection is there.
    var wake: (@Sendable () -> Void)?
    var end: AppError?
  }

  private let state = Mutex(State())
  private let limit: Int

  /// Holds `limit` bytes before it is full, or one message that is longer.
  init(limit: Int) {
    self.limit = limit
  }

  /// Messages are taken from now on; `wake` is called when there is something to write.
  func open(wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wake = wake }
  }

  /// Queues `entry`, as soon as there is space.
  ///
  /// - Throws: what ended the connection; `cancelled`, and then the message is not sent.
  func send(_ entry: Entry) async throws(AppError) {
    if let answer = offer(entry) { return try answer.get() }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let caller = Promise<Answer>()
    wait(caller, with: entry, id: id)
    try await caller.value { self.cancel(id) }.get()
  }

  /// How many entries wait.
  var count: Int { state.withLock { $0.entries.count - $0.first } }

  /// The next entry in order; nil when there is none. The caller writes it.
  func take() -> Entry? {
    let (entry, freed) = state.withLock { state -> (Entry?, [Waiter]) in
      guard state.first < state.entries.count else {
        state.isWakePending = false
        return (nil, [])
      }
      let entry = state.entries[state.first].take()
      state.first += 1
      state.weight -= entry?.bytes.count ?? 0
      state.tidy()
      return (entry, state.weight <= limit / 2 ? admit(&state) : [])
    }
    for waiter in freed { waiter.caller.fulfill(.success(())) }
    return entry
  }

  /// Queues `ping` behind every message that was taken, full or not: one that asks takes no more
  /// than a message of its own would.
  ///
  /// - Throws: what ended the connection.
  func append(ping: Entry) throws(AppError) {
    let answer = state.withLock { state -> Result<(@Sendable () -> Void)?, AppError> in
      if let end = state.end { return .failure(end) }
      guard let wake = state.wake else { return .failure(Self.notConnected) }
      state.append(ping)
      return .success(state.needsWake() ? wake : nil)
    }
    try answer.get()?()
  }

  /// Takes nothing any more: senders, also those that wait for space, fail with `error`. What was
  /// taken is still written.
  func close(_ error: AppError) {
    let (waiters, reason) = state.withLock { state -> ([Waiter], AppError) in
      let reason = state.end ?? error
      state.end = reason
      defer { state.waiters = [] }
      return (state.waiters, reason)
    }
    for waiter in waiters { waiter.caller.fulfill(.failure(reason)) }
  }

  /// Closes it likewise and drops what was not written: so many messages.
  func end(_ error: AppError) -> Int {
    close(error)
    return state.withLock { state in
      let left = state.entries[state.first...].count { $0?.isMessage == true }
      state.entries = []
      state.first = 0
      state.weight = 0
      state.wake = nil
      return left
    }
  }

  /// The answer, where none has to be waited for.
  private func offer(_ entry: Entry) -> Answer? {
    let (answer, wake) = state.withLock { state -> (Answer?, (@Sendable () -> Void)?) in
      if let end = state.end { return (.failure(end), nil) }
      guard let wake = state.wake else { return (.failure(Self.notConnected), nil) }
      guard state.waiters.isEmpty, state.weight < limit else { return (nil, nil) }
      state.append(entry)
      return (.success(()), state.needsWake() ? wake : nil)
    }
    wake?()
    return answer
  }

  private func wait(_ caller: Promise<Answer>, with entry: Entry, id: Int) {
    let (answer, wake) = state.withLock { state -> (Answer?, (@Sendable () -> Void)?) in
      if Task.isCancelled { return (.failure(.cancelled), nil) }
      if let end = state.end { return (.failure(end), nil) }
      guard state.waiters.isEmpty, state.weight < limit else {
        state.waiters.append(Waiter(id: id, entry: entry, caller: caller))
        return (nil, nil)
      }
      state.append(entry)
      return (.success(()), state.needsWake() ? state.wake : nil)
    }
    if let answer { caller.fulfill(answer) }
    wake?()
  }

  private func cancel(_ id: Int) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      return state.waiters.remove(at: index)
    }
    waiter?.caller.fulfill(.failure(.cancelled))
  }

  /// Lets waiting senders in, in order, as far as there is space.
  private func admit(_ state: inout State) -> [Waiter] {
    var admitted = 0
    while admitted < state.waiters.count, state.weight < limit {
      state.append(state.waiters[admitted].entry)
      admitted += 1
    }
    defer { state.waiters.removeFirst(admitted) }
    return Array(state.waiters.prefix(admitted))
  }

  private static let notConnected = AppError.internalError(
    detail: "A message was sent before the connection was up.")
}

extension SendQueue.State {
  fileprivate mutating func append(_ entry: SendQueue.Entry) {
    entries.append(entry)
    weight += entry.bytes.count
  }

  /// Whether the loop must be notified; once, until it has found the queue empty.
  fileprivate mutating func needsWake() -> Bool {
    defer { isWakePending = true }
    return !isWakePending
  }

  fileprivate mutating func tidy() {
    if first == entries.count {
      entries.removeAll(keepingCapacity: true)
      first = 0
    } else if first >= 256, first * 2 >= entries.count {
      entries.removeFirst(first)
      first = 0
    }
  }
}
