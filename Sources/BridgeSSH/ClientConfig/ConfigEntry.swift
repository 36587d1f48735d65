import BridgeErrors

/// What one line of a file, or one option, says by its keyword.
package struct ConfigEntry: Sendable, Equatable {
  /// The keyword as ssh_config(5) spells it.
  package let keyword: String
  /// The keyword as it is written here.
  let name: String
  /// What follows it: at least one word, but of a keyword that has no effect.
  package let words: [String]
  /// Where it is written.
  package let location: ConfigLocation

  /// The first word.
  var text: String { words[0] }

  /// Whether it says `none`.
  var isNone: Bool { text.lowercased() == "none" }

  /// The error for a value that cannot be used.
  func refusal(_ reason: String) -> AppError {
    location.refusal(of: name, reason)
  }
}

/// One word of a line with several.
package struct ConfigWord: Sendable, Equatable {
  /// The word.
  package let text: String
  /// Where it is written.
  package let location: ConfigLocation
}

/// Where something is written.
package enum ConfigLocation: Sendable, Equatable, CustomStringConvertible {
  /// A line of a file; the first is 1.
  case file(String, line: Int)
  /// An option, `KEY=VALUE`.
  case option(String)

  /// `file:line`, or the option itself, escaped and bounded.
  package var description: String {
    switch self {
    case .file(let path, let line): "\(PeerText.escaped(path, limit: 1024)):\(line)"
    case .option(let option): "-o \(PeerText.escaped(option, limit: 256))"
    }
  }

  /// The error for `name` here.
  func refusal(of name: String, _ reason: String) -> AppError {
    .validationError(field: PeerText.escaped(name, limit: 64), message: "\(reason) (\(self))")
  }
}
