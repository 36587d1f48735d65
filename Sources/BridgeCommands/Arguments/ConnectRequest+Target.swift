import BridgeErrors

extension ConnectRequest {
  /// The host as the user typed it, with the options that lead there, as words for a shell: for a
  /// command that is shown to be copied.
  package var target: String {
    var words: [String] = []
    if let config { words += ["-F", config] }
    if let jump { words += ["-J", jump] }
    for identity in identities { words += ["-i", identity] }
    for option in options { words += ["-o", option] }
    if let knownHosts { words += ["--known-hosts", knownHosts] }
    let user = user.map { "\($0)@" } ?? ""
    let isBracketed = port != nil && host.host.contains(":")
    let name = isBracketed ? "[\(host.host)]" : host.host
    words.append(user + name + (port.map { ":\($0)" } ?? ""))
    return words.map { Self.quoted(PeerText.escaped($0, limit: 1024)) }.joined(separator: " ")
  }

  /// `text` as an operand behind others: one word of a POSIX shell, and no option.
  static func operand(_ text: String) -> String {
    (text.hasPrefix("-") ? "-- " : "") + quoted(text)
  }

  /// `text` as one word of a POSIX shell.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      byte >= 0x80 || Character(UnicodeScalar(byte)).isLetter
        || Character(UnicodeScalar(byte)).isNumber || "@%+=:,./-_".utf8.contains(byte)
    }
    guard !isPlain || text.isEmpty else { return text }
    let parts = text.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
