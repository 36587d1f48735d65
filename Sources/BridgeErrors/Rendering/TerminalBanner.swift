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

  /// How a failed program ends on standard error: `bridgectl: [caseName] Title: message`, the
  /// cause, without a title that says nothing; under it and indented the remedy, and each command
  /// to copy in a line of its own, indented by `commandIndent`. `advice` is a sentence of the
  /// program's own, added to the remedy or in its place, and `command` one that it is about.
  ///
  /// - Returns: lines without line feeds; the first one only where it says all.
  public static func lastLines(
    _ error: AppError, context: FailureContext? = nil, program: String = "bridgectl",
    advice: String? = nil, command: String? = nil, replacesHint: Bool = false
  ) -> [String] {
    let content = BannerContent(error, context: context)
    let heading = content.heading.map { "\($0): " } ?? ""
    let cause = "\(program): [\(error.caseName)] \(heading)\(content.message)"
    guard error != .cancelled else { return [cause] }
    return [cause] + (replacesHint ? [] : remedy(content.hint, content.command))
      + remedy(advice.map { PeerText.escaped($0) }, command.map { PeerText.escaped($0) })
  }

  private static func remedy(_ text: String?, _ command: String?) -> [String] {
    (text.map { ["  " + $0] } ?? [])
      + (command.map { [commandIndent + $0] } ?? [])
  }

  /// Before a command in a line of its own, which is not to be broken.
  public static let commandIndent = "    "

  /// Whether to use color (https://no-color.org): on a terminal that can, unless NO_COLOR is set.
  public static func usesColor(isTerminal: Bool, environment: [String: String]) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// The first line of `render`, with the message in the place of the title: where there is space
  /// for no more.
  public static func cause(
    of error: PresentedError, color: Bool, unicode: Bool = true
  ) -> String {
    let content = BannerContent(error)
    return severity(of: content, color: color, unicode: unicode, "") + ": \(content.message)"
  }

  /// What `render` says between the message and the plan: hint and command; empty where there is
  /// neither.
  public static func remedy(of error: PresentedError, advice: String? = nil) -> [String] {
    let content = BannerContent(error)
    return remedy(content.hint(with: advice), content.command)
  }

  /// A sign and a word for the severity, and what follows the word.
  private static func severity(
    of content: BannerContent, color: Bool, unicode: Bool, _ rest: String
  ) -> String {
    let glyph = Glyph(icon: content.icon)
    let text = "\(unicode ? glyph.unicode : glyph.ascii) \(content.severity.name)\(rest)"
    return color ? "\u{1B}[\(code(of: content.severity))m\(text)\u{1B}[0m" : text
  }

  private static func render(
    _ content: BannerContent, color: Bool, unicode: Bool, advice: String?
  ) -> String {
    let heading = content.heading.map { ": \($0)" } ?? ""
    var text = severity(of: content, color: color, unicode: unicode, heading)
    if let source = content.source { text += " (\(source))" }
    if content.count > 1 { text += unicode ? " ×\(content.count)" : " x\(content.count)" }
    text += "\n  \(content.message)\n"
    for line in remedy(content.hint(with: advice), content.command) { text += line + "\n" }
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
