/// Names one supervised connection for its whole life, over all its generations.
public struct ConnectionID: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral
{
  /// The name, unique within a process: `ssh:example.org:22#1`.
  public let description: String

  /// An identifier that reads as `description`.
  public init(_ description: String) {
    self.description = description
  }

  /// An identifier that reads as `value`.
  public init(stringLiteral value: String) {
    description = value
  }
}
