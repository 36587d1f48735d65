public import Foundation

/// An input that cannot be right, found before anything is sent (S3-26…S3-30).
public enum ValidationError: Error, Sendable, Equatable {
  /// The field is empty.
  case required(field: String)
  /// The field has the wrong form.
  case invalidFormat(field: String)
  /// `minLength` in Characters.
  case tooShort(field: String, minLength: Int)
  /// `maxLength` in Characters.
  case tooLong(field: String, maxLength: Int)
  /// Two fields that must be equal differ.
  case mismatch(field1: String, field2: String)

  /// The field the error belongs to; of two, the second.
  public var field: String {
    switch self {
    case .required(let field), .invalidFormat(let field), .tooShort(let field, _),
      .tooLong(let field, _), .mismatch(_, let field):
      field
    }
  }
}

extension ValidationError: LocalizedError {
  /// The text for a person.
  public var errorDescription: String? {
    switch self {
    case .required(let field): "\(field) is required."
    case .invalidFormat(let field): "\(field) format is invalid."
    case .tooShort(let field, let minLength):
      "\(field) must be at least \(minLength) characters."
    case .tooLong(let field, let maxLength): "\(field) cannot exceed \(maxLength) characters."
    case .mismatch(let field1, let field2): "\(field1) and \(field2) do not match."
    }
  }
}
