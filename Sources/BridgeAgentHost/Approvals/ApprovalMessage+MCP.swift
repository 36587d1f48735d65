extension ApprovalMessage {
  /// ElicitRequestParams of schema/2025-11-25/schema.ts (modelcontextprotocol).
  private struct Elicitation: Decodable {
    struct Schema: Decodable {
      var properties: [String: Property]
      var required: [String]?
    }

    var mode: String?
    var message: String
    var requestedSchema: Schema?
    var url: String?
  }

  /// PrimitiveSchemaDefinition: a flat field.
  fileprivate struct Property: Decodable {
    struct Choice: Decodable {
      var const: String
    }

    struct Items: Decodable {
      var `enum`: [String]?
      var anyOf: [Choice]?
    }

    var type: String
    var title: String?
    var `enum`: [String]?
    var oneOf: [Choice]?
    var items: Items?
  }

  /// `elicitation/create`; the answers are ElicitResult.
  func mcp() throws -> Question {
    let elicitation = try decode(Elicitation.self)
    let options = [
      ApprovalOption(
        id: "accept", name: "Accept", kind: .allowOnce, result: #"{"action":"accept"}"#),
      ApprovalOption(
        id: "decline", name: "Decline", kind: .rejectOnce, result: #"{"action":"decline"}"#),
      ApprovalOption(id: "cancel", name: "Cancel", kind: .cancel, result: #"{"action":"cancel"}"#),
    ]
    var question = Question(title: elicitation.message, options: options)
    switch elicitation.mode ?? "form" {
    case "form":
      guard let schema = elicitation.requestedSchema else {
        throw Unreadable(detail: "params.requestedSchema: missing")
      }
      question.form = ApprovalForm(option: "accept", fields: try fields(of: schema))
    case "url":
      // The content is given at the URL, which is among the parameters.
      guard elicitation.url != nil else { throw Unreadable(detail: "params.url: missing") }
    case let mode: throw Unreadable(detail: "params.mode: \(mode) is not known")
    }
    return question
  }

  /// The fields, in the order in which the agent wrote them.
  private func fields(of schema: Elicitation.Schema) throws -> [ApprovalForm.Field] {
    let required = Set(schema.required ?? [])
    let names = try ["requestedSchema", "properties"].reduce(parameters ?? []) { value, name in
      let member = try JSONText.members(of: value).last { $0.name == name }
      return member?.value ?? []
    }
    return try JSONText.members(of: names).map { member in
      let path = "params.requestedSchema.properties.\(member.name)"
      guard let property = schema.properties[member.name] else {
        throw Unreadable(detail: "\(path): missing")
      }
      guard let kind = ApprovalForm.Field.Kind(rawValue: property.type) else {
        throw Unreadable(detail: "\(path).type: \(property.type) is not known")
      }
      return ApprovalForm.Field(
        name: member.name, title: property.title, kind: kind, choices: property.choices,
        isRequired: required.contains(member.name))
    }
  }
}

extension ApprovalMessage.Property {
  fileprivate var choices: [String]? {
    self.enum ?? oneOf?.map(\.const) ?? items?.enum ?? items?.anyOf?.map(\.const)
  }
}
