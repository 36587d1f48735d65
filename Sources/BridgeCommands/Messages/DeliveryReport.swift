/// Messages of a run that did not arrive, or may not have.
package struct DeliveryReport: Sendable, Equatable {
  /// Messages that were read and not sent.
  package var unsent: Int
  /// Whether standard input holds more that was not read.
  package var isInputLeft: Bool
  /// Messages that were sent and never confirmed.
  package var doubtful: Int

  /// A report of these numbers.
  package init(unsent: Int = 0, isInputLeft: Bool = false, doubtful: Int = 0) {
    self.unsent = unsent
    self.isInputLeft = isInputLeft
    self.doubtful = doubtful
  }

  /// The clause about unsent messages; nil where all were sent.
  package var notSent: String? {
    let messages = "\(unsent) \(unsent == 1 ? "message" : "messages")"
    let rest = "the rest of the input"
    switch (unsent, isInputLeft) {
    case (0, false): return nil
    case (0, true): return "\(rest) was not sent"
    case (1, false): return "\(messages) was not sent"
    case (_, false): return "\(messages) were not sent"
    case (_, true): return "\(messages) and \(rest) were not sent"
    }
  }

  /// All of it as a sentence; nil where every message is known to have arrived.
  package var sentence: String? {
    let inDoubt =
      doubtful == 0
      ? nil : "\(doubtful) \(doubtful == 1 ? "message" : "messages") may not have arrived"
    let clauses = [notSent, inDoubt].compactMap(\.self).joined(separator: ", and ")
    guard let first = clauses.first else { return nil }
    return first.uppercased() + clauses.dropFirst() + "."
  }
}
