import Foundation

/// The end of a soak of agent hosts.
struct AgentReport: Codable, Sendable {
  struct Takeover: Codable, Sendable {
    var count = 0
    var median = 0.0
    var longest = 0.0

    init(_ times: [Double]) {
      (count, median, longest) = (times.count, Takeovers.median(times), times.max() ?? 0)
    }
  }

  var seed: UInt64
  var agents: Int
  var hosts: Int
  var faults = 0
  var kinds: [String: Int] = [:]
  var seconds = 0.0
  /// All agents that were started, one after another in the place of those that ended.
  var started = 0
  var lines = 0
  var duplicates = 0
  var questions = 0
  var answers = 0
  var alone = Takeover([])
  var amid = Takeover([])
  /// Takeovers that took too long.
  var late: [String] = []
  var frozenWithoutTakeover = 0
  /// Processes of agent hosts, and the most memory that one had, in MiB.
  var lives = 0
  var peakMebibytes = 0.0
  /// Descriptors that each host had open in the end.
  var descriptorsOfHosts: [Int] = []
  var before = Figures()
  var after = Figures()
  var processesLeft: [String] = []
  var broken: [String] = []

  /// With fewer faults the times say how busy the machine is.
  static let leastFaultsForTimes = 100
  static let longestTakeover = 3.0
  static let medianTakeover = 1.5
  static let mostMebibytes = 256.0
  static let mostDescriptors = 64

  /// Adds every promise that the figures break.
  mutating func evaluate(_ wanted: Int) {
    promise("all faults were made", faults == wanted)
    if wanted >= Self.leastFaultsForTimes {
      promise("another host carries a line within 3 s", alone.longest <= Self.longestTakeover)
      promise("half of the agents within 1.5 s", alone.median <= Self.medianTakeover)
    }
    promise("a host needs no more than 256 MiB", peakMebibytes <= Self.mostMebibytes)
    promise(
      "no host has more than 64 descriptors",
      descriptorsOfHosts.allSatisfy { $0 <= Self.mostDescriptors })
    promise("descriptors are back", after.descriptors == before.descriptors)
    promise("nothing is left running", processesLeft.isEmpty)
  }

  private mutating func promise(_ words: String, _ isKept: Bool) {
    if !isKept { broken.append(words) }
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  var text: String {
    func rounded(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
    func words(_ takeover: Takeover) -> String {
      "\(takeover.count), median \(rounded(takeover.median)) s, "
        + "longest \(rounded(takeover.longest)) s"
    }
    func words(_ figures: Figures) -> String {
      let kinds = figures.descriptors.sorted { $0.key < $1.key }
      return kinds.map { "\($0.value) \($0.key)" }.joined(separator: " ")
    }
    let outcome =
      broken.isEmpty ? "soak clean" : "soak BROKEN (\(broken.count))"
    let end = "\(outcome): \(faults) faults over \(agents) agents on \(hosts) hosts"
    return
      (kinds.sorted { $0.value > $1.value }.map { "\($0.value)  \($0.key)" }
      + [
        "\(started) agents in \(rounded(seconds)) s: \(lines) lines, \(duplicates) came again "
          + "under their id",
        "\(questions) questions, each decided once and read once; \(answers) answers of people",
        "takeovers of hosts struck alone: \(words(alone))",
        "takeovers amid other faults: \(words(amid)); "
          + "\(frozenWithoutTakeover) frozen agents stayed",
        "\(lives) processes of agent hosts, \(rounded(peakMebibytes)) MiB at most; "
          + "descriptors in the end: \(descriptorsOfHosts)",
        "descriptors before \(words(before)), after \(words(after))",
        "left: \(processesLeft.count) processes",
      ] + late + processesLeft + broken.map { "BROKEN: \($0)" } + [end]).joined(separator: "\n")
  }
}
