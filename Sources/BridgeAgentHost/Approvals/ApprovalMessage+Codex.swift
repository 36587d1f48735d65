import FoundationEssentials

extension ApprovalMessage {
  /// CommandExecutionRequestApprovalParams of the app server's schema (openai/codex).
  private struct Command: Decodable {
    struct Network: Decodable {
      var host: String
    }

    var threadId: String
    var itemId: String
    var command: String?
    var reason: String?
    var networkApprovalContext: Network?
  }

  /// FileChangeRequestApprovalParams.
  private struct FileChange: Decodable {
    var threadId: String
    var itemId: String
    var reason: String?
    var grantRoot: String?
  }

  /// ExecCommandApprovalParams.
  private struct OldCommand: Decodable {
    var conversationId: String
    var callId: String
    var command: [String]
  }

  /// ApplyPatchApprovalParams; of a change to a file only the path is shown.
  private struct OldPatch: Decodable {
    struct Change: Decodable {}

    var conversationId: String
    var callId: String
    var fileChanges: [String: Change]
    var reason: String?
  }

  /// The requests of the app server, by method.
  static let codex: [String: @Sendable (ApprovalMessage) throws -> Question] = [
    "item/commandExecution/requestApproval": { try $0.command() },
    "item/fileChange/requestApproval": { try $0.fileChange() },
    "execCommandApproval": { try $0.oldCommand() },
    "applyPatchApproval": { try $0.oldPatch() },
  ]

  private func command() throws -> Question {
    let command = try decode(Command.self)
    let host = command.networkApprovalContext.map { "Connect to \($0.host)" }
    return Question(
      scope: command.threadId,
      title: command.command ?? host ?? command.reason ?? "Run \(command.itemId)",
      options: try Self.distinct(try commandOptions()))
  }

  private func fileChange() throws -> Question {
    let change = try decode(FileChange.self)
    let root = change.grantRoot.map { "Write below \($0)" }
    return Question(
      scope: change.threadId,
      title: change.reason ?? root ?? "Change files (\(change.itemId))",
      options: ["accept", "acceptForSession", "decline", "cancel"].map(Self.decision))
  }

  private func oldCommand() throws -> Question {
    let command = try decode(OldCommand.self)
    return Question(
      scope: command.conversationId, title: command.command.joined(separator: " "),
      options: Self.reviewDecisions)
  }

  private func oldPatch() throws -> Question {
    let patch = try decode(OldPatch.self)
    let paths = patch.fileChanges.keys.sorted().joined(separator: ", ")
    return Question(
      scope: patch.conversationId, title: patch.reason ?? "Change \(paths)",
      options: Self.reviewDecisions)
  }

  // MARK: Decisions

  /// Those that the server offers (`availableDecisions`), or those that every version of it takes,
  /// with the amendments that it proposes.
  private func commandOptions() throws -> [ApprovalOption] {
    let members = try JSONText.members(of: parameters ?? [])
    func elements(_ name: String) throws -> [ArraySlice<UInt8>] {
      guard let value = members.last(where: { $0.name == name })?.value,
        value.first == UInt8(ascii: "[")
      else { return [] }
      return try JSONText.elements(of: value)
    }
    let offered = try elements("availableDecisions")
    guard offered.isEmpty else { return try Self.numbered(offered.map(Self.decision(of:))) }
    let policy = members.last { $0.name == "proposedExecpolicyAmendment" }?.value
    let amendments = [policy].compactMap { $0 }.filter { $0.first == UInt8(ascii: "[") }.map {
      "{\"acceptWithExecpolicyAmendment\":{\"execpolicy_amendment\":\(Self.text($0))}}"
    }
    let rules = try elements("proposedNetworkPolicyAmendments").map {
      "{\"applyNetworkPolicyAmendment\":{\"network_policy_amendment\":\(Self.text($0))}}"
    }
    let proposed = try (amendments + rules).map { try Self.decision(of: Array($0.utf8)[...]) }
    return Self.numbered(
      ["accept", "acceptForSession"].map(Self.decision) + proposed
        + ["decline", "cancel"].map(Self.decision))
  }

  /// The decisions that are objects.
  private struct Amendment: Decodable {
    struct Policy: Decodable {
      var execpolicy_amendment: [String]
    }

    struct Network: Decodable {
      struct Rule: Decodable {
        var action: String
        var host: String
      }

      var network_policy_amendment: Rule
    }

    var acceptWithExecpolicyAmendment: Policy?
    var applyNetworkPolicyAmendment: Network?
  }

  /// A decision as the server wrote it: a word, or an object whose one member is the word.
  private static func decision(of value: ArraySlice<UInt8>) throws -> ApprovalOption {
    if let word = JSONText.string(value) { return decision(word) }
    guard let members = try? JSONText.members(of: value), members.count == 1 else {
      throw Unreadable(detail: "params.availableDecisions: neither a word nor an object of one")
    }
    var option = option(members[0].name, decision: text(value))
    let amendment = try JSONDecoder().decode(Amendment.self, from: Data(value))
    if let words = amendment.acceptWithExecpolicyAmendment?.execpolicy_amendment {
      option.name = "Allow all that begins with: \(words.joined(separator: " "))"
    }
    if let rule = amendment.applyNetworkPolicyAmendment?.network_policy_amendment {
      let allows = rule.action == "allow"
      option.name = "\(allows ? "Allow" : "Refuse") \(rule.host) from now on"
      option.kind = allows ? .allowAlways : .rejectAlways
    }
    return option
  }

  private static func decision(_ word: String) -> ApprovalOption {
    option(word, decision: JSONText.quoted(word))
  }

  private static func option(_ word: String, decision: String) -> ApprovalOption {
    let (name, kind) = meaning[word] ?? (word, .other(word))
    return ApprovalOption(
      id: word, name: name, kind: kind, result: "{\"decision\":\(decision)}")
  }

  /// The decisions of one name, each with a name of its own.
  private static func numbered(_ options: [ApprovalOption]) -> [ApprovalOption] {
    var counts: [String: Int] = [:]
    return options.map { option in
      var option = option
      counts[option.id, default: 0] += 1
      guard let count = counts[option.id], count > 1 else { return option }
      option.id += "-\(count)"
      return option
    }
  }

  private static func text(_ value: ArraySlice<UInt8>) -> String {
    String(decoding: value, as: UTF8.self)
  }

  private static let reviewDecisions = [
    "approved", "approved_for_session", "denied", "abort",
  ].map(decision)

  /// CommandExecutionApprovalDecision, FileChangeApprovalDecision and, with other words,
  /// ReviewDecision.
  private static let meaning: [String: (String, ApprovalOption.Kind)] = [
    "accept": ("Allow", .allowOnce),
    "acceptForSession": ("Allow in this session", .allowAlways),
    "acceptWithExecpolicyAmendment": ("Allow, and commands like it", .allowAlways),
    "decline": ("Refuse", .rejectOnce),
    "cancel": ("Refuse and stop", .cancel),
    "approved": ("Allow", .allowOnce),
    "approved_for_session": ("Allow in this session", .allowAlways),
    "denied": ("Refuse", .rejectOnce),
    "abort": ("Refuse and stop", .cancel),
  ]
}
