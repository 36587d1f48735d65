/// Pending callers of a connection. The code that removes an entry resumes it, exactly once.
///
/// On the reactor's thread only, where the deadlines are counted.
package struct CallerTable<Failure: Error> {
  /// One pending caller.
  package struct Caller {
    fileprivate let deadline: LoopTimer?
    /// Resumes with a failure; a success is resumed by the code that has the value.
    package let fail: (Failure) -> Void

    /// Waits until taken out; `deadline` is canceled then.
    package init(deadline: LoopTimer?, fail: @escaping (Failure) -> Void) {
      self.deadline = deadline
      self.fail = fail
    }
  }

  private var callers: [Int: Caller] = [:]
  private var last = 0

  /// An empty table.
  package init() {}

  /// A number that was never given out before.
  package mutating func nextID() -> Int {
    last += 1
    return last
  }

  /// Lets `caller` wait as `id`.
  package mutating func insert(_ caller: Caller, as id: Int) { callers[id] = caller }

  /// Whether the caller `id` still waits.
  package func isWaiting(_ id: Int) -> Bool { callers[id] != nil }

  /// Removes the caller `id`; nil when it was removed before.
  package mutating func take(_ id: Int) -> Caller? {
    let caller = callers.removeValue(forKey: id)
    caller?.deadline?.cancel()
    return caller
  }

  /// Removes all callers, in the order of their numbers.
  package mutating func takeAll() -> [Caller] {
    defer { callers = [:] }
    let all = callers.sorted { $0.key < $1.key }.map(\.value)
    for caller in all { caller.deadline?.cancel() }
    return all
  }
}
