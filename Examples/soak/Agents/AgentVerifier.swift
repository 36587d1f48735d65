import Foundation

/// A message of the chat's record: `TIME ID AGENT FENCE HOST CONTENT`, with tabs between.
struct ChatEntry: Codable, Sendable, Hashable {
  /// When it came, in seconds since 1970.
  var time: Double
  var id: String
  var agent: String
  /// The lease under which its host carried the agent.
  var fence: Int64
  /// The process of the agent host.
  var host: String
  /// `line N`, `ask N` for a question, or `end WORDS`.
  var content: String

  init(
    time: Double, id: String, agent: String, fence: Int64, host: String, content: String
  ) {
    (self.time, self.id, self.agent, self.fence) = (time, id, agent, fence)
    (self.host, self.content) = (host, content)
  }

  /// Nil for a line that is none, as the last one of a chat that was killed.
  init?(_ line: some StringProtocol) {
    let fields = line.split(separator: "\t", maxSplits: 5, omittingEmptySubsequences: false)
    guard fields.count == 6, let time = Double(fields[0]), let fence = Int64(fields[3]) else {
      return nil
    }
    self.init(
      time: time, id: String(fields[1]), agent: String(fields[2]), fence: fence,
      host: String(fields[4]), content: String(fields[5]))
  }
}

/// What is known at the end of each agent, beside the chat's record.
struct AgentFacts: Codable, Sendable {
  var name: String
  /// How many lines it has printed; nil where it has not ended.
  var printed: Int?
  var status: UInt8
  /// How often its program was started.
  var starts: Int
  /// The lines that it read, in order.
  var input: [String]
  /// Its end as the store has it.
  var storedEnd: String?
  /// The questions that the store has, by their number: the option that was decided, once the agent
  /// has it.
  var delivered: [Int: String]
}

/// The answer that a person received.
struct PersonAnswer: Codable, Sendable, Hashable {
  var agent: String
  var question: Int
  var person: String
  /// The option that is decided.
  var option: String
  /// Whether it was this answer that decided.
  var isDecision: Bool
  /// Whether an earlier try of it failed, and may have decided.
  var isRetried = false
}

/// Compares what came to the chat, what people were told and what agents read.
struct AgentVerifier: Sendable {
  private struct Agent: Sendable {
    /// The ids of its lines by number, from 1, as hashes: there are hundreds of thousands.
    var ids: [Int] = []
    var questions: Set<Int> = []
    var end: String?
    var endID: String?
    var last: ChatEntry?
  }

  private var agents: [String: Agent] = [:]
  /// Bounded.
  private(set) var broken: [String] = []
  private(set) var lines = 0
  private(set) var duplicates = 0

  static let limit = 50

  private mutating func breaks(_ words: String) {
    if broken.count < Self.limit { broken.append(words) }
  }

  /// The agents whose end came.
  var ended: Set<String> { Set(agents.filter { $0.value.end != nil }.keys) }

  /// The newest message of each agent that has not ended.
  var running: [ChatEntry] { agents.values.compactMap { $0.end == nil ? $0.last : nil } }

  // MARK: The chat

  /// Takes the next message of the chat's record.
  mutating func take(_ entry: ChatEntry) {
    var agent = agents[entry.agent, default: Agent()]
    agent.last = entry
    let words = entry.content.split(separator: " ", maxSplits: 1).map(String.init)
    switch words.first {
    case "line", "ask":
      let number = words.count == 2 ? Int(words[1]) ?? 0 : 0
      take(entry, number, of: &agent)
      if words[0] == "ask" { agent.questions.insert(number) }
    case "end": takeEnd(entry, of: &agent)
    default: breaks("\(entry.agent): the chat has \(entry.content) at \(entry.time)")
    }
    agents[entry.agent] = agent
  }

  private mutating func take(_ entry: ChatEntry, _ number: Int, of agent: inout Agent) {
    if number == agent.ids.count + 1 {
      lines += 1
      if agent.end != nil { breaks("\(entry.agent): line \(number) came behind its end") }
      return agent.ids.append(entry.id.hashValue)
    }
    guard number > 0, number <= agent.ids.count else {
      breaks(
        "\(entry.agent): line \(number) came behind line \(agent.ids.count): by \(entry.host), "
          + "id \(entry.id), at \(entry.time)")
      // What was lost is said once.
      while agent.ids.count < number - 1 { agent.ids.append(0) }
      if number > 0 { agent.ids.append(entry.id.hashValue) }
      return
    }
    duplicates += 1
    guard agent.ids[number - 1] != entry.id.hashValue else { return }
    breaks(
      "\(entry.agent): line \(number) came again under another id: \(entry.id), by \(entry.host) "
        + "at \(entry.time)")
  }

  private mutating func takeEnd(_ entry: ChatEntry, of agent: inout Agent) {
    if let end = agent.end, end != entry.content || agent.endID != entry.id {
      breaks("\(entry.agent): two ends came: \(end), \(entry.content)")
    }
    if agent.end != nil { duplicates += 1 }
    (agent.end, agent.endID) = (entry.content, entry.id)
  }

  // MARK: The end

  /// Compares all of it; adds what was broken.
  mutating func verify(_ facts: [AgentFacts], answers: [PersonAnswer]) {
    let byAgent = Dictionary(grouping: answers, by: \.agent)
    for fact in facts {
      let agent = agents[fact.name, default: Agent()]
      verifyLines(fact, agent)
      verifyEnd(fact, agent)
      verifyAnswers(fact, agent, byAgent[fact.name] ?? [])
      verifyWriters(fact)
    }
    let known = Set(facts.map(\.name))
    for name in agents.keys.sorted() where !known.contains(name) {
      breaks("\(name): it is not one of the agents")
    }
  }

  private mutating func verifyLines(_ fact: AgentFacts, _ agent: Agent) {
    if fact.starts != 1 { breaks("\(fact.name): its program was started \(fact.starts) times") }
    guard let printed = fact.printed else { return breaks("\(fact.name): it has not ended") }
    if agent.ids.count != printed {
      breaks("\(fact.name): \(agent.ids.count) of its \(printed) lines came")
    }
  }

  private mutating func verifyEnd(_ fact: AgentFacts, _ agent: Agent) {
    let expected = "exited(status: \(fact.status))"
    if fact.storedEnd != expected {
      breaks("\(fact.name): \(fact.storedEnd ?? "no end") is in the store, not \(expected)")
    }
    if agent.end != "end \(expected)" {
      breaks("\(fact.name): \(agent.end ?? "no end") came, not \(expected)")
    }
  }

  private mutating func verifyAnswers(
    _ fact: AgentFacts, _ agent: Agent, _ answers: [PersonAnswer]
  ) {
    var read: [Int: [String]] = [:]
    for line in fact.input where line.hasPrefix("{") {
      guard let (number, option) = Self.response(line) else {
        breaks("\(fact.name): it read \(line)")
        continue
      }
      read[number, default: []].append(option)
    }
    let told = Dictionary(grouping: answers, by: \.question)
    for question in agent.questions.union(read.keys).union(told.keys).sorted() {
      let name = "\(fact.name), question \(question)"
      let options = read[question] ?? []
      if options.count != 1 {
        breaks("\(name): \(options.count) answers were read: \(options)")
      }
      if let option = options.first, fact.delivered[question] != option {
        breaks(
          "\(name): \(option) was read, \(fact.delivered[question] ?? "nothing") is in the store "
            + "as delivered")
      }
      verifyDecision(name, options.first, told[question] ?? [])
    }
  }

  private mutating func verifyDecision(
    _ name: String, _ option: String?, _ told: [PersonAnswer]
  ) {
    let decisions = told.filter(\.isDecision)
    let isInDoubt = told.contains { $0.isRetried }
    if decisions.count > 1 || (decisions.isEmpty && !isInDoubt) {
      breaks("\(name): \(decisions.count) people were told that they had decided")
    }
    for answer in told where answer.option != option {
      breaks(
        "\(name): \(answer.person) was told that \(answer.option) is decided, and "
          + "\(option ?? "nothing") was read")
    }
  }

  /// The number and the option of an answer, in ACP.
  static func response(_ line: String) -> (number: Int, option: String)? {
    struct Response: Decodable {
      struct Result: Decodable { var outcome: Outcome }
      struct Outcome: Decodable { var optionId: String }
      var id: Int
      var result: Result
    }
    guard let response = try? JSONDecoder().decode(Response.self, from: Data(line.utf8)) else {
      return nil
    }
    return (response.id, response.result.outcome.optionId)
  }

  /// No host writes to an agent that another one has taken: the fences of what it reads never fall,
  /// and the lines under each come once and in order.
  private mutating func verifyWriters(_ fact: AgentFacts) {
    var last: (fence: Int64, number: Int, host: String) = (0, 0, "")
    var begins = 0
    for line in fact.input where !line.hasPrefix("{") {
      if line == Self.greeting {
        begins += 1
        continue
      }
      let words = line.split(separator: " ")
      guard words.count == 4, words[0] == "write", let fence = Int64(words[1]),
        let number = Int(words[2])
      else {
        breaks("\(fact.name): it read \(line)")
        continue
      }
      let isLater = fence == last.fence ? number > last.number : fence > last.fence
      if !isLater {
        breaks(
          "\(fact.name): it read write \(number) of \(words[3]) under the lease \(fence) behind "
            + "write \(last.number) of \(last.host) under the lease \(last.fence)")
      }
      last = (fence, number, String(words[3]))
    }
    if begins > 1 { breaks("\(fact.name): its first input came \(begins) times") }
  }

  /// What an agent that asks reads first.
  static let greeting = "begin"
}
