import ArgumentParser
package import BridgeErrors

/// What the terminal of a durable session is sent where it is far behind.
package enum CatchUp: String, Sendable, CaseIterable {
  /// The screen of now; what is left out stays with the host.
  case screen
  /// All that was printed.
  case all

  static let help = ArgumentHelp(
    """
    What a terminal gets that is far behind what a durable session printed: screen (the default) \
    is what it shows now, so that a key acts at once; all is every byte, however long that takes.
    """,
    valueName: "screen|all")

  /// Reads the option.
  /// - Throws: `validationError` for another word.
  package init(option text: String?) throws(AppError) {
    guard let text else {
      self = .screen
      return
    }
    guard let choice = Self(rawValue: text) else {
      throw .validationError(
        field: "--catch-up",
        message: "\"\(PeerText.escaped(text, limit: 64))\" is not one of screen, all.")
    }
    self = choice
  }
}
