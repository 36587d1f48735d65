package import BridgeSessionProtocol

/// What comes before an answer of the host: start-up files may print before it.
///
/// It stands in no command whole, but in two parts that only a shell joins: a device or a wrapper
/// that prints the command it was given has not printed the marker.
package struct AnswerMarker: Sendable, Equatable {
  private let head: String
  private let tail: String

  /// A marker that no start-up file knows: of the time and the process's hash seed.
  package init() {
    var hasher = Hasher()
    hasher.combine(ContinuousClock.now)
    let high = hasher.finalize()
    hasher.combine(high)
    self.init(
      Identifier(
        high: UInt64(bitPattern: Int64(high)), low: UInt64(bitPattern: Int64(hasher.finalize()))))
  }

  /// The marker with these digits.
  package init(_ digits: Identifier) {
    let text = "\(digits)"
    (head, tail) = ("bridge-\(text.prefix(16))", "-\(text.dropFirst(16))")
  }

  /// What the host prints.
  package var text: String { head + tail }

  /// A shell command that prints it; a trace of the shell shows its parts.
  package var printing: String { "printf %s%s \(head) \(tail)" }

  /// A shell command before the one that `word` is a word of.
  var assignment: String { "m=\(head)" }

  /// A word that the shell makes the marker.
  var word: String { "\"$m\(tail)\"" }
}
