import BridgeWaiting

/// The newest of a series of values, for many readers, without ever waiting for one.
package final class NewestValue<Value: Sendable & Equatable>: Sendable {
  private struct State {
    /// By reader: the value that it has not read yet.
    var unread: [Int: Value] = [:]
    var readers: Set<Int> = []
    var lastReader = 0
    var newest: Value?
    var isFinished = false
    private var waiting: [Int: WaitList<Value?>] = [:]

    /// The iterators of one reader that wait.
    subscript(callersOf reader: Int) -> WaitList<Value?> {
      get { waiting[reader] ?? WaitList() }
      set { waiting[reader] = readers.contains(reader) ? newValue : nil }
    }

    mutating func remove(_ reader: Int) {
      readers.remove(reader)
      (unread[reader], waiting[reader]) = (nil, nil)
    }
  }

  private let state = Mutex(State())

  /// A registration, for as long as it exists.
  package final class Reader: Sendable {
    private let values: NewestValue
    private let number: Int

    fileprivate init(_ values: NewestValue, _ number: Int) {
      self.values = values
      self.number = number
    }

    deinit { values.end(number) }

    /// The newest value that it has not read; nil behind the last one.
    package func next() async -> Value? { await values.next(number) }
  }

  /// Creates one without a value.
  package init() {}

  /// Whether a value would be read.
  var hasReaders: Bool { state.withLock { !$0.readers.isEmpty } }

  /// Registers a reader whose first value is `value`.
  package func subscribe(_ value: Value) -> Reader {
    // It is the newest one for all: a reader that is there already must not miss it.
    publish(value)
    let number = state.withLock { state in
      state.lastReader += 1
      state.readers.insert(state.lastReader)
      state.unread[state.lastReader] = state.newest ?? value
      return state.lastReader
    }
    return Reader(self, number)
  }

  /// Gives `value` to all readers, unless it is the newest one already.
  package func publish(_ value: Value) {
    let callers = state.withLock { state -> [WaitList<Value?>.Caller] in
      guard value != state.newest else { return [] }
      state.newest = value
      var callers: [WaitList<Value?>.Caller] = []
      for reader in state.readers {
        if let caller = state[callersOf: reader].takeFirst() {
          callers.append(caller)
        } else {
          state.unread[reader] = value
        }
      }
      return callers
    }
    for caller in callers { caller.resume(returning: value) }
  }

  /// Ends all sequences, each after its last value.
  package func finish() {
    let callers = state.withLock { state in
      state.isFinished = true
      return state.readers.flatMap { state[callersOf: $0].takeAll() }
    }
    for caller in callers { caller.resume(returning: nil) }
  }

  private func next(_ reader: Int) async -> Value? {
    await state.wait(in: \.[callersOf: reader], canceled: nil) { state in
      if let value = state.unread.removeValue(forKey: reader) { return .some(value) }
      return state.isFinished || !state.readers.contains(reader) ? .some(nil) : nil
    }
  }

  private func end(_ reader: Int) {
    state.withLock { $0.remove(reader) }
  }
}
