/// A line of an agent that prints JSON, one value a line.
public enum DecodedLine<Value: Decodable & Sendable>: Sendable {
  /// A value that was printed to standard output, or to the terminal.
  case value(Value, SessionLine)
  /// Any other element: a line of standard error, of no JSON or of another value, a part of a line
  /// that is longer than the limit, or a gap. `reason` says why it is no value; nil where none is
  /// expected.
  case other(SessionLine, reason: String?)

  /// The element that it was made of.
  public var line: SessionLine {
    switch self {
    case .value(_, let line), .other(let line, reason: _): line
    }
  }
}

extension DecodedLine: Equatable where Value: Equatable {}
