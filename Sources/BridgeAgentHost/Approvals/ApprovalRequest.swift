/// A question of an agent that a person decides.
public struct ApprovalRequest: Sendable, Hashable, Codable {
  /// The agent; one that is started anew is another agent, with a name of its own.
  public var agent: String
  /// The agent's own id of the request: a JSON number or string, byte for byte.
  public var wireID: String
  /// Whether the agent's messages have the member `jsonrpc`, which its answer then has as well.
  public var hasVersion: Bool
  /// The method of the request.
  public var method: String
  /// The part of the agent that asks, such as a session or thread; empty where there is none.
  public var scope: String
  /// The question in a line, as the agent wrote it.
  public var title: String
  /// The answers that the agent accepts.
  public var options: [ApprovalOption]
  /// The values that one of them requires.
  public var form: ApprovalForm?
  /// The parameters of the request, a JSON value, byte for byte.
  public var parameters: String
  /// The end of the request's line in the agent's output, in bytes (`SessionLine.end`); nil where
  /// that is unknown. It tells a line that is read again from an id that is used again; without it
  /// the same question under the same id is the same request for as long as it is kept.
  public var outputOffset: UInt64?

  /// A request.
  public init(
    agent: String, wireID: String, hasVersion: Bool = true, method: String, scope: String = "",
    title: String, options: [ApprovalOption], form: ApprovalForm? = nil,
    parameters: String = "{}", outputOffset: UInt64? = nil
  ) {
    self.agent = agent
    self.wireID = wireID
    self.hasVersion = hasVersion
    self.method = method
    self.scope = scope
    self.title = title
    self.options = options
    self.form = form
    self.parameters = parameters
    self.outputOffset = outputOffset
  }

  /// How much of it is kept, in bytes of UTF-8.
  var size: Int {
    let names = options.reduce(0) { sum, option in
      sum + option.id.utf8.count + option.name.utf8.count + option.result.utf8.count
    }
    let fields = (form?.fields ?? []).reduce(0) { sum, field in
      sum + field.name.utf8.count + (field.title?.utf8.count ?? 0)
        + (field.choices ?? []).reduce(0) { $0 + $1.utf8.count }
    }
    return wireID.utf8.count + method.utf8.count + scope.utf8.count + title.utf8.count
      + parameters.utf8.count + names + fields
  }

  /// Whether another request asks the same.
  func asksTheSame(as other: Self) -> Bool {
    var other = other
    other.outputOffset = outputOffset
    other.hasVersion = hasVersion
    return self == other
  }
}
