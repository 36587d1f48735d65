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

  /// `sig=…` and `X-Amz-Signature=…`: what such a name is given is a secret if it is long.
  static func isSignature(_ word: ArraySlice<UInt8>) -> Bool {
    word.elementsEqual("sig".utf8) || word.ends(with: "signature")
  }

  /// A shell's variable for the working directory, and its password by the same name elsewhere.
  static func isWorkingDirectory(_ word: ArraySlice<UInt8>) -> Bool {
    word.elementsEqual("pwd".utf8) || word.elementsEqual("oldpwd".utf8)
  }

  /// Whether `value` is a path that is unlikely to be a password: from the root, home or working
  /// directory.
  static func isPath(_ value: ArraySlice<UInt8>) -> Bool {
    guard let first = value.first else { return false }
    if first == 0x7E || first == 0x2E { return value.dropFirst().first == 0x2F }
    guard first == 0x2F else { return false }
    let top = value.dropFirst().prefix { $0 != 0x2F }
    return top.isEmpty || tops.contains { top.elementsEqual($0.utf8) }
  }

  private static let tops = [
    "app", "bin", "boot", "build", "builds", "code", "data", "dev", "etc", "github", "home", "lib",
    "media", "mnt", "opt", "private", "proc", "project", "repo", "root", "run", "sbin", "snap",
    "src", "srv", "sys", "tmp", "users", "usr", "var", "volumes", "work", "workdir", "workspace",
    "workspaces",
  ]

  /// Whether a token begins with `word`, which `next` follows.
  static func beginsToken(_ word: ArraySlice<UInt8>, before next: UInt8?) -> Bool {
    if word.elementsEqual("ya29".utf8) { return next == 0x2E }
    return shapes.contains { word.starts(with: $0.utf8) }
  }

  /// Whether `word` is a token of a kind that variables, functions and a region of a cloud are
  /// called like: by all of it.
  static func isToken(_ word: ArraySlice<UInt8>, lower: ArraySlice<UInt8>) -> Bool {
    if word.count >= 16, word.starts(with: "ASIA".utf8) {
      return word.allSatisfy { 0x41...0x5A ~= $0 || $0.isASCIIDigit }
    }
    guard let shape = strictShapes.first(where: { lower.starts(with: $0.utf8) }) else {
      return false
    }
    let body = word.dropFirst(shape.utf8.count)
    return body.count >= 20 && body.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
  }

  private static let parts = [
    "secret", "pwd", "credential", "apikey", "api_key", "api-key", "accesskey", "access_key",
    "access-key", "privatekey", "private_key", "private-key",
  ]

  /// GitHub, GitLab, OpenAI and Anthropic, Stripe, Slack, AWS, Google, JSON web tokens, the body of
  /// OpenSSH's keys.
  private static let shapes = [
    "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "glpat-", "sk-", "sk_live_", "sk_test_",
    "rk_live_", "rk_test_", "xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "akia", "aiza",
    "eyj", "b3blbnnzac1",
  ]
  /// Hugging Face, npm.
  private static let strictShapes = ["hf_", "npm_"]
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
