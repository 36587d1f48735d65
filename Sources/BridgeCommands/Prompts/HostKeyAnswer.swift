/// The answer to the question about an unknown host key.
package enum HostKeyAnswer: Sendable, Equatable {
  case trust
  case refuse
  /// Neither; ask again.
  case unclear

  /// `yes`, the fingerprint itself, or `no`; nothing at all is no.
  package init(_ text: String, fingerprint: String) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let answer = words.first, words.count == 1 else {
      self = words.isEmpty ? .refuse : .unclear
      return
    }
    switch answer.lowercased() {
    case "yes": self = .trust
    case "no", "n": self = .refuse
    case _ where answer == fingerprint: self = .trust
    case _: self = .unclear
    }
  }
}
