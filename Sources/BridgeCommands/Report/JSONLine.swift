import BridgeErrors

/// One JSON object on one line, its keys in the order they were added (RFC 8259).
package struct JSONLine: Sendable {
  private var fields = ""

  /// An empty object.
  package init() {}

  /// The object, without a line feed.
  package var text: String { "{" + fields + "}" }

  /// Adds a string; nothing for nil.
  package mutating func add(_ key: String, _ value: String?) {
    guard let value else { return }
    add(key, raw: Self.quoted(value))
  }

  /// Adds a whole number; nothing for nil.
  package mutating func add(_ key: String, _ value: Int?) {
    guard let value else { return }
    add(key, raw: String(value))
  }

  /// Adds a truth value.
  package mutating func add(_ key: String, _ value: Bool) {
    add(key, raw: value ? "true" : "false")
  }

  /// Adds an array of strings.
  package mutating func add(_ key: String, _ values: [String]) {
    add(key, raw: "[" + values.map(Self.quoted).joined(separator: ",") + "]")
  }

  private mutating func add(_ key: String, raw: String) {
    if !fields.isEmpty { fields += "," }
    fields += Self.quoted(key) + ":" + raw
  }

  /// `text` as a JSON string in which no control character stands as itself.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case _ where scalar.properties.generalCategory.isShown: result.unicodeScalars.append(scalar)
      case _: result += escaped(scalar)
      }
    }
    return result + "\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    Character(scalar).utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

extension Unicode.GeneralCategory {
  /// Whether a terminal shows it and does nothing else with it.
  fileprivate var isShown: Bool {
    switch self {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
      .paragraphSeparator:
      false
    case _: true
    }
  }
}
