package import ArgumentParser
package import BridgeErrors

/// Whether what is typed is shown before the far side has echoed it.
package enum Prediction: String, Sendable, CaseIterable {
  /// Where a round trip takes 60 ms or more.
  case auto
  case always
  case never

  /// Over faster links the echo is there before anybody sees the difference.
  static let leastRoundTrip = Duration.milliseconds(60)

  /// Whether keys are shown before their echo over a link of this round trip; nil where it is not
  /// known.
  package func isWanted(over roundTrip: Duration?) -> Bool {
    switch self {
    case .auto: (roundTrip ?? .zero) >= Self.leastRoundTrip
    case .always: true
    case .never: false
    }
  }
}

/// The options of what a terminal shows of a session.
package struct ScreenOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Show what is typed at once, underlined until the host has echoed it: auto (the default) \
      where a round trip takes 60 ms or more. Nothing is shown before the first echo of a line, \
      so no password is.
      """,
      valueName: "auto|always|never"))
  package var predict: String?

  @Option(
    help: ArgumentHelp(
      """
      What a terminal gets that is far behind what a durable session printed: screen (the default) \
      is what it shows now, so that a key acts at once; all is every byte, however long that takes.
      """,
      valueName: "screen|all"))
  package var catchUp: String?

  /// None yet.
  package init() {}
}

/// What a person's terminal shows of a session, and when.
package struct ScreenRequest: Sendable, Equatable {
  /// Whether what is typed is shown before its echo.
  package var prediction = Prediction.auto
  /// What a terminal that is far behind is sent.
  package var catchUp = CatchUp.screen
  /// Whether the session's terminal keeps its size, and this one shows a window on it.
  package var keepsSize = false

  /// The defaults.
  package init() {}

  /// - Throws: `validationError` naming the option.
  package init(_ options: ScreenOptions) throws(AppError) {
    prediction = try ChoiceArgument.parse(options.predict, field: "--predict") ?? .auto
    catchUp = try ChoiceArgument.parse(options.catchUp, field: "--catch-up") ?? .screen
  }
}
