package import BridgeErrors

/// One error as a page of a manual, in text.
package enum ErrorPage {
  private static let width = 96
  private static let margin = 12

  /// The page of `entry`. Its hint is left out where it is what to do.
  package static func text(_ entry: ErrorCatalogue.Entry) -> String {
    var text = "\(entry.caseName): \(entry.title) (\(entry.domain), \(entry.severity))\n"
    let message = message(entry)
    text += field("message", message)
    if ![message, entry.remedy].contains(entry.hint) { text += field("hint", entry.hint) }
    text += field("cause", entry.cause)
    let advice = CommandAdvice.byCase[entry.caseName].map { " " + $0.text } ?? ""
    text += field("to do", entry.remedy + advice)
    text += field("options", entry.options.joined(separator: ", "))
    text += field("by itself", words(entry.automatic))
    text += field("exit code", "\(entry.exitCode)")
    for link in entry.links {
      text += field("link", "\(link.kind): \(words(link.retry)); exit code \(link.exitCode)")
    }
    return text
  }

  /// The explanation of a retry class; its name is for JSON.
  private static func words(_ retry: String) -> String {
    RetryClass(rawValue: retry)?.explanation ?? retry
  }

  /// As it is shown: the hint where the message would be the default text, which has no
  /// information.
  private static func message(_ entry: ErrorCatalogue.Entry) -> String {
    let example = ErrorCatalogue.examples.first { $0.caseName == entry.caseName }
    return example?.shownMessage() ?? entry.message
  }

  private static func field(_ name: String, _ value: String) -> String {
    guard !value.isEmpty else { return "" }
    let lines = Paragraph.lines(of: value, width: width - margin)
    let label = "  " + name + String(repeating: " ", count: margin - 2 - name.count)
    let indent = String(repeating: " ", count: margin)
    return label + lines.joined(separator: "\n" + indent) + "\n"
  }
}
