import BridgeErrors
import BridgeFaults
import BridgeStore

/// An agent of the soak: which program it is, where it runs, and how it is to end.
struct AgentPlan: Codable, Sendable, Hashable {
  /// Its name in the store, at the chat and in its files.
  var name: String
  /// The machine, as the hosts' ssh_config names it.
  var machine: String
  /// How many lines it prints, unless all agents are to end earlier.
  var lines: Int
  /// Between two lines, in seconds.
  var pace: Double
  /// Of how many lines one is a question, on average; 0 for an agent to which its host writes.
  var questions: Int
  var status: UInt8
  var seed: UInt64

  /// Under which name the store has it.
  static let effect = "plan"

  /// Whether its hosts write to it by themselves.
  var isWrittenTo: Bool { questions == 0 }

  /// The agent with this number.
  init(number: Int, options: SoakOptions, machines: Int) {
    var generator = SplitMix64(seed: options.seed &* 1_000_003 &+ UInt64(number))
    name = "agent-\(number)"
    machine = "machine-\(number % machines)"
    pace = Double.random(in: 0.15...0.25, using: &generator)
    // Some end in each minute, and some last.
    lines = Int.random(in: options.agentLines, using: &generator)
    questions = number % 5 == 4 ? 0 : 40
    status = UInt8.random(in: 0...100, using: &generator)
    seed = generator.next()
  }

  /// For the user's shell on its machine.
  func command(program: String, folder: String) -> String {
    "exec /usr/bin/python3 '\(program)' \(name) \(lines) \(pace) \(questions) \(status) \(seed) "
      + "'\(folder)'"
  }

  /// Makes it known to all hosts of a store: the first of them starts its program.
  func add(to store: some AgentStore) async throws(AppError) {
    let lease = try await store.acquire(name, for: "soak", lasting: .seconds(60))
    let session = StoredSession(machine: machine, session: "\(Self.id(seed))")
    try await store.write(
      [.session(session), .commit(effect: Self.effect, point: try StoredValue(encoding: self))],
      under: lease)
    try await store.release(lease)
  }

  /// Two halves of 64 bits each, as an identifier is written.
  private static func id(_ seed: UInt64) -> String {
    var generator = SplitMix64(seed: seed)
    return (0..<2).map { _ in
      let digits = String(generator.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}
