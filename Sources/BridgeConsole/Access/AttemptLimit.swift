/// How often each address may present a token that is none.
struct AttemptLimit: Sendable {
  private struct Budget {
    var left: Double
    var at: ContinuousClock.Instant
  }

  /// Seconds until an attempt is allowed again.
  static let refill = 6.0
  /// Addresses that are remembered: with more, the one that was quiet the longest is forgotten.
  static let addresses = 1024

  private let capacity: Double
  private var budgets: [String: Budget] = [:]

  init(_ attempts: Int) { capacity = Double(max(1, attempts)) }

  /// How many seconds this address has to wait; nil where it may try.
  func wait(of address: String, at now: ContinuousClock.Instant) -> Int? {
    let left = left(of: address, at: now)
    return left >= 1 ? nil : Int((1 - left) * Self.refill) + 1
  }

  /// Counts an attempt that failed.
  mutating func fail(_ address: String, at now: ContinuousClock.Instant) {
    budgets[address] = Budget(left: max(0, left(of: address, at: now) - 1), at: now)
    guard budgets.count > Self.addresses else { return }
    let oldest = budgets.min { $0.value.at < $1.value.at }
    if let oldest { budgets[oldest.key] = nil }
  }

  private func left(of address: String, at now: ContinuousClock.Instant) -> Double {
    guard let budget = budgets[address] else { return capacity }
    return min(capacity, budget.left + (now - budget.at) / .seconds(Self.refill))
  }
}
