import BridgeErrors
import BridgeReactor

/// Everybody who waits for the connection. Being taken out is the one right to be answered.
struct CallerTable {
  struct Caller {
    let deadline: LoopTimer?
    /// Answers with a failure; success is answered by who has the value.
    let fail: (WebSocketFailure) -> Void
  }

  private var callers: [Int: Caller] = [:]
  private var last = 0

  mutating func nextID() -> Int {
    last += 1
    return last
  }

  mutating func insert(_ caller: Caller, as id: Int) { callers[id] = caller }

  /// Nil when somebody else was faster.
  mutating func take(_ id: Int) -> Caller? {
    let caller = callers.removeValue(forKey: id)
    caller?.deadline?.cancel()
    return caller
  }

  mutating func takeAll() -> [Caller] {
    defer { callers = [:] }
    for caller in callers.values { caller.deadline?.cancel() }
    return Array(callers.values)
  }
}
