extension Secret {
  /// Shorter than that a part of a secret is a word of any text.
  private static let shortest = 8

  /// `text` without this secret, or a part of it that a peer may repeat alone: the token behind a
  /// scheme, the value of a cookie, a password behind its user's name.
  package func hidden(in text: String) -> String {
    let value = reveal { String(decoding: $0, as: UTF8.self) }
    let parts = value.split { " :;,=".contains($0) }
    return ([value[...]] + parts).reduce(text) { text, part in
      part.utf8.count < Self.shortest || !text.contains(part)
        ? text : text.replacing(part, with: Redactor.mark)
    }
  }
}
