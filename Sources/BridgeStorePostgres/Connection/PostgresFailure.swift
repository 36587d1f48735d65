import BridgeErrors

/// Why PostgreSQL, or the connection to it, has failed a statement.
struct PostgresFailure: Error, Equatable {
  /// The text, for a person.
  var text: String
  /// The SQLSTATE (https://www.postgresql.org/docs/15/errcodes-appendix.html); nil where the
  /// connection failed.
  var code: String?
  /// Whether the connection is of no use any more.
  var isLost: Bool

  init(_ text: String, code: String? = nil, isLost: Bool = false) {
    (self.text, self.code, self.isLost) = (text, code, isLost)
  }

  /// The failure of a connection that is lost or was not made, from libpq's text: one that the
  /// server refused ends with a code ("FATAL:  28P01").
  init(lost text: String) {
    let words = text.split { $0.isWhitespace }
    let isCode = words.dropLast().last?.last == ":" && words.last.map(Self.isCode) == true
    self.init(
      words.joined(separator: " "), code: isCode ? words.last.map(String.init) : nil, isLost: true)
  }

  private static func isCode(_ word: Substring) -> Bool {
    word.utf8.count == 5
      && word.allSatisfy { $0.isASCII && ($0.isNumber || $0.isLetter && $0.isUppercase) }
  }
}

extension PostgresFailure {
  /// What follows from a failure.
  enum Consequence: Equatable {
    /// Try it again, over a new connection where the old one is lost.
    case again
    /// It does not get better by itself.
    case refused(AppError)
  }

  /// What follows from it for the store of this name. The code decides, never the text.
  func consequence(for store: String, operation: String) -> Consequence {
    guard let code else {
      return isLost ? .again : .refused(.databaseError(operation: operation, detail: text))
    }
    if let problem = StoreProblem(sqlState: code) {
      return .refused(.storeUnusable(store: store, problem: problem))
    }
    if isLost && !code.hasPrefix("3D") || Self.isTransient(code) { return .again }
    return .refused(.databaseError(operation: operation, detail: "\(text) (SQLSTATE \(code))"))
  }

  /// Connection exceptions, rollbacks for others' sake, too many connections, a server that is
  /// being ended or started, a lock that was not to be had, a statement that took too long.
  private static func isTransient(_ code: String) -> Bool {
    code.hasPrefix("08") || code.hasPrefix("40") || code.hasPrefix("57P")
      || ["53300", "55P03", "57014"].contains(code)
  }
}

extension StoreProblem {
  fileprivate init?(sqlState code: String) {
    switch code {
    // A password or a line of pg_hba.conf; a right that the user has not.
    case "28000", "28P01", "42501": self = .refused
    case "53100": self = .full
    case "25006": self = .readOnly
    case "XX001", "XX002": self = .damaged
    default: return nil
    }
  }
}
