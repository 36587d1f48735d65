/// Everybody who waits for a connection. Being taken out is the one right to be answered.
///
/// On the reactor's thread only, where the deadlines are counted.
package struct CallerTable<Failure: Error> {
  /// One who waits.
  package struct Caller {
    fileprivate let deadline: LoopTimer?
    /// Answers with a failure; success is answered by who has the value.
    package let fail: (Failure) -> Void

    /// Waits until taken out; `deadline` is cancelled then.
    package init(deadline: LoopTimer?, fail: @escaping (Failure) -> Void) {
      self.deadline = deadline
      self.fail = fail
    }
  }

  private var callers: [Int: Caller] = [:]
  private var last = 0

  /// Nobody waits.
  package init() {}

  /// A number that was never given out before.
  package mutating func nextID() -> Int {
    last += 1
    return last
  }

  /// Lets `caller` wait as `id`.
  package mutating func insert(_ caller: Caller, as id: Int) { callers[id] = caller }

  /// Takes out who waits as `id`; nil when somebody else was faster.
  package mutating func take(_ id: Int) -> Caller? {
    let caller = callers.removeValue(forKey: id)
    caller?.deadline?.cancel()
    return caller
  }

  /// Takes out everybody, in the order in which they were numbered.
  package mutating func takeAll() -> [Caller] {
    defer { callers = [:] }
    let all = callers.sorted { $0.key < $1.key }.map(\.value)
    for caller in all { caller.deadline?.cancel() }
    return all
  }
}
