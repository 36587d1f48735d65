import BridgeErrors

/// The tokens of ssh_config(5), TOKENS: a `%` and a character.
enum TextTokens {
  /// `text` with each `%x` replaced by its token, and `%%` by `%`.
  static func replaced(
    _ text: String, tokens: [Character: String], _ refuse: (String) -> AppError
  ) throws(AppError) -> String {
    var result = ""
    var isToken = false
    for character in text {
      if isToken {
        guard let value = character == "%" ? "%" : tokens[character] else {
          let shown = PeerText.escaped(String(character), limit: 16)
          throw refuse("the token %\(shown) is not supported")
        }
        result += value
        isToken = false
      } else if character == "%" {
        isToken = true
      } else {
        result.append(character)
      }
    }
    guard !isToken else { throw refuse("a % stands alone at the end") }
    return result
  }
}
