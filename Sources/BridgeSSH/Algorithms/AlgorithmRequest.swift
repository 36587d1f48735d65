/// A list of algorithms as ssh_config has it: names, with `+`, `-` or `^` before the first to add
/// to the defaults, to take from them, or to put before them (ssh_config(5), Ciphers).
package struct AlgorithmRequest: Sendable, Equatable {
  private enum Change {
    case replace
    case append
    case remove
    case prepend
  }

  /// Whether it says what comes first: then no order of ours counts.
  var setsOrder: Bool { change == .replace || change == .prepend }

  private let change: Change
  private let patterns: [String]

  /// The list written as `text`; nil for one that is empty or negates a name.
  package init?(_ text: String) {
    let change: Change? =
      switch text.first {
      case "+": .append
      case "-": .remove
      case "^": .prepend
      default: nil
      }
    self.change = change ?? .replace
    patterns = (change == nil ? text[...] : text.dropFirst()).split(separator: ",").map(String.init)
    guard !patterns.isEmpty, !patterns.contains(where: { $0.hasPrefix("!") }) else { return nil }
  }

  /// The names to offer instead of `defaults`, of all that are there. A name that is not there is
  /// left out.
  package func names(from defaults: [String], all: [String]) -> [String] {
    let named = patterns.flatMap { pattern in all.filter { HostPattern.fits($0, pattern) } }
    let result =
      switch change {
      case .replace: named
      case .append: defaults + named
      case .remove: defaults.filter { !named.contains($0) }
      case .prepend: named + defaults
      }
    var seen: Set<String> = []
    return result.filter { seen.insert($0).inserted }
  }
}
