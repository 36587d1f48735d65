/// Which names announce a secret. All input is in lower case.
enum SecretNames {
  static func isHeader(_ word: ArraySlice<UInt8>) -> Bool {
    word.ends(with: "authorization") || word.ends(with: "cookie")
  }

  static func isSecret(_ word: ArraySlice<UInt8>) -> Bool {
    if word.ends(with: "pass") || word.contains("passw") || word.contains("passph") { return true }
    if word.contains("token") { return !word.ends(with: "tokens") }
    return parts.contains { word.contains($0) }
  }

  /// "API key: …" in two words.
  static func isSecret(_ word: ArraySlice<UInt8>, after before: ArraySlice<UInt8>) -> Bool {
    word.elementsEqual("key".utf8)
      && ["api", "access", "private", "secret"].contains { before.elementsEqual($0.utf8) }
  }

  static func isTokenShape(_ word: ArraySlice<UInt8>) -> Bool {
    shapes.contains { word.starts(with: $0.utf8) }
  }

  private static let parts = [
    "secret", "pwd", "credential", "apikey", "api_key", "api-key", "accesskey", "access_key",
    "access-key", "privatekey", "private_key", "private-key",
  ]

  /// GitHub, GitLab, OpenAI and Anthropic, Slack, AWS, Google, JSON web tokens, OpenSSH's key body.
  private static let shapes = [
    "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "akia",
    "aiza", "eyj", "b3blbnnzac1",
  ]
}

extension ArraySlice<UInt8> {
  fileprivate func ends(with text: String) -> Bool {
    suffix(text.utf8.count).elementsEqual(text.utf8)
  }

  fileprivate func contains(_ text: String) -> Bool {
    let needle = text.utf8
    guard count >= needle.count, let first = needle.first else { return false }
    return (startIndex...(endIndex - needle.count)).contains { start in
      self[start] == first && self[start..<start + needle.count].elementsEqual(needle)
    }
  }
}
