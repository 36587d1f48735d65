import BridgeErrors

/// An option's value that is one of some words.
enum ChoiceArgument {
  /// The choice in `typed`; nil where the option was not given.
  ///
  /// - Throws: `validationError` for another word.
  static func parse<Choice: RawRepresentable<String> & CaseIterable>(
    _ typed: String?, field: String
  ) throws(AppError) -> Choice? {
    guard let typed else { return nil }
    guard let choice = Choice(rawValue: typed) else {
      let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw .validationError(
        field: field, message: "\"\(PeerText.escaped(typed, limit: 64))\" is not one of \(words).")
    }
    return choice
  }
}
