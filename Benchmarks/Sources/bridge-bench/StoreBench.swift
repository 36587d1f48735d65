import BridgeErrors
import BridgeStore
import BridgeStorePostgres
import BridgeStoreSQLite

/// One run of `bridge-bench store`: what a commit that is on disk costs among others.
struct StoreBench {
  private let place: String
  private let callers: Int
  private let count: Int

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 4, arguments[0] == "store", let callers = Int(arguments[2]),
      let count = Int(arguments[3]), callers > 0, count > 0
    else { return nil }
    (place, self.callers, self.count) = (arguments[1], callers, count)
  }

  func callAsFunction() async throws {
    let store: any AgentStore =
      if place.contains("=") {
        try await PostgresStore(Secret(place))
      } else {
        try await SQLiteStore(at: place)
      }
    var leases: [AgentLease] = []
    for caller in 0..<callers {
      leases.append(try await store.acquire("\(caller)", for: "bench", lasting: .seconds(3600)))
    }
    let watch = Stopwatch()
    let each = count / callers
    let times = try await withThrowingTaskGroup { group in
      for lease in leases {
        group.addTask {
          var times: [Double] = []
          for number in 0..<each {
            let start = ContinuousClock.now
            try await store.write(changes(number), under: lease)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
          }
          return times
        }
      }
      return try await group.reduce(into: [Double]()) { $0 += $1 }
    }
    let figures = watch.figures
    await store.close()
    let sample = Sample(times)
    report(
      [("commits", Double(sample.count)), ("per_second", Double(sample.count) / figures[0].1)]
        + sample.figures + figures)
  }

  /// A message with the point behind it; the one before has arrived.
  private func changes(_ number: Int) throws(AppError) -> [StoreChange] {
    [
      .send(OutboxMessage(id: "\(number)", text: String(repeating: "x", count: 200))),
      .commit(effect: "chat", point: try StoredValue(encoding: number)),
      .delivered(id: "\(number - 1)"),
    ]
  }
}
