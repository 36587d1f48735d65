/// One part of a file name with wildcards, as the glob(3) of OpenSSH reads it: `*`, `?`, `[abc]`,
/// `[a-z]`, `[!a]`, `[[:digit:]]`, and `\` before a character that stands for itself. It has no
/// `^` that negates.
struct PathPattern {
  private enum Token {
    case text(UInt8)
    case any
    case one
    case oneOf([ClosedRange<UInt8>], isNegated: Bool)
  }

  private let tokens: [Token]

  /// Whether the pattern may stand for several names.
  let hasWildcard: Bool
  /// What it says without the backslashes.
  let plain: String
  private let beginsWithDot: Bool

  init(_ text: some StringProtocol) {
    var rest = Array(text.utf8)[...]
    var tokens: [Token] = []
    var hasWildcard = false
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"): tokens.append(.any)
      case UInt8(ascii: "?"): tokens.append(.one)
      case UInt8(ascii: "["):
        guard let token = Self.oneOf(&rest) else {
          tokens.append(.text(byte))
          continue
        }
        tokens.append(token)
      case UInt8(ascii: "\\"):
        tokens.append(.text(rest.popFirst() ?? byte))
        continue
      default:
        tokens.append(.text(byte))
        continue
      }
      hasWildcard = true
    }
    self.tokens = tokens
    self.hasWildcard = hasWildcard
    let bytes = tokens.compactMap { if case .text(let byte) = $0 { byte } else { nil } }
    plain = String(decoding: bytes, as: UTF8.self)
    beginsWithDot = if case .text(UInt8(ascii: "."))? = tokens.first { true } else { false }
  }

  /// Whether `name` fits; one that begins with a dot only where the pattern does. Never more than
  /// name × pattern steps.
  func fits(_ name: String) -> Bool {
    guard beginsWithDot || !name.hasPrefix(".") else { return false }
    let name = Array(name.utf8)
    var (at, next) = (0, 0)
    var retry: (token: Int, name: Int)?
    while at < name.count {
      if next < tokens.count, case .any = tokens[next] {
        next += 1
        retry = (next, at)
      } else if next < tokens.count, Self.fits(name[at], tokens[next]) {
        next += 1
        at += 1
      } else if let last = retry {
        (next, at) = (last.token, last.name + 1)
        retry = (next, at)
      } else {
        return false
      }
    }
    return tokens[next...].allSatisfy { if case .any = $0 { true } else { false } }
  }

  private static func fits(_ byte: UInt8, _ token: Token) -> Bool {
    switch token {
    case .text(let text): byte == text
    case .any, .one: true
    case .oneOf(let ranges, let isNegated):
      ranges.contains { $0.contains(byte) } != isNegated
    }
  }

  /// The class after a `[`, taken out of `rest`; nil, and nothing taken, where it is not closed:
  /// then the bracket stands for itself.
  private static func oneOf(_ rest: inout ArraySlice<UInt8>) -> Token? {
    var body = rest
    let isNegated = body.first == UInt8(ascii: "!")
    if isNegated { body = body.dropFirst() }
    var ranges: [ClosedRange<UInt8>] = []
    var isClosed = false
    while !isClosed, var byte = body.popFirst() {
      // A closing bracket that comes first is a member.
      if byte == UInt8(ascii: "]"), !ranges.isEmpty {
        isClosed = true
        continue
      }
      if byte == UInt8(ascii: "["), let named = namedClass(&body) {
        ranges += named
        continue
      }
      if byte == UInt8(ascii: "\\"), let escaped = body.popFirst() { byte = escaped }
      guard body.first == UInt8(ascii: "-"), let last = body.dropFirst().first,
        last != UInt8(ascii: "]")
      else {
        ranges.append(byte...byte)
        continue
      }
      body = body.dropFirst(2)
      // A range that runs backwards holds nothing, and is no end of the class either.
      ranges.append(byte <= last ? byte...last : 0...0)
    }
    guard isClosed else { return nil }
    rest = body
    return .oneOf(ranges, isNegated: isNegated)
  }

  /// The class `[:name:]` whose first bracket is taken; nil, and nothing taken, for another text.
  /// One that does not exist holds nothing.
  private static func namedClass(_ rest: inout ArraySlice<UInt8>) -> [ClosedRange<UInt8>]? {
    guard rest.first == UInt8(ascii: ":") else { return nil }
    let name = rest.dropFirst().prefix { $0 != UInt8(ascii: ":") }
    let after = rest.dropFirst(name.count + 1)
    guard after.starts(with: ":]".utf8) else { return nil }
    rest = after.dropFirst(2)
    return classes[String(decoding: name, as: UTF8.self)] ?? [0...0]
  }

  private static let digits: ClosedRange<UInt8> = 48...57
  private static let uppers: ClosedRange<UInt8> = 65...90
  private static let lowers: ClosedRange<UInt8> = 97...122
  private static let classes: [String: [ClosedRange<UInt8>]] = [
    "alnum": [digits, uppers, lowers], "alpha": [uppers, lowers], "blank": [9...9, 32...32],
    "cntrl": [0...31, 127...127], "digit": [digits], "graph": [33...126], "lower": [lowers],
    "print": [32...126], "punct": [33...47, 58...64, 91...96, 123...126],
    "space": [9...13, 32...32], "upper": [uppers], "xdigit": [digits, 65...70, 97...102],
  ]
}
