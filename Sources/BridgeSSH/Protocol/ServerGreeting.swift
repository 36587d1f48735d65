import BridgeErrors

/// What a server says before and at its version line (RFC 4253, 4.2), read as it comes in, within
/// a budget.
package struct ServerGreeting: Sendable {
  /// The facts known so far. All but `needMore` are final; texts are escaped and bounded.
  package enum Outcome: Sendable, Equatable {
    /// No version line yet.
    case needMore
    /// The server speaks SSH 2: its version line.
    case version(String)
    /// The server speaks only SSH 1: its version line.
    case ssh1(String)
    /// What came is not SSH; where it is an HTTP answer, where that points.
    case notSSH(firstLine: String, httpLocation: String?)
    /// The version line is longer than SSH allows: how it begins.
    case tooLong(String)
    /// More lines, or a longer one, than the budget came before a version line.
    case flood
  }

  /// How many lines may come before the version line, as with OpenSSH.
  package static let lineLimit = 1024
  /// How many bytes one of them may have, as with OpenSSH.
  package static let lineLength = 8192
  /// The longest version line, its CR and LF included (RFC 4253, 4.2).
  package static let versionLimit = 255
  /// What is kept of the text before the version line, in bytes.
  package static let textLimit = 8192
  /// How a version line begins.
  package static let mark = Array("SSH-".utf8)

  /// The facts known so far.
  package private(set) var outcome = Outcome.needMore
  /// How many of the bytes fed belong to the greeting: all, or those up to the end of the
  /// version line.
  package private(set) var consumed = 0
  /// How many bytes came before the version line; nil before it begins.
  package private(set) var versionStart: Int?

  private var line: [UInt8] = []
  private var before: [UInt8] = []
  private var lines = 0
  private var httpLocation: String?

  /// Creates an empty parser.
  package init() {}

  /// What the server said before its version line, raw; throttling servers say so here.
  package var preBanner: String {
    let rest = isVersionLine ? [] : line.prefix(Self.textLimit - before.count)
    return String(decoding: before + rest, as: UTF8.self)
  }

  /// Reads more of what the server sent; after a final outcome, nothing.
  package mutating func feed(_ bytes: some Collection<UInt8>) -> Outcome {
    for byte in bytes {
      guard outcome == .needMore else { break }
      consumed += 1
      take(byte)
    }
    return outcome
  }

  /// The result of the greeting when no more comes (end of stream, or the deadline); nil
  /// when nothing came, or only the start of a version line: the server was silent, or dropped us.
  /// Look at `preBanner` first: what a throttling server says is not SSH either.
  package func atEnd() -> Outcome? {
    guard outcome == .needMore else { return outcome }
    let isStart = line.isEmpty || Self.mark.starts(with: line) || isVersionLine
    return lines == 0 && isStart ? nil : notSSH
  }

  /// What no text begins with: other protocols are known at once.
  private static let neverFirst: Set<UInt8> = Set(1...6).union(14...26)
  private var isVersionLine: Bool { versionStart != nil }

  private var isHTTP: Bool { (lines == 0 ? line : before).starts(with: "HTTP/".utf8) }

  private var notSSH: Outcome {
    // An empty line says nothing.
    let first = (before + line).drop { $0 == 10 || $0 == 13 }.prefix { $0 != 10 && $0 != 13 }
    return .notSSH(firstLine: PeerText.escaped(first, limit: 256), httpLocation: httpLocation)
  }

  private mutating func take(_ byte: UInt8) {
    guard byte != 10 else { return endLine() }
    line.append(byte)
    if isVersionLine {
      // One place is the newline's.
      guard line.count >= Self.versionLimit else { return }
      outcome = .tooLong(PeerText.escaped(line, limit: Self.versionLimit))
    } else if line.count == Self.mark.count, line == Self.mark {
      versionStart = consumed - line.count
    } else if line.count > Self.lineLength + 1 {
      // One place is a CR's.
      outcome = isHTTP ? notSSH : .flood
    } else if byte == 0 || consumed == 1 && Self.neverFirst.contains(byte) {
      outcome = notSSH
    }
  }

  private mutating func endLine() {
    if line.last == 13 { line.removeLast() }
    if isVersionLine { return endVersion() }
    if isHTTP {
      let name = Array("location:".utf8)
      if line.prefix(name.count).map({ $0 | 32 }) == name.map({ $0 | 32 }) {
        let value = line.dropFirst(name.count).drop { $0 == 32 || $0 == 9 }
        httpLocation = PeerText.escaped(value, limit: 1024)
      } else if line.isEmpty {
        outcome = notSSH
        return
      }
    }
    if line.count > Self.lineLength || lines == Self.lineLimit {
      outcome = isHTTP ? notSSH : .flood
    }
    before += (line + [10]).prefix(Self.textLimit - before.count)
    line = []
    lines += 1
  }

  private mutating func endVersion() {
    let text = PeerText.escaped(line, limit: Self.versionLimit * 4)
    let number = line.dropFirst(Self.mark.count).prefix { $0 != UInt8(ascii: "-") }
    guard line.allSatisfy({ $0 >= 32 && $0 != 127 }) else { return outcome = notSSH }
    switch String(decoding: number, as: UTF8.self) {
    // 1.99 is SSH 2 that also takes SSH 1 clients (RFC 4253, 5.1).
    case "2.0", "1.99": outcome = .version(text)
    case let other where other.hasPrefix("1."): outcome = .ssh1(text)
    default: outcome = notSSH
    }
  }
}
