/// Which names announce a secret. All input is in lower case.
enum SecretNames {
  /// What each secret that a name announces comes with: all that is looked for below.
  static let announcing: [String] =
    headers + [pass, token, bearer, "-----begin", "--user"] + parts
    + [" ", "\t", "=", "'", "\""].map { "-u" + $0 } + keys.map { "\($0) key" }
    + ["sig=", "signature="] + queries.map { "\($0)=" }

  private static let (pass, token) = ("pass", "token")
  static let bearer = "bearer"
  private static let headers = ["authorization", "cookie"]
  private static let keys = ["api", "access", "private", "secret"]
  private static let parts = [
    "secret", "pwd", "credential", "apikey", "api_key", "api-key", "accesskey", "access_key",
    "access-key", "privatekey", "private_key", "private-key", "accountkey", "account_key",
    "account-key",
  ]

  /// Parameters of a URL that a login hands over (OAuth, OpenID, CAS, SAML, sessions in URLs).
  private static let queries = [
    "code", "state", "nonce", "ticket", "session", "sessionid", "session_id", "session_state",
    "sid", "jsessionid", "phpsessid", "assertion", "samlresponse", "samlrequest", "relaystate",
    "key", "auth", "otp", "jwt",
  ]

  static func isHeader(_ word: ArraySlice<UInt8>) -> Bool {
    headers.contains { word.ends(with: $0) }
  }

  static func isSecret(_ word: ArraySlice<UInt8>) -> Bool {
    if word.ends(with: pass) || word.contains("passw") || word.contains("passph") { return true }
    if word.contains(token) { return !word.ends(with: "tokens") }
    return parts.contains { word.contains($0) }
  }

  /// "API key: …" in two words.
  static func isSecret(_ word: ArraySlice<UInt8>, after before: ArraySlice<UInt8>) -> Bool {
    before.endIndex + 1 == word.startIndex && word.elementsEqual("key".utf8)
      && keys.contains { before.elementsEqual($0.utf8) }
  }

  /// `sig=…` and `X-Amz-Signature=…`: what such a name is given is a secret if it is long.
  static func isSignature(_ word: ArraySlice<UInt8>) -> Bool {
    word.elementsEqual("sig".utf8) || word.ends(with: "signature")
  }

  /// Whether `word`, in a query, is what a login is handed over by.
  static func isQuery(_ word: ArraySlice<UInt8>) -> Bool {
    queries.contains { word.elementsEqual($0.utf8) }
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
