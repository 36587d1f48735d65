/// An error on a terminal: a sign and a word for the severity (color is never alone), title,
/// message, hint, what happens next, and the options with their keys.
public enum TerminalBanner {
  /// Some lines, each ended by a line feed.
  ///
  /// - Parameters:
  ///   - color: whether the terminal shows colors; see `usesColor`.
  ///   - unicode: whether it shows more than ASCII.
  ///   - advice: a sentence of the program's own, added to the hint.
  public static func render(
    _ error: PresentedError, color: Bool, unicode: Bool = true, advice: String? = nil
  ) -> String {
    render(BannerContent(error), color: color, unicode: unicode, advice: advice)
  }

  /// Likewise, for an error without a supervisor.
  public static func render(_ error: AppError, color: Bool, unicode: Bool = true) -> String {
    render(BannerContent(error), color: color, unicode: unicode, advice: nil)
  }

  /// How a failed program ends on standard error: the hint, then
  /// `bridgectl: [caseName] Title: message` as the last line. Where the message would be the
  /// default text the hint stands in its place. `advice` is a sentence of the program's own, added
  /// to the hint.
  ///
  /// - Returns: lines without line feeds; none for a cancellation but the last.
  public static func lastLines(
    _ error: AppError, context: FailureContext? = nil, program: String = "bridgectl",
    advice: String? = nil
  ) -> [String] {
    let content = BannerContent(error, context: context)
    let last = "\(program): [\(error.caseName)] \(content.title): \(content.message)"
    guard error != .cancelled, let hint = content.hint(with: advice) else { return [last] }
    return [hint, last]
  }

  /// Whether to use color (https://no-color.org): on a terminal that can, unless NO_COLOR is set.
  public static func usesColor(isTerminal: Bool, environment: [String: String]) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  private static func render(
    _ content: BannerContent, color: Bool, unicode: Bool, advice: String?
  ) -> String {
    let glyph = Glyph(icon: content.icon)
    var text = color ? "\u{1B}[\(code(of: content.severity))m" : ""
    text += unicode ? glyph.unicode : glyph.ascii
    text += " \(content.severity.name): \(content.title)"
    text += color ? "\u{1B}[0m" : ""
    if let source = content.source { text += " (\(source))" }
    if content.count > 1 { text += unicode ? " ×\(content.count)" : " x\(content.count)" }
    text += "\n  \(content.message)\n"
    if let hint = content.hint(with: advice) { text += "  \(hint)\n" }
    if let plan = content.plan { text += "  \(plan)\n" }
    // Options may be an application's own, with any title.
    let options = content.options.map {
      "[\($0.kind.key)] \(PeerText.escaped($0.title, limit: 64))"
    }
    return text + "  " + options.joined(separator: "  ") + "\n"
  }

  /// Bold and the color of the severity (ECMA-48, SGR).
  private static func code(of severity: ErrorSeverity) -> String {
    switch severity {
    case .info: "1;34"
    case .warning: "1;33"
    case .error, .critical: "1;31"
    }
  }
}
