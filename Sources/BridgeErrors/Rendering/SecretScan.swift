/// One search for secrets through a text, by words, by runs around an `@`, and for PEM blocks.
struct SecretScan {
  private let bytes: [UInt8]
  private let lower: [UInt8]
  private var hidden: [Range<Int>] = []

  init(_ text: String) {
    bytes = Array(text.utf8)
    lower = bytes.map(\.lowercased)
  }

  mutating func redacted() -> String {
    findBlocks()
    findWords()
    findAddresses()
    guard !hidden.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
    hidden.sort { $0.lowerBound < $1.lowerBound }
    var result: [UInt8] = []
    var position = 0
    for range in hidden where range.upperBound > position {
      // What overlaps the secret before it is part of the same one.
      if range.lowerBound >= position {
        result += bytes[position..<range.lowerBound]
        result += Redactor.mark.utf8
      }
      position = range.upperBound
    }
    result += bytes[position...]
    return String(decoding: result, as: UTF8.self)
  }

  // MARK: PEM

  private mutating func findBlocks() {
    var position = 0
    while let begin = find("-----begin", from: position) {
      let body = find("-----end", from: begin)
      let end = body.map { find("-----", from: $0 + 8).map { $0 + 5 } ?? bytes.count }
      hidden.append(begin..<(end ?? bytes.count))
      position = end ?? bytes.count
    }
  }

  private func find(_ text: String, from start: Int) -> Int? {
    let needle = Array(text.utf8)
    var position = start
    while position + needle.count <= lower.count {
      if lower[position] == needle[0],
        lower[position..<position + needle.count].elementsEqual(needle)
      {
        return position
      }
      position += 1
    }
    return nil
  }

  // MARK: Names and their values

  private mutating func findWords() {
    let blocks = hidden
    hidden = []
    defer { hidden += blocks }
    var position = 0
    var before = 0..<0
    while position < bytes.count {
      guard bytes[position].isASCIIWordPart else {
        position += 1
        continue
      }
      var end = position
      while end < bytes.count, bytes[end].isASCIIWordPart { end += 1 }
      look(at: position..<end, after: before)
      before = position..<end
      // What is hidden is not looked at again: that keeps the time linear.
      position = max(end, hidden.last?.upperBound ?? 0)
    }
  }

  private mutating func look(at word: Range<Int>, after before: Range<Int>) {
    let name = lower[word]
    if SecretNames.isHeader(name) {
      hideValue(after: word, isHeader: true)
    } else if SecretNames.isSecret(name) || SecretNames.isSecret(name, after: lower[before]) {
      hideValue(after: word, isHeader: false)
    } else if name.elementsEqual("bearer".utf8) {
      hideToken(after: word)
    } else if name.elementsEqual("-u".utf8) || name.elementsEqual("--user".utf8) {
      hidePassword(after: word)
    } else if SecretNames.isTokenShape(name) {
      let end = endOfToken(from: word.lowerBound)
      if end - word.lowerBound >= 16 { hidden.append(word.lowerBound..<end) }
    } else if name.elementsEqual("-p".utf8), lower[before].elementsEqual("sshpass".utf8) {
      hidden.append(value(from: skipSpaces(word.upperBound)))
    }
  }

  private mutating func hideValue(after word: Range<Int>, isHeader: Bool) {
    var position = word.upperBound
    if position < bytes.count, bytes[position].isASCIIQuote { position += 1 }
    position = skipSpaces(position)
    if position < bytes.count, bytes[position] == 0x3A || bytes[position] == 0x3D {
      position += 1
      // := and =>
      if position < bytes.count, bytes[position] == 0x3D || bytes[position] == 0x3E {
        position += 1
      }
    } else if bytes[word.lowerBound] != 0x2D || position == word.upperBound
      || position == bytes.count || bytes[position] == 0x2D
    {
      return  // neither an assignment nor a flag with a value
    }
    let range = isHeader ? line(from: skipSpaces(position)) : value(from: skipSpaces(position))
    if !range.isEmpty { hidden.append(range) }
  }

  /// A bearer token, not the next word of a sentence about one.
  private mutating func hideToken(after word: Range<Int>) {
    let start = skipSpaces(word.upperBound)
    let end = endOfToken(from: start)
    let hasSign = bytes[start..<end].contains { !$0.isASCIILetter }
    if end - start >= 20 || end - start >= 8 && hasSign { hidden.append(start..<end) }
  }

  /// `-u name:password`, as curl takes it.
  private mutating func hidePassword(after word: Range<Int>) {
    let range = value(from: skipSpaces(word.upperBound))
    guard let colon = bytes[range].firstIndex(of: 0x3A) else { return }
    hidden.append(colon + 1..<range.upperBound)
  }

  private func skipSpaces(_ start: Int) -> Int {
    var position = start
    while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 {
      position += 1
    }
    return position
  }

  private func endOfToken(from start: Int) -> Int {
    bytes[start...].firstIndex {
      !$0.isASCIIWordPart && $0 != 0x2E && $0 != 0x2F && $0 != 0x2B && $0 != 0x7E && $0 != 0x3D
    } ?? bytes.count
  }

  /// A quoted value to its closing quote, else to the next space, quote or `&`; the scheme before a
  /// credential belongs to it.
  private func value(from start: Int) -> Range<Int> {
    guard start < bytes.count else { return start..<start }
    if bytes[start].isASCIIQuote {
      let quote = bytes[start]
      return start + 1..<(bytes[(start + 1)...].firstIndex(of: quote) ?? bytes.count)
    }
    let end = endOfWord(from: start)
    let isScheme = ["bearer", "basic", "digest"].contains {
      lower[start..<end].elementsEqual($0.utf8)
    }
    return isScheme ? start..<endOfWord(from: skipSpaces(end)) : start..<end
  }

  private func endOfWord(from start: Int) -> Int {
    bytes[start...].firstIndex { $0.isASCIISpace || $0.isASCIIQuote || $0 == 0x26 } ?? bytes.count
  }

  /// A header's value: quoted, or to the end of the line or of the quotes around the header.
  private func line(from start: Int) -> Range<Int> {
    guard start < bytes.count, !bytes[start].isASCIIQuote else { return value(from: start) }
    let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D || $0.isASCIIQuote }
    return start..<(end ?? bytes.count)
  }

  // MARK: Addresses

  private mutating func findAddresses() {
    var start = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(where: Self.endsRun) ?? bytes.count
      if let at = bytes[start..<end].lastIndex(of: 0x40), at > start {
        hideAddress(start..<end, at: at)
      }
      start = end + 1
    }
  }

  private static func endsRun(_ byte: UInt8) -> Bool {
    byte.isASCIISpace || byte.isASCIIQuote || [0x2F, 0x3C, 0x3E, 0x28, 0x29].contains(byte)
  }

  private mutating func hideAddress(_ run: Range<Int>, at: Int) {
    if let colon = bytes[run.lowerBound..<at].firstIndex(of: 0x3A) {
      hidden.append(colon + 1..<at)
    } else if isAfterScheme(run.lowerBound) {
      if !isLoginURL(before: run.lowerBound) { hidden.append(run.lowerBound..<at) }
    } else {
      // A list of addresses, or a name and one: a,b;to=c.
      for part in bytes[run].split(whereSeparator: { $0 == 0x2C || $0 == 0x3B || $0 == 0x3D }) {
        hideMail(part.startIndex..<part.endIndex)
      }
    }
  }

  private mutating func hideMail(_ part: Range<Int>) {
    guard let at = bytes[part].lastIndex(of: 0x40), at > part.lowerBound,
      !bytes[part.lowerBound..<at].elementsEqual("git".utf8), !isAlgorithm(part, at: at),
      let end = domain(from: at + 1, in: part)
    else { return }
    hidden.append(part.lowerBound..<end)
  }

  /// Names of SSH algorithms look like addresses (RFC 4251, 6): `aes256-gcm@openssh.com`.
  private func isAlgorithm(_ part: Range<Int>, at: Int) -> Bool {
    let name = lower[part.lowerBound..<at]
    let domain = lower[(at + 1)..<part.upperBound].prefix { $0.isASCIIWordPart || $0 == 0x2E }
    guard name.contains(0x2D) || name.elementsEqual("zlib".utf8) else { return false }
    return ["openssh.com", "libssh.org", "lysator.liu.se", "ssh.com"].contains { owner in
      let dot = domain.last == 0x2E ? domain.dropLast() : domain
      return dot.elementsEqual(owner.utf8)
    }
  }

  private func isAfterScheme(_ start: Int) -> Bool {
    start >= 3 && bytes[(start - 3)..<start].elementsEqual("://".utf8)
  }

  /// In `ssh://user@host` the user is no secret; in `https://token@host` it is one.
  private func isLoginURL(before start: Int) -> Bool {
    ["ssh://", "sftp://"].contains { scheme in
      start >= scheme.utf8.count
        && lower[(start - scheme.utf8.count)..<start].elementsEqual(scheme.utf8)
    }
  }

  /// The end of `example.org` after the `@`; nil where that is no domain, or the address is the
  /// start of a remote path (`user@host.example:/path`).
  private func domain(from start: Int, in run: Range<Int>) -> Int? {
    var end = start
    var lastDot: Int?
    while end < run.upperBound, bytes[end].isASCIIWordPart || bytes[end] == 0x2E {
      if bytes[end] == 0x2E, end + 1 < run.upperBound, bytes[end + 1].isASCIILetter {
        lastDot = end
      }
      end += 1
    }
    guard let lastDot, end - lastDot > 2 else { return nil }
    let isPath =
      end + 1 < bytes.count && bytes[end] == 0x3A && [0x2F, 0x7E, 0x2E].contains(bytes[end + 1])
    return isPath ? nil : end
  }
}
