import Foundation

/// The result of a story in a world.
enum Finding: Sendable, Equatable {
  /// As it should be; a remark where there is one.
  case right(String = "")
  /// Not as it should be, but as `ssh` does it there.
  case asSSH(String)
  /// An error of bridgectl with a name, and nothing done twice; what it said.
  case refused(String, said: String)
  /// This machine cannot have the world.
  case skipped(String)
  /// A hang, a second run, a wrong status, lost output.
  case wrong(String)

  /// Whether bridgectl did well.
  var isGood: Bool {
    if case .wrong = self { return false }
    return true
  }

  /// Its kind, without the remark.
  enum Kind: String, Sendable {
    case right
    case asSSH = "as ssh"
    case refused
    case skipped
    case wrong
  }

  var kind: Kind {
    switch self {
    case .right: .right
    case .asSSH: .asSSH
    case .refused: .refused
    case .skipped: .skipped
    case .wrong: .wrong
    }
  }

  var remark: String {
    switch self {
    case .right(let text), .asSSH(let text), .skipped(let text), .wrong(let text): text
    case .refused(let name, let said): "\(name): \(said)"
    }
  }
}

/// What a user sees of a run: its status, its output, and how often the command started.
struct Seen: Sendable, Equatable, CustomStringConvertible {
  var code: Int32
  var output: String
  var runs: Int

  var description: String {
    let shown = output.count > 60 ? "\(output.count) characters" : output
    return "status \(code), \(runs) runs, output \(shown.debugDescription)"
  }
}

extension Outcome {
  /// The name of the error that bridgectl ended with; nil where the status is not one of its own.
  var refusal: String? {
    let own: Set<Int32> = [124, 130, 143, 129, 141]
    guard (64...79).contains(code) || own.contains(code) else { return nil }
    // On a terminal the line begins with what clears the one of the banner.
    guard let mark = error.range(of: "bridgectl: [", options: .backwards) else { return nil }
    return error[mark.upperBound...].split(separator: "]").first.map(String.init)
  }
}

extension Outcome {
  /// The end of what was said.
  fileprivate var complaint: String {
    String(error.split(separator: "\n").suffix(2).joined(separator: " / ").suffix(400))
  }
}

extension Finding {
  /// Compares a run with what it should be, and else with what `ssh` does there.
  init(
    _ outcome: Outcome, _ seen: Seen, expected: Seen, ssh: () async throws -> Seen?
  ) async rethrows {
    if seen == expected {
      self = .right()
      return
    }
    let other = try await ssh()
    if other == seen {
      self = .asSSH("\(seen)")
    } else if seen.runs <= 1, let name = outcome.refusal {
      let comparison = other == expected ? ", ssh works" : ""
      self = .refused("\(outcome.code) \(name)" + comparison, said: outcome.complaint)
    } else {
      self = .wrong("\(seen); \(outcome.complaint)")
    }
  }

  /// Of what is not one run: right, or refused by the outcome that stopped it.
  init(stoppedBy outcome: Outcome, _ stage: String) {
    if let name = outcome.refusal {
      self = .refused("\(outcome.code) \(name)", said: "\(stage): \(outcome.complaint)")
    } else {
      self = .wrong("\(stage): status \(outcome.code); \(outcome.complaint)")
    }
  }
}
