/// The request of a server in keyboard-interactive authentication (RFC 4256), raw: escape it before
/// it is shown.
public struct KeyboardInteractiveRequest: Sendable, Equatable {
  /// One question.
  public struct Prompt: Sendable, Equatable {
    /// The question's text.
    public var text: String
    /// Whether the answer may be seen while it is typed.
    public var isEchoed: Bool
  }

  /// The request's name; often empty.
  public var name: String
  /// The text to show before the prompts; often empty.
  public var instruction: String
  /// The questions; none when the server only sends a notice.
  public var prompts: [Prompt]
}
