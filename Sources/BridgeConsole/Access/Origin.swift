/// The origin of a page: scheme, host, and a port where it is not the scheme's.
struct Origin: Sendable, Hashable {
  /// As a browser writes it in `Origin`.
  let text: String
  /// As a browser writes it in `Host`.
  let host: String

  /// An origin as people write it; nil for what is none.
  init?(_ text: String) {
    let text = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else {
      return nil
    }
    let host = String(text.dropFirst(scheme.count))
    let isPlain = host.utf8.allSatisfy { byte in
      let character = Character(Unicode.Scalar(byte))
      return character.isASCII && (character.isLetter || character.isNumber)
        || ".-:[]".contains(character)
    }
    guard !host.isEmpty, isPlain else { return nil }
    let standard = scheme == "https://" ? ":443" : ":80"
    self.host = host.hasSuffix(standard) ? String(host.dropLast(standard.count)) : host
    self.text = scheme + self.host
  }
}
