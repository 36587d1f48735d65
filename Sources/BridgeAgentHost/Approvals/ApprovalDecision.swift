public import FoundationEssentials

/// The answer of a person to a request.
public struct ApprovalDecision: Sendable, Hashable, Codable {
  /// The id of the option that was chosen.
  public var option: String
  /// Its label.
  public var name: String
  /// The values of the request's form.
  public var values: [String: ApprovalValue]
  /// Who decided: a name that the application gave.
  public var by: String
  /// When.
  public var at: Date

  /// A decision.
  public init(
    option: String, name: String, values: [String: ApprovalValue] = [:], by: String, at: Date
  ) {
    self.option = option
    self.name = name
    self.values = values
    self.by = by
    self.at = at
  }
}
