import BridgeErrors

/// What a host knows of its store: whether it answers, and its last problem.
///
/// It has no clock: instants are given, as times since one that stays.
struct StoreWatch: Sendable {
  /// A time in which the store could not be used.
  struct Problem: Sendable, Equatable {
    /// The newest error.
    var error: AppError
    let since: Duration
    /// When it answered again; nil while it does not.
    var end: Duration?
  }

  /// The last problem; nil where there was none.
  private(set) var problem: Problem?
  /// When the requests were made that have no answer, by number.
  private var asked: [Int: Duration] = [:]
  private var lastNumber = 0

  /// A request is made; returns its number.
  mutating func ask(at now: Duration) -> Int {
    lastNumber += 1
    asked[lastNumber] = now
    return lastNumber
  }

  /// A request has its answer; `error` where that is one.
  mutating func answer(_ number: Int, _ error: AppError?, at now: Duration) {
    asked[number] = nil
    switch error {
    case .cancelled: return
    case .storeUnusable, .databaseError: fail(error ?? .cancelled, at: now)
    case nil, .some: if problem?.end == nil { problem?.end = now }
    }
  }

  /// Since when a request has waited for its answer, where that is longer than `limit`.
  func silence(longerThan limit: Duration, at now: Duration) -> Duration? {
    asked.values.min().flatMap { now - $0 > limit ? $0 : nil }
  }

  private mutating func fail(_ error: AppError, at now: Duration) {
    if problem?.end == nil, problem != nil {
      problem?.error = error
    } else {
      problem = Problem(error: error, since: now)
    }
  }
}
