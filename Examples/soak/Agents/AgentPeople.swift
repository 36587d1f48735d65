import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeStore
import BridgeStorePostgres
import Foundation

/// Two people who answer the agents' questions, each at a store of their own, often at the same
/// time and not the same.
struct AgentPeople: Sendable {
  let ledger: AgentLedger
  let stores: [PostgresStore]
  let seed: UInt64

  private static let names = ["ann", "bob"]

  /// Answers until the task is canceled.
  func run() async {
    var seen: Set<ApprovalID> = []
    var generator = SplitMix64(seed: seed)
    while !Task.isCancelled {
      let pending = (try? await stores[0].approvals(in: "pending")) ?? [:]
      let records = pending.values.joined().compactMap {
        try? $0.record.decoded(as: ApprovalRecord.self)
      }
      let new = records.filter { seen.insert($0.id).inserted }.sorted { $0.at < $1.at }
      await withTaskGroup { group in
        for record in new {
          let option = Bool.random(using: &generator) ? "yes" : "no"
          let isAlone = Int.random(in: 0..<3, using: &generator) == 0
          group.addTask { await answer(record, option, by: 0) }
          let other = option == "yes" ? "no" : "yes"
          if !isAlone { group.addTask { await answer(record, other, by: 1) } }
        }
      }
      await rest(.milliseconds(100))
    }
  }

  /// Answers one question, again where the store does not say whether it has the answer.
  private func answer(_ record: ApprovalRecord, _ option: String, by person: Int) async {
    var isRetried = false
    while !Task.isCancelled {
      do throws(AppError) {
        let answer = try await stores[person].decide(
          record.id, option: option, by: Self.names[person])
        return await told(answer, record, person, isRetried)
      } catch {
        guard case .storeUnusable = error else {
          return await ledger.breaks("\(record.id): \(Self.names[person]) was told \(error)")
        }
        isRetried = true
      }
    }
  }

  private func told(
    _ answer: ApprovalAnswer, _ record: ApprovalRecord, _ person: Int, _ isRetried: Bool
  ) async {
    guard let question = Int(record.request.wireID) else { return }
    let (decision, isDecision): (ApprovalDecision, Bool)
    switch answer {
    case .decided(let own): (decision, isDecision) = (own, true)
    case .alreadyDecided(let other): (decision, isDecision) = (other, false)
    case .canceled: return await ledger.breaks("\(record.id): \(answer.text)")
    }
    await ledger.add(
      PersonAnswer(
        agent: record.id.agent, question: question, person: Self.names[person],
        option: decision.option, isDecision: isDecision, isRetried: isRetried))
  }
}
