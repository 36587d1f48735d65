/// What the arguments mean.
struct SoakOptions: Sendable {
  /// How many faults.
  var faults = 1_000
  /// Over how many links, at least two.
  var connections = 16
  /// Over how many durable sessions at a time, instead of links; 0 for links.
  var sessions = 0
  /// How many agents at a time, on so many agent hosts, instead of links; 0 for links.
  var agents = 0
  var hosts = 3
  /// The seed of all random numbers.
  var seed: UInt64 = 1
  /// How long the faults may take in all; they come every few seconds on each link, or
  /// spread over four fifths of it.
  var minutes: Double { givenMinutes ?? (agents > 0 ? 30 : 10) }
  private var givenMinutes: Double?
  /// One JSON object instead of tables.
  var isJSON = false

  static let usage =
    "usage: soak [--faults N] [--connections M | --sessions M | --agents M [--hosts H]] [--seed S] "
    + "[--minutes T] [--json]"

  init?(_ words: [String]) {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--json" {
        isJSON = true
        continue
      }
      guard let value = rest.popFirst(), take(word, value) else { return nil }
    }
    guard faults > 0, (2...256).contains(connections), (0...256).contains(sessions),
      (0...256).contains(agents), (2...16).contains(hosts), minutes > 0, minutes <= 1_440
    else {
      return nil
    }
  }

  /// How many lines an agent prints, five a second: in a short soak some are to end, too.
  var agentLines: ClosedRange<Int> { faults < 100 ? 60...400 : 300...2_000 }

  private mutating func take(_ word: String, _ value: String) -> Bool {
    switch word {
    case "--faults": Self.set(&faults, Int(value))
    case "--connections": Self.set(&connections, Int(value))
    case "--sessions": Self.set(&sessions, Int(value).flatMap { $0 > 0 ? $0 : nil })
    case "--agents": Self.set(&agents, Int(value).flatMap { $0 > 0 ? $0 : nil })
    case "--hosts": Self.set(&hosts, Int(value))
    case "--seed": Self.set(&seed, UInt64(value))
    case "--minutes": Self.set(&givenMinutes, Double(value))
    default: false
    }
  }

  private static func set(_ field: inout Double?, _ value: Double?) -> Bool {
    field = value
    return value != nil
  }

  private static func set<Value>(_ field: inout Value, _ value: Value?) -> Bool {
    guard let value else { return false }
    field = value
    return true
  }
}
