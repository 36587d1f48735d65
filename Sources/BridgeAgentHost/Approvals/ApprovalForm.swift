/// The values that a request asks for beside the choice of an option.
///
/// Checked are names, types, choices and which are required; limits of numbers and formats of texts
/// are the agent's to check.
public struct ApprovalForm: Sendable, Hashable, Codable {
  /// One value.
  public struct Field: Sendable, Hashable, Codable {
    /// What is entered.
    public enum Kind: String, Sendable, Hashable, Codable {
      /// A text.
      case text = "string"
      /// A number.
      case number
      /// A whole number.
      case integer
      /// Yes or no.
      case boolean
      /// Any number of texts.
      case texts = "array"
    }

    /// Its name in the answer.
    public var name: String
    /// Its label; nil where the agent gave none.
    public var title: String?
    /// What is entered.
    public var kind: Kind
    /// The texts that are accepted; nil for any.
    public var choices: [String]?
    /// Whether the form is incomplete without it.
    public var isRequired: Bool

    /// A field.
    public init(
      name: String, title: String? = nil, kind: Kind, choices: [String]? = nil,
      isRequired: Bool = false
    ) {
      self.name = name
      self.title = title
      self.kind = kind
      self.choices = choices
      self.isRequired = isRequired
    }
  }

  /// The option that the values belong to; all others have none.
  public var option: String
  /// The fields in their order.
  public var fields: [Field]

  /// A form.
  public init(option: String, fields: [Field]) {
    self.option = option
    self.fields = fields
  }

  /// Why `values` are no answer to the form; nil where they are.
  func problem(of values: [String: ApprovalValue]) -> String? {
    let names = Set(fields.map(\.name))
    if let name = values.keys.filter({ !names.contains($0) }).min() {
      return "The form has no field \(name)."
    }
    for field in fields {
      guard let value = values[field.name] else {
        if field.isRequired { return "The field \(field.name) is required." }
        continue
      }
      if let problem = field.problem(of: value) { return problem }
    }
    return nil
  }
}

extension ApprovalForm.Field {
  fileprivate func problem(of value: ApprovalValue) -> String? {
    switch (kind, value) {
    case (.text, .text(let text)): return problem(of: [text])
    case (.texts, .texts(let texts)): return problem(of: texts)
    case (.number, .number(let number)) where number.isFinite: return nil
    case (.number, .integer), (.integer, .integer), (.boolean, .boolean): return nil
    default: return "The field \(name) takes a value of type \(kind.rawValue)."
    }
  }

  private func problem(of texts: [String]) -> String? {
    guard let choices else { return nil }
    return texts.first { !choices.contains($0) }.map {
      "The field \(name) does not offer \($0)."
    }
  }
}
