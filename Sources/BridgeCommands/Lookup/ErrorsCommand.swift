package import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeTerminal
import FoundationEssentials

/// `bridgectl errors`.
package struct ErrorsCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "errors",
    abstract: "List every error with its texts, recovery options and exit code.")

  @Argument(help: "The name of one error: the one in brackets on the last line of a failed run.")
  package var name: String?

  @Flag(help: "As JSON.")
  package var json = false

  /// Creates the command with its defaults.
  package init() {}

  /// Prints it; an unknown name is a usage error.
  package func run() throws {
    let pages: [ErrorCatalogue.Entry]
    if let name {
      guard let page = ErrorCatalogue.entry(named: name) else {
        throw ValidationError(Self.unknown(name))
      }
      pages = [page]
    } else {
      pages = ErrorCatalogue.entries
    }
    let text: String
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      let data = try name == nil ? encoder.encode(pages) : encoder.encode(pages[0])
      text = String(decoding: data, as: UTF8.self) + "\n"
    } else {
      text = pages.map(ErrorPage.text).joined(separator: "\n")
    }
    StandardOutput.end(with: text)
  }

  private static func unknown(_ name: String) -> String {
    let near = NearNames.of(name, among: ErrorCatalogue.entries.map(\.caseName))
    let shown = PeerText.escaped(name, limit: 64)
    guard !near.isEmpty else {
      return "There is no error \"\(shown)\". `bridgectl errors` lists them all."
    }
    return "There is no error \"\(shown)\". Did you mean \(near.joined(separator: ", "))?"
  }
}
