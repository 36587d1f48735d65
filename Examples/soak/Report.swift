import BridgeErrors
import BridgeRecovery
import Foundation

/// The end of a soak: what was done, what it left behind, how long healing took.
struct Report: Codable, Sendable {
  var seed: UInt64
  var faults: Int
  var connections: Int
  var sshConnections: Int
  var seconds = 0.0
  var budget = Report.budgetText
  var ledger = Ledger()
  /// Errors by name.
  var errors: [String: Int] = [:]
  var recovery: [Row] = []
  /// Every promise that was not kept; empty is good.
  var broken: [String] = []

  static let budgetText =
    "policy .persistent; per host and port \(RecoveryDefaults.budgetTokens) tokens, "
    + "\(RecoveryDefaults.dialCost) a dial, one back in \(RecoveryDefaults.tokenInterval), "
    + "full after proof of life; breaker at \(RecoveryDefaults.restartIntensity) restarts in "
    + "\(RecoveryDefaults.restartPeriod)"

  struct Ledger: Codable, Sendable {
    /// Everything made, nothing connected; then all links up; then up after the faults; then shut
    /// down again.
    var before = Figures()
    var up = Figures()
    var upAfter = Figures()
    var after = Figures()
    /// Connection actors, each with its native session, still in memory.
    var sessionsLeft = 0
    /// Connections that servers and proxies still know.
    var peersLeft = 0
    /// The supervisor's events have ended: no child and no generation is left.
    var supervisorEnded = false
    /// The supervisor is gone from memory: no task holds it.
    var supervisorGone = false
    var mebibytesPerThousandFaults = 0.0
    /// Links up, and links that wait for a person, 60 s after the last fault or before.
    var linksUp = 0
    var linksWithPerson = 0
    var secondsToCalm = 0.0
    /// Refusals of a key that sshd has logged, connections that ended before a login by its log,
    /// and refusals that errors told of.
    var refusedCredentials = 0
    var unauthenticated = 0
    var refusalsTold = 0
    var refusedTwice = 0
    var lingeredGenerations = 0
    var missedEvents = 0
    /// Applications that were slow and had everything in the end.
    var slowReads = 0
    var operations = Operations.Count()
    /// The options that a person took, by name.
    var choices: [String: Int] = [:]
  }

  /// One kind of fault; times in milliseconds.
  struct Row: Codable, Sendable {
    var fault: String
    var healed: Int
    var unbroken: Int
    var persons: Int
    var detect: Spread
    var wait: Spread
    var dial: Spread
    var authenticate: Spread
    var resume: Spread
    var total: Spread
    /// How many recoveries took at most 10, 30, 100, 300 ms, 1, 3, 10, 30 s, and more.
    var histogram: [Int]

    static let bounds: [Double] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000]
  }

  struct Spread: Codable, Sendable {
    var median: Double
    var p95: Double
    var most: Double

    init(_ times: [Duration]) {
      let sorted = times.map { ($0 / .microseconds(100)).rounded() / 10 }.sorted()
      func at(_ share: Double) -> Double {
        sorted.isEmpty ? 0 : sorted[Int((Double(sorted.count - 1) * share).rounded())]
      }
      (median, p95, most) = (at(0.5), at(0.95), at(1))
    }
  }
}

extension Report.Row {
  init(_ havoc: String, _ outcomes: Outcomes) {
    let healed = outcomes.healed
    let totals = healed.map { $0.total / .milliseconds(1) }
    fault = havoc
    self.healed = healed.count
    unbroken = outcomes.unbroken
    persons = outcomes.persons
    detect = .init(healed.map(\.detect))
    wait = .init(healed.map(\.wait))
    dial = .init(healed.map(\.dial))
    authenticate = .init(healed.map(\.authenticate))
    resume = .init(healed.map(\.resume))
    total = .init(healed.map(\.total))
    histogram = Array(repeating: 0, count: Self.bounds.count + 1)
    for total in totals {
      histogram[Self.bounds.firstIndex { total <= $0 } ?? Self.bounds.count] += 1
    }
  }
}

extension Report {
  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  var text: String {
    (ledgerLines + [""] + tableLines + [""] + histogramLines + [""] + [errorLine, result])
      .joined(separator: "\n")
  }

  private var ledgerLines: [String] {
    func line(_ name: String, _ value: (Figures) -> Int) -> String {
      let figures = [ledger.before, ledger.up, ledger.upAfter, ledger.after]
      return name.padded(24) + figures.map { "\(value($0))".leading(11) }.joined()
    }
    let slope = String(format: "%.2f", ledger.mebibytesPerThousandFaults)
    return [
      "ledger".padded(24) + ["before", "up", "up after", "after"].map { $0.leading(11) }.joined(),
      line("descriptors", \.openDescriptors), line("threads", \.threads),
      line("resident, KiB") { $0.resident / 1_024 },
      "memory: \(slope) MiB a thousand faults",
      "left after shutdown: \(ledger.sessionsLeft) sessions, \(ledger.peersLeft) connections of "
        + "peers; supervisor ended: \(ledger.supervisorEnded), gone: \(ledger.supervisorGone)",
      "links: \(ledger.linksUp) up, \(ledger.linksWithPerson) wait for a person, "
        + "\(String(format: "%.1f", ledger.secondsToCalm)) s after the last fault",
      "credentials refused: \(ledger.refusedCredentials) by sshd, \(ledger.refusalsTold) told, "
        + "offered again: \(ledger.refusedTwice); slow teardowns: \(ledger.lingeredGenerations); "
        + "missed events: \(ledger.missedEvents)",
      "slow applications: \(ledger.slowReads); operations: \(ledger.operations.done) done and "
        + "\(ledger.operations.failed) failed in \(ledger.operations.attempts) runs; options "
        + "chosen: \(ledger.choices.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })",
    ]
  }

  private var tableLines: [String] {
    let columns = ["detect", "wait", "dial", "auth", "resume", "total", "p95", "most"]
    let head =
      "recovery, ms (median)".padded(24)
      + ["healed", "unbrk", "person"].map { $0.leading(7) }.joined()
      + columns.map { $0.leading(9) }.joined()
    return [head]
      + recovery.map { row in
        let times = [
          row.detect.median, row.wait.median, row.dial.median, row.authenticate.median,
          row.resume.median, row.total.median, row.total.p95, row.total.most,
        ]
        return row.fault.padded(24)
          + [row.healed, row.unbroken, row.persons].map { "\($0)".leading(7) }.joined()
          + times.map { String(format: "%.1f", $0).leading(9) }.joined()
      }
  }

  private var histogramLines: [String] {
    let names = ["10 ms", "30 ms", "100 ms", "300 ms", "1 s", "3 s", "10 s", "30 s", "more"]
    return ["recoveries within".padded(24) + names.map { $0.leading(8) }.joined()]
      + recovery.map { row in
        row.fault.padded(24)
          + row.histogram.map { ($0 == 0 ? "·" : "\($0)").leading(8) }.joined()
      }
  }

  private var errorLine: String {
    let counted = errors.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "errors, all typed unless said below: " + counted.joined(separator: ", ")
  }

  private var result: String {
    broken.isEmpty
      ? "soak clean: \(faults) faults over \(connections) links"
      : broken.map { "BROKEN: " + $0 }.joined(separator: "\n")
  }
}

extension String {
  fileprivate func padded(_ width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }

  fileprivate func leading(_ width: Int) -> String {
    String(repeating: " ", count: max(1, width - count)) + self
  }
}
