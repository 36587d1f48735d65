import Metrics

/// The metrics of one reporter, each made when it is first needed.
struct Meters {
  private struct Key: Hashable {
    var name: String
    var labels: [String]
  }

  private let factory: any MetricsFactory
  private var counters: [Key: Counter] = [:]
  private var timers: [Key: Timer] = [:]
  private var gauges: [Key: Gauge] = [:]

  init(_ factory: any MetricsFactory) { self.factory = factory }

  mutating func count(_ name: String, _ labels: [(String, String)] = [], by number: Int = 1) {
    let key = Self.key(name, labels)
    let counter =
      counters[key] ?? Counter(label: name, dimensions: labels, factory: factory)
    counters[key] = counter
    counter.increment(by: number)
  }

  mutating func time(_ name: String, _ duration: Duration, _ labels: [(String, String)] = []) {
    let key = Self.key(name, labels)
    let timer = timers[key] ?? Timer(label: name, dimensions: labels, factory: factory)
    timers[key] = timer
    let (seconds, attoseconds) = duration.components
    timer.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }

  mutating func set(_ name: String, _ labels: [(String, String)] = [], to value: Int) {
    let key = Self.key(name, labels)
    let gauge = gauges[key] ?? Gauge(label: name, dimensions: labels, factory: factory)
    gauges[key] = gauge
    gauge.record(value)
  }

  private static func key(_ name: String, _ labels: [(String, String)]) -> Key {
    Key(name: name, labels: labels.flatMap { [$0.0, $0.1] })
  }
}
