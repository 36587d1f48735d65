/// One of the answers that an agent accepts.
public struct ApprovalOption: Sendable, Hashable, Codable {
  /// What an option does; a hint for icons and colors.
  public enum Kind: Sendable, Hashable, Codable {
    /// Allows it this time.
    case allowOnce
    /// Allows it, and the like of it from now on.
    case allowAlways
    /// Refuses it this time.
    case rejectOnce
    /// Refuses it, and the like of it from now on.
    case rejectAlways
    /// Refuses it and ends what the agent does now, or dismisses the question.
    case cancel
    /// Another kind, by the agent's own word; the name of the option says what it does.
    case other(String)
  }

  /// Its name among the options of the request.
  public var id: String
  /// Its label, as the agent wrote it.
  public var name: String
  /// What it does.
  public var kind: Kind
  /// The result that the agent receives, a JSON value.
  public var result: String

  /// An option.
  public init(id: String, name: String, kind: Kind, result: String) {
    self.id = id
    self.name = name
    self.kind = kind
    self.result = result
  }
}
