/// A text that cannot be printed, logged, dumped or interpolated: a password, a code, a token.
///
/// Whoever needs it says so with `revealed`, which a reader can search for.
public struct Secret: Sendable, Equatable {
  /// The text itself, for the one place that sends it.
  public let revealed: String

  /// The secret `text`.
  public init(_ text: String) {
    revealed = text
  }

  /// Whether nothing was typed yet.
  public var isEmpty: Bool { revealed.isEmpty }

  /// Its length in Characters.
  public var count: Int { revealed.count }
}

extension Secret: ExpressibleByStringLiteral {
  /// The secret in a literal, for tests and empty forms.
  public init(stringLiteral text: String) {
    self.init(text)
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always the same text.
  public var description: String { "<secret>" }
  /// Always the same text.
  public var debugDescription: String { description }
  /// No children, so that `dump` shows none.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension Secret: Codable {
  /// Reads the text as it came over the wire.
  public init(from decoder: any Decoder) throws {
    revealed = try decoder.singleValueContainer().decode(String.self)
  }

  /// Writes the text as it goes over the wire.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    try value.encode(revealed)
  }
}
