import BridgeErrors

/// Requests in the order in which they came, and which of them join the next transaction.
///
/// While one transaction is made, the requests of all callers gather for the next one: the disk is
/// waited for once for all of them, and a store that is idle makes no caller wait.
struct RequestLine: Sendable {
  /// A request and its number, which grows with each.
  struct Entry: Sendable, Equatable {
    var number: Int
    var request: StoreRequest
  }

  /// Whether a request was taken.
  enum Admission: Sendable, Equatable {
    /// It was; a worker is at work, and comes to it.
    case taken(Int)
    /// It was; a worker has to begin.
    case first(Int)
    /// As many as may wait do.
    case full
    /// The store is closed.
    case closed
  }

  private enum Phase: Sendable, Equatable {
    case idle
    case working
    /// Takes no more; what was taken is done.
    case closing(isWorking: Bool)
  }

  private let limits: StoreLimits
  private var phase = Phase.idle
  private var waiting: ArraySlice<Entry> = []
  /// What the worker was given and has not finished.
  private var begun: [Entry] = []
  private var bytes = 0
  private var last = 0

  /// No request.
  init(_ limits: StoreLimits) { self.limits = limits }

  /// Takes a request, where there is space.
  mutating func append(_ request: StoreRequest) -> Admission {
    if case .closing = phase { return .closed }
    let size = request.size
    // One that is larger than all the space comes through where it is alone.
    let isAlone = waiting.isEmpty && begun.isEmpty
    guard isAlone || waiting.count < limits.requests && bytes + size <= limits.bytes else {
      return .full
    }
    last += 1
    bytes += size
    waiting.append(Entry(number: last, request: request))
    guard phase == .idle else { return .taken(last) }
    phase = .working
    return .first(last)
  }

  /// The requests of the next transaction, or again those that were not finished; none ends the
  /// work until `append` begins it again.
  mutating func next() -> [Entry] {
    if begun.isEmpty {
      begun = Array(waiting.prefix(limits.batch))
      waiting = waiting.dropFirst(begun.count)
    }
    guard begun.isEmpty else { return begun }
    phase = if case .closing = phase { .closing(isWorking: false) } else { .idle }
    return []
  }

  /// What the worker was given was answered.
  mutating func finish() {
    for entry in begun { bytes -= entry.request.size }
    begun = []
  }

  /// Gives up all requests: those that were begun, then those that wait. A worker may wait for
  /// long before it tries again: the next request wakes it.
  mutating func giveUp() -> (begun: [Entry], waiting: [Entry]) {
    defer { (begun, waiting, bytes) = ([], [], 0) }
    phase = if case .closing = phase { .closing(isWorking: false) } else { .idle }
    return (begun, Array(waiting))
  }

  /// Takes no more requests.
  mutating func close() {
    switch phase {
    case .idle: phase = .closing(isWorking: false)
    case .working: phase = .closing(isWorking: true)
    case .closing: break
    }
  }

  /// Whether it was closed and nothing is left to do.
  var isOver: Bool { phase == .closing(isWorking: false) }
}
