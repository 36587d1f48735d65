/// One search for secrets through a text, by words, by runs around an `@`, and for PEM blocks.
struct SecretScan {
  let bytes: [UInt8]
  let lower: [UInt8]
  private var hidden: [Range<Int>] = []
  private var isInSSHPass = false

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
    // Some have a name in them that announces another secret.
    if let end = TokenShape.end(ofTokenAt: word, in: bytes, isPart: Self.isTokenPart) {
      hide(word.lowerBound..<end)
    } else if SecretNames.isHeader(name) {
      hideValue(after: word, isHeader: true)
    } else if SecretNames.isSecret(name) || SecretNames.isSecret(name, after: lower[before]) {
      hideValue(after: word, isHeader: false)
    } else if SecretNames.isSignature(name) {
      hideSignature(after: word)
    } else if name.elementsEqual(SecretNames.bearer.utf8) {
      hideToken(after: word)
    } else if isUserFlag(word) {
      hidePassword(after: word)
    } else if name.starts(with: "-p".utf8), isInSSHPass {
      let start = word.lowerBound + 2
      hide(value(from: start == word.upperBound ? skipSpaces(start) : start))
      isInSSHPass = false
    } else if isInQuery(word), SecretNames.isQuery(name) {
      let range = value(from: word.upperBound + 1)
      if range.count >= 8 { hide(range) }
    }
    noteProgram(name)
  }

  /// Whether `word` names a parameter of a URL: `?word=`, `&word=`.
  private func isInQuery(_ word: Range<Int>) -> Bool {
    guard word.lowerBound > 0, word.upperBound < bytes.count, bytes[word.upperBound] == 0x3D else {
      return false
    }
    return [0x3F, 0x26, 0x23, 0x3B].contains(bytes[word.lowerBound - 1])  // ? & # ;
  }

  private func isUserFlag(_ word: Range<Int>) -> Bool {
    let isFirst = word.lowerBound == 0 || !(0x21...0x7E ~= bytes[word.lowerBound - 1])
    return isFirst && ["-u", "--user"].contains { lower[word].elementsEqual($0.utf8) }
  }

  /// Between `sshpass` and the program that it starts, `-p` is a password.
  private mutating func noteProgram(_ word: ArraySlice<UInt8>) {
    if word.elementsEqual("sshpass".utf8) {
      isInSSHPass = true
    } else if ["ssh", "scp", "sftp", "rsync"].contains(where: { word.elementsEqual($0.utf8) }) {
      isInSSHPass = false
    }
  }

  /// An empty secret is none, and a mark in its place would say otherwise.
  mutating func hide(_ range: Range<Int>) {
    if !range.isEmpty { hidden.append(range) }
  }

  private mutating func hideValue(after word: Range<Int>, isHeader: Bool) {
    guard let start = startOfValue(after: word) else { return }
    let range = isHeader ? line(from: start) : value(from: start)
    if SecretNames.isWorkingDirectory(lower[word]), SecretNames.isPath(lower[range]) { return }
    hide(range)
  }

  /// Where the value of an assignment, a header or a flag begins; nil where `word` is none of them.
  private func startOfValue(after word: Range<Int>) -> Int? {
    var position = word.upperBound
    // The name is quoted, or is in JSON that is a string of its own.
    if position + 1 < bytes.count, bytes[position] == 0x5C, bytes[position + 1].isASCIIQuote {
      position += 1
    }
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
      return nil  // neither an assignment nor a flag with a value
    }
    return skipSpaces(position)
  }

  private mutating func hideSignature(after word: Range<Int>) {
    guard word.upperBound < bytes.count, bytes[word.upperBound] == 0x3D else { return }
    let range = value(from: word.upperBound + 1)
    if range.count >= 16 { hide(range) }
  }

  /// A bearer token, not the next word of a sentence about one.
  private mutating func hideToken(after word: Range<Int>) {
    let start = skipSpaces(word.upperBound)
    let end = endOfToken(from: start)
    let hasSign = bytes[start..<end].contains { !$0.isASCIILetter }
    if end - start >= 20 || end - start >= 8 && hasSign { hide(start..<end) }
  }

  /// `-u name:password`, as curl takes it.
  private mutating func hidePassword(after word: Range<Int>) {
    let range = value(from: skipSpaces(word.upperBound))
    guard let colon = bytes[range].firstIndex(of: 0x3A) else { return }
    hide(colon + 1..<range.upperBound)
  }

  private func skipSpaces(_ start: Int) -> Int {
    var position = start
    while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 {
      position += 1
    }
    return position
  }

  private func endOfToken(from start: Int) -> Int {
    bytes[start...].firstIndex { !Self.isTokenPart($0) } ?? bytes.count
  }

  private static func isTokenPart(_ byte: UInt8) -> Bool {
    byte.isASCIIWordPart || byte == 0x2E || byte == 0x2F || byte == 0x2B || byte == 0x7E
      || byte == 0x3D  // . / + ~ =
  }

  /// A quoted value to its closing quote, else to the next space, quote or `&`; the scheme before a
  /// credential belongs to it.
  private func value(from start: Int) -> Range<Int> {
    guard start < bytes.count else { return start..<start }
    if bytes[start].isASCIIQuote { return quoted(from: start + 1, by: bytes[start]) }
    // JSON in a string: its quotes are escaped.
    if bytes[start] == 0x5C, start + 1 < bytes.count, bytes[start + 1] == 0x22 {
      return escapedlyQuoted(from: start + 2)
    }
    let end = endOfWord(from: start)
    let isScheme = ["bearer", "basic", "digest"].contains {
      lower[start..<end].elementsEqual($0.utf8)
    }
    return isScheme ? start..<endOfWord(from: skipSpaces(end)) : start..<end
  }

  /// Up to `quote`. Between double quotes a backslash takes the next byte's meaning away.
  private func quoted(from start: Int, by quote: UInt8) -> Range<Int> {
    var position = start
    while position < bytes.count, bytes[position] != quote {
      position += quote == 0x22 && bytes[position] == 0x5C ? 2 : 1
    }
    return start..<min(position, bytes.count)
  }

  /// Up to `\"` that is not itself escaped (`\\\"` is a quote in the value).
  private func escapedlyQuoted(from start: Int) -> Range<Int> {
    var position = start
    while position < bytes.count {
      let backslashes = bytes[position...].prefix { $0 == 0x5C }.count
      let end = position + backslashes
      guard end < bytes.count else { break }
      if bytes[end] == 0x22, backslashes <= 1 { return start..<position }
      position = end + 1
    }
    return start..<bytes.count
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
}
