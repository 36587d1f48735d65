// Passwords before an `@`, and e-mail addresses.
extension SecretScan {
  /// Looks at every run between spaces that holds an `@`.
  mutating func findAddresses() {
    var start = 0
    while start < bytes.count {
      let end = endOfRun(from: start)
      if bytes[start..<end].contains(Self.at) { findURLs(in: start..<end) }
      start = end + 1
    }
  }

  private static let at = UInt8(ascii: "@")
  private static let colon = UInt8(ascii: ":")
  private static let slash = UInt8(ascii: "/")

  /// A run ends at a space, at `<` and `>`, and at a quote, unless that stands between letters or
  /// digits (`redis://:p'w@host`).
  private func endOfRun(from start: Int) -> Int {
    var position = start
    while position < bytes.count {
      let byte = bytes[position]
      if byte.isASCIISpace || byte == 0x3C || byte == 0x3E { return position }
      if byte.isASCIIQuote, !isInWord(position) { return position }
      position += 1
    }
    return position
  }

  private func isInWord(_ position: Int) -> Bool {
    guard position > 0, position + 1 < bytes.count else { return false }
    return [bytes[position - 1], bytes[position + 1]].allSatisfy {
      $0.isASCIILetter || $0.isASCIIDigit
    }
  }

  private mutating func findURLs(in run: Range<Int>) {
    var rest = run
    while let authority = endOfScheme(in: rest) {
      findPlain(in: rest.lowerBound..<authority - 3)
      rest = hideLogin(ofURL: authority..<rest.upperBound)..<rest.upperBound
    }
    findPlain(in: rest)
  }

  private mutating func findPlain(in run: Range<Int>) {
    guard bytes[run].contains(Self.at) else { return }
    findAddresses(in: (hideLogin(in: run) ?? run.lowerBound)..<run.upperBound)
  }

  /// Hides the password of `user:password@host` where it holds what else would end it. Returns the
  /// position to look on from; nil where there is no such password.
  private mutating func hideLogin(in run: Range<Int>) -> Int? {
    guard let colon = bytes[run].firstIndex(of: Self.colon), colon > run.lowerBound,
      bytes[run.lowerBound..<colon].allSatisfy({ $0.isASCIIWordPart || $0 == 0x2E || $0 == 0x2B }),
      let breach = bytes[colon..<run.upperBound].firstIndex(where: Self.endsPart),
      // A path is none, and a port is none.
      bytes[colon + 1] != Self.slash, !isPort(colon + 1..<breach),
      !bytes[colon..<breach].contains(Self.at),
      let at = lastAt(from: breach, in: run), !isVersion(from: at + 1, in: run)
    else { return nil }
    hide(colon + 1..<at)
    return at + 1
  }

  private func endOfScheme(in run: Range<Int>) -> Int? {
    guard run.count > 3 else { return nil }
    let mark = (run.lowerBound...(run.upperBound - 3)).first {
      bytes[$0] == Self.colon && bytes[$0 + 1] == Self.slash && bytes[$0 + 2] == Self.slash
    }
    return mark.map { $0 + 3 }
  }

  /// Hides the credentials of a URL, from its authority on. Returns where to continue.
  private mutating func hideLogin(ofURL rest: Range<Int>) -> Int {
    let path = bytes[rest].firstIndex(where: Self.endsAuthority) ?? rest.upperBound
    if let at = bytes[rest.lowerBound..<path].lastIndex(of: Self.at) {
      if let colon = bytes[rest.lowerBound..<at].firstIndex(of: Self.colon) {
        hide(colon + 1..<at)
      } else if !isLoginURL(before: rest.lowerBound) {
        hide(rest.lowerBound..<at)
      }
      return path
    }
    // A password may hold what ends an authority; a port is none.
    guard bytes[rest].first != 0x5B,
      let colon = bytes[rest.lowerBound..<path].firstIndex(of: Self.colon),
      !isPort(colon + 1..<path), let at = lastAt(from: path, in: rest)
    else { return rest.lowerBound }
    hide(colon + 1..<at)
    return at + 1
  }

  /// The last `@` of the part of `run` that holds the first one from `start` on.
  private func lastAt(from start: Int, in run: Range<Int>) -> Int? {
    guard let first = bytes[start..<run.upperBound].firstIndex(of: Self.at) else { return nil }
    let end = bytes[first..<run.upperBound].firstIndex(where: Self.endsAuthority)
    return bytes[first..<(end ?? run.upperBound)].lastIndex(of: Self.at)
  }

  private func isPort(_ range: Range<Int>) -> Bool {
    1...5 ~= range.count && bytes[range].allSatisfy(\.isASCIIDigit)
  }

  /// `v4`, `1.2.3`, `2x.png`, `sha256:…` after an `@` are no hosts; 10.0.0.1 is one.
  private func isVersion(from start: Int, in run: Range<Int>) -> Bool {
    let text = lower[start..<run.upperBound].prefix { $0.isASCIIWordPart || $0 == 0x2E }
    if text.elementsEqual("sha256".utf8) { return true }
    let number = text.first == UInt8(ascii: "v") ? text.dropFirst() : text
    guard number.first?.isASCIIDigit == true else { return false }
    let parts = text.split(separator: 0x2E, omittingEmptySubsequences: false)
    let isAddress = parts.count == 4 && parts.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
    return !isAddress
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    [0x2F, 0x3F, 0x23].contains(byte)  // / ? #
  }

  private static func endsPart(_ byte: UInt8) -> Bool {
    byte.isASCIIQuote || [slash, 0x28, 0x29].contains(byte)  // ( )
  }

  private mutating func findAddresses(in run: Range<Int>) {
    var start = run.lowerBound
    while start < run.upperBound {
      let end = bytes[start..<run.upperBound].firstIndex(where: Self.endsPart) ?? run.upperBound
      if let at = bytes[start..<end].lastIndex(of: Self.at), at > start {
        hideAddress(start..<end, at: at)
      }
      start = end + 1
    }
  }

  private mutating func hideAddress(_ run: Range<Int>, at: Int) {
    if let colon = bytes[run.lowerBound..<at].firstIndex(of: Self.colon) {
      hide(colon + 1..<at)
    } else {
      // A list of addresses, or a name and one: a,b;to=c.
      for part in bytes[run].split(whereSeparator: { $0 == 0x2C || $0 == 0x3B || $0 == 0x3D }) {
        hideMail(part.startIndex..<part.endIndex)
      }
    }
  }

  private mutating func hideMail(_ part: Range<Int>) {
    guard let at = bytes[part].lastIndex(of: Self.at), at > part.lowerBound,
      !bytes[part.lowerBound..<at].elementsEqual("git".utf8), !isAlgorithm(part, at: at),
      let end = domain(from: at + 1, in: part)
    else { return }
    hide(part.lowerBound..<end)
  }

  /// Names of SSH algorithms look like addresses (RFC 4251, 6): `aes256-gcm@openssh.com`.
  private func isAlgorithm(_ part: Range<Int>, at: Int) -> Bool {
    let name = lower[part.lowerBound..<at]
    let domain = lower[(at + 1)..<part.upperBound].prefix { $0.isASCIIWordPart || $0 == 0x2E }
    guard name.contains(0x2D) || name.elementsEqual("zlib".utf8) else { return false }
    return ["openssh.com", "libssh.org", "lysator.liu.se", "ssh.com"].contains { owner in
      guard domain.starts(with: owner.utf8) else { return false }
      // The end of a sentence, or of a file's name that was made of it: `…@openssh.com-agent.pub`.
      let rest = domain.dropFirst(owner.utf8.count)
      return rest.isEmpty || rest.elementsEqual(".".utf8) || rest.first == 0x2D
    }
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
