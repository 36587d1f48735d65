extension ApprovalMessage {
  /// RequestPermissionRequest of schema/v1/schema.json (agentclientprotocol).
  private struct Permission: Decodable {
    struct ToolCall: Decodable {
      var toolCallId: String
      var title: String?
    }

    struct Option: Decodable {
      var optionId: String
      var name: String
      /// "Hint about the nature of this permission option": one that is not known is shown by its
      /// name, instead of a question that is not shown at all.
      var kind: String
    }

    var sessionId: String
    var toolCall: ToolCall
    var options: [Option]
  }

  /// `session/request_permission`; the answers are RequestPermissionResponse.
  func acp() throws -> Question {
    let permission = try decode(Permission.self)
    let options = permission.options.map { option in
      let id = JSONText.quoted(option.optionId)
      return ApprovalOption(
        id: option.optionId, name: option.name, kind: Self.kind(option.kind),
        result: "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\(id)}}")
    }
    return Question(
      scope: permission.sessionId,
      title: permission.toolCall.title ?? permission.toolCall.toolCallId,
      options: try Self.distinct(options))
  }

  /// PermissionOptionKind.
  private static func kind(_ word: String) -> ApprovalOption.Kind {
    switch word {
    case "allow_once": .allowOnce
    case "allow_always": .allowAlways
    case "reject_once": .rejectOnce
    case "reject_always": .rejectAlways
    default: .other(word)
    }
  }

  /// The options, where an answer can name each.
  static func distinct(_ options: [ApprovalOption]) throws -> [ApprovalOption] {
    guard !options.isEmpty else { throw Unreadable(detail: "params.options: none") }
    guard Set(options.map(\.id)).count == options.count else {
      throw Unreadable(detail: "params.options: two of one id")
    }
    return options
  }
}
