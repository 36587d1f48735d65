import Foundation

/// Wall time (monotonic) and processor time of this process since it was made.
struct Stopwatch {
  private let start = ContinuousClock.now
  private let processorStart = clock()

  /// Stops the watch.
  var stopped: (wall: Double, processor: Double) { (wall, processor) }

  /// Seconds of wall time.
  var wall: Double { (ContinuousClock.now - start) / .seconds(1) }

  /// Seconds of processor time, all threads, user and system: clock(3).
  var processor: Double { Double(clock() - processorStart) / Double(CLOCKS_PER_SEC) }

  /// The fields of every mode.
  var figures: [(String, Double)] { [("wall", wall), ("cpu", processor)] }

  /// The fields of a mode that moves so many bytes.
  func figures(moving bytes: Int) -> [(String, Double)] {
    [("bytes", Double(bytes)), ("MBps", Double(bytes) / wall / 1e6)] + figures
  }
}

/// Durations in milliseconds, summed up.
struct Sample {
  private let sorted: [Double]

  init(_ milliseconds: [Double]) {
    sorted = milliseconds.sorted()
  }

  var count: Int { sorted.count }

  /// The value below which this share of the sample lies; 0 for an empty one.
  func quantile(_ share: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  var figures: [(String, Double)] {
    [("median_ms", quantile(0.5)), ("max_ms", quantile(1))]
  }
}

/// Prints the one JSON line.
func report(_ figures: [(String, Double)]) {
  let fields = figures.map { name, value in
    let isWhole = value == value.rounded() && abs(value) < 1e15
    return "\"\(name)\":\(isWhole ? "\(Int(value))" : String(format: "%.4f", value))"
  }
  print("{\(fields.joined(separator: ","))}")
}
