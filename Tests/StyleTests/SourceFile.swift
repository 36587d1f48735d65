import Testing

/// One text file of the checkout, as the rules see it.
struct SourceFile: Sendable, CustomTestStringConvertible {
  /// From the root of the checkout: `Sources/BridgeErrors/AppError.swift`.
  let path: String
  let text: String
  /// Code without comments and string text; empty for what is not Swift.
  let tokens: [Token]
  let comments: [Token]

  init(_ path: String, _ text: String) {
    self.path = path
    self.text = text
    let lexed = path.hasSuffix(".swift") ? Lexer.lex(text) : Lexed()
    tokens = lexed.tokens
    comments = lexed.comments
  }

  var testDescription: String { path }
  var isSwift: Bool { path.hasSuffix(".swift") }
  var components: [Substring] { path.split(separator: "/") }
  /// `Sources`, `Tests`, `Examples`, `Benchmarks`, `scripts`, …, or the name of a root file.
  var area: Substring { components.first ?? "" }
  /// The target: the second part of the path.
  var target: String { components.count > 2 ? String(components[1]) : "" }
  var isNative: Bool { components.dropLast().contains("Native") }
  var name: Substring { components.last ?? "" }

  /// The lines where `pattern` stands in the code, one string a token. In the pattern `"!"` after
  /// a word means glued to it, so that `try !flag` is not `try!`.
  func lines(of pattern: [String], where accept: (Int) -> Bool = { _ in true }) -> [Int] {
    guard let first = pattern.first, tokens.count >= pattern.count else { return [] }
    return tokens.indices.dropLast(pattern.count - 1).compactMap { start in
      guard tokens[start].text == first else { return nil }
      for (offset, expected) in pattern.enumerated() {
        let token = tokens[start + offset]
        guard token.text == expected, expected != "!" || token.isGlued else { return nil }
      }
      return accept(start) ? tokens[start].line : nil
    }
  }

  func token(at index: Int) -> String {
    tokens.indices.contains(index) ? tokens[index].text : ""
  }

  /// The tokens between the bracket at `opening` and its partner.
  func contents(ofBracketAt opening: Int) -> ArraySlice<Token> {
    var depth = 0
    for index in opening..<tokens.count {
      switch tokens[index].text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}": depth -= 1
      default: continue
      }
      if depth == 0 { return tokens[(opening + 1)..<index] }
    }
    return tokens[tokens.count...]
  }
}
