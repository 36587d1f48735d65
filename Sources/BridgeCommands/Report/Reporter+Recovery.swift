package import BridgeErrors
import BridgeRecovery
import Foundation

extension Reporter {
  /// One step of the supervisor as an event.
  func event(_ event: RecoveryEvent) {
    self.event(event.name) { line in
      line.add("source", event.source.map { PeerText.escaped($0) })
      line.add("generation", event.generation)
      line.add(event.step)
    }
  }
}

extension JSONLine {
  /// The fields of `error`.
  package mutating func add(_ error: AppError, _ context: FailureContext?) {
    add("case", error.caseName)
    add("title", PeerText.escaped(error.title))
    add("message", PeerText.escaped(error.shownMessage(in: context)))
    let advice = CommandAdvice.text(for: error, in: context).map { " " + $0 } ?? ""
    add("hint", error.hint(in: context).map { PeerText.escaped($0) + advice })
    add("kind", context.map { "\($0.kind)" })
    add("phase", context?.phase.rawValue)
    add("host", context.map { PeerText.escaped($0.host) })
    add("port", context?.port)
  }

  fileprivate mutating func add(_ step: RecoveryEvent.Step) {
    switch step {
    case .attempted(let number, let isStandby):
      add("number", number)
      add("standby", isStandby)
    case .entered(let phase): add("phase", phase.rawValue)
    case .recovered(let time, let attempts, let isFirst):
      add("milliseconds", time.milliseconds)
      add("attempts", attempts)
      add("first", isFirst)
    case .failed(let failure): add(failure.error, failure.context)
    case .classified(let retry): add("class", retry.rawValue)
    case .waiting(let plan): add(plan)
    case .suspended(let parent): add("by", PeerText.escaped(parent.description))
    case .suspected(let silent): add("milliseconds", silent.milliseconds)
    case .gaveUp(let failure, let plan):
      add("case", failure.error.caseName)
      add(plan)
    case .surfaced(let error):
      add("id", error.id.uuidString)
      add(error.error, error.context)
      add("options", error.error.recoveryOptions.map(\.kind.rawValue))
    case .withdrawn(let id): add("id", id.uuidString)
    case .missed(let count): add("count", count)
    case .becameHealthy, .resumed, .cleared, .switched, .lingered, .changed, .closed: break
    }
  }

  private mutating func add(_ plan: RecoveryPlan) {
    add("next", plan.next.rawValue)
    add("milliseconds", plan.at?.milliseconds)
    add("attempt", plan.attempt)
    add("attemptsLeft", plan.attemptsLeft)
    add("skippable", plan.isSkippable)
  }
}

extension Duration {
  var milliseconds: Int { Int(self / .milliseconds(1)) }
}
