import BridgeAgentHost
import BridgeErrors
import BridgeSSH
import BridgeStore
import FoundationEssentials

extension ConsoleState.Host {
  init(_ snapshot: AgentHostSnapshot) {
    name = snapshot.host.shown
    switch snapshot.health {
    case .ready: health = "ready"
    case .stopping: health = "stopping"
    case .degraded(let reason):
      health = "degraded"
      self.reason =
        switch reason {
        case .notRunning: "notRunning"
        case .storeFails: "storeFails"
        case .storeSilent: "storeSilent"
        case .agentsPause: "agentsPause"
        case .agentsWait: "agentsWait"
        }
    }
    agents = snapshot.agents.map { ConsoleState.Agent($0) }
    storeProblem = snapshot.storeProblem.map { ConsoleState.Trouble($0) }
    takeovers = snapshot.counts.takeovers
    losses = snapshot.counts.losses
    failures = snapshot.counts.failures
  }
}

extension AgentHostHealth {
  /// Whether what watches the program should leave it alone: agents that wait are their own matter.
  var isServing: Bool {
    switch self {
    case .ready, .degraded(.agentsPause), .degraded(.agentsWait): true
    case .degraded, .stopping: false
    }
  }
}

extension ConsoleState.Agent {
  init(_ agent: AgentHostSnapshot.Agent) {
    name = agent.name.shown
    switch agent.work {
    case .running(let since): (state, self.since) = ("running", since)
    case .waiting(let machine, let since):
      (state, self.since, waitsFor) = ("waiting", since, machine.shown)
    case .ending(let since): (state, self.since) = ("ending", since)
    case .pausing(let problem, let until):
      (state, since, nextAt) = ("pausing", problem.since, until)
      self.problem = ConsoleState.Trouble(problem)
    }
  }
}

extension ConsoleState.Trouble {
  init(_ problem: AgentHostSnapshot.Problem) {
    title = problem.title.shown
    message = problem.message.shown
    hint = problem.hint?.shown
    (since, end) = (problem.since, problem.end)
  }

  init(_ failure: ConnectionError) {
    title = failure.error.title.shown
    message = failure.shownMessage.shown
    hint = failure.hintBelowMessage?.shown
  }

  init(_ error: AppError) { self.init(ConnectionError(error)) }
}

extension ConsoleState.Problem {
  init(_ error: PresentedError) {
    id = error.id.uuidString
    source = error.source?.shown
    severity = error.error.severity.name
    title = error.error.title.shown
    message = error.failure.shownMessage.shown
    hint = error.failure.hintBelowMessage?.shown
    count = error.count
    switch error.plan?.next {
    case .askPerson, .giveUp, nil: needsPerson = true
    case .reconnect, .retry, .awaitNetwork: needsPerson = false
    }
    options = error.options.compactMap { kind in
      kind.option.map { Option(kind: kind.rawValue, title: $0.title, style: $0.style.rawValue) }
    }
  }
}

extension ConsoleState.HostKey {
  init(_ pending: PendingHostKey) {
    let question = pending.question
    (number, at) = (pending.id, pending.asked.milliseconds)
    host = (question.name.map { "\($0) (\(question.host))" } ?? question.host).shown
    keyType = question.keyType.shown
    fingerprint = question.fingerprint.shown
    detail = question.finding.detail?.shown
    finding =
      switch question.finding {
      case .unknown: .unknown
      case .otherTypes: .otherTypes
      case .changed: .changed
      }
  }
}

extension ConsoleState.Approval {
  init(_ record: ApprovalRecord) {
    agent = record.id.agent
    number = record.id.number
    title = record.request.title.shown
    at = record.at.milliseconds
    options = record.request.options.prefix(32).map { option in
      Option(id: option.id, name: option.name.shown, kind: Self.word(option.kind))
    }
    formOption = record.request.form?.option
    fields = record.request.form?.fields.prefix(32).map { field in
      Field(
        name: field.name, title: (field.title ?? field.name).shown, kind: field.kind.rawValue,
        choices: field.choices.map { Array($0.prefix(64)) }, isRequired: field.isRequired)
    }
    switch record.state {
    case .pending: state = "pending"
    case .decided(let decision), .delivered(let decision):
      state = "decided"
      outcome = ApprovalAnswer.alreadyDecided(decision).text.shown
    case .canceled(let cancellation, reply: _):
      state = "canceled"
      outcome = ApprovalAnswer.canceled(cancellation).text.shown
    }
  }

  private static func word(_ kind: ApprovalOption.Kind) -> String {
    switch kind {
    case .allowOnce: "allowOnce"
    case .allowAlways: "allowAlways"
    case .rejectOnce: "rejectOnce"
    case .rejectAlways: "rejectAlways"
    case .cancel: "cancel"
    case .other: "other"
    }
  }
}

extension ConsoleState.Outage {
  init(_ outage: StoredOutage) {
    id = outage.id.shown
    link = outage.link.shown
    (start, end) = (outage.start, outage.end)
    // Those that were kept by a version that let them overlap are longer than it.
    var left = outage.end.map { Double(max(0, $0 - outage.start)) } ?? .infinity
    phases = outage.phases.prefix(OutageCourse.phaseLimit).compactMap { phase in
      let duration = min(phase.duration / .milliseconds(1), left)
      left -= duration
      return duration > 0 ? Phase(name: phase.name.shown, duration: duration) : nil
    }
  }
}

extension Date {
  /// Since 1970.
  var milliseconds: Int64 { Int64(timeIntervalSince1970 * 1000) }
}
