/// A value that a person entered in a form.
public enum ApprovalValue: Sendable, Hashable, Codable {
  /// A text.
  case text(String)
  /// A whole number.
  case integer(Int)
  /// A number.
  case number(Double)
  /// Yes or no.
  case boolean(Bool)
  /// Any number of texts.
  case texts([String])

  /// Reads a plain JSON value.
  ///
  /// - Throws: an error of the decoder for null, an object, or an array of anything but texts.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else if let value = try? container.decode(Int.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else {
      self = .texts(try container.decode([String].self))
    }
  }

  /// Writes a plain JSON value.
  ///
  /// - Throws: an error of the encoder, for a number that is not finite.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .boolean(let value): try container.encode(value)
    case .texts(let value): try container.encode(value)
    }
  }

  /// How long its texts are, in bytes of UTF-8.
  var size: Int {
    switch self {
    case .text(let text): text.utf8.count
    case .texts(let texts): texts.reduce(0) { $0 + $1.utf8.count }
    case .integer, .number, .boolean: 0
    }
  }
}
