/// A function, initializer, accessor block or other body of code, measured.
struct Body: Equatable {
  var name: String
  /// First and last line, signature and closing brace included.
  var lines: ClosedRange<Int>
  /// How deep its conditions and loops are nested. A closure is no level of its own: it adds no
  /// condition. A local function starts again at zero.
  var nesting: Int
}

/// A declared type: `struct`, `class`, `enum`, `actor` or `protocol`.
struct TypeName: Equatable {
  var name: String
  var line: Int
}

/// The outline of a file, read from its braces and the keyword before each.
struct Structure {
  private(set) var bodies: [Body] = []
  private(set) var types: [TypeName] = []
  private(set) var functions: [TypeName] = []

  private enum Brace {
    case type
    case body(Int)
    case control
    case other
  }

  private struct Pending {
    var brace: Brace
    var name: String
    var line: Int
    var depth: Int
  }

  private var braces: [Brace] = []
  private var brackets = 0
  private var pending: Pending?

  init(_ file: SourceFile) {
    for index in file.tokens.indices {
      let token = file.tokens[index]
      switch token.text {
      case "(", "[": brackets += 1
      case ")", "]": brackets -= 1
      case "{": open(at: token.line)
      case "}": close(at: token.line)
      default: read(token, at: index, in: file)
      }
    }
  }

  private static let typeKeywords: Set = [
    "struct", "class", "enum", "actor", "protocol", "extension",
  ]
  private static let controlKeywords: Set = [
    "if", "else", "guard", "for", "while", "repeat", "switch", "do", "catch", "defer",
  ]

  private mutating func read(_ token: Token, at index: Int, in file: SourceFile) {
    let (before, after) = (file.token(at: index - 1), file.token(at: index + 1))
    guard before != ".", token.isWord else { return }
    let text = token.text
    if Self.typeKeywords.contains(text) {
      guard after.first?.isUppercase == true else { return }
      if text != "extension" { types.append(TypeName(name: after, line: token.line)) }
      pending = Pending(brace: .type, name: after, line: token.line, depth: brackets)
    } else if text == "func" {
      functions.append(TypeName(name: after, line: token.line))
      expectBody(named: after, at: token.line)
    } else if text == "init" || text == "deinit" || text == "subscript" {
      guard after != ":" else { return }
      expectBody(named: text, at: token.line)
    } else if text == "var" || text == "let" {
      guard isOutsideBodies else { return }
      expectBody(named: after, at: token.line)
    } else if Self.controlKeywords.contains(text), after != ":" {
      let endsRepeat = text == "while" && before == "}" && file.tokens[index - 1].line == token.line
      guard !endsRepeat else { return }
      pending = Pending(brace: .control, name: text, line: token.line, depth: brackets)
    }
  }

  /// Stored and computed properties are bodies; local variables belong to the function they are in.
  private var isOutsideBodies: Bool {
    switch braces.last {
    case nil, .type: true
    case .body, .control, .other: false
    }
  }

  private mutating func expectBody(named name: String, at line: Int) {
    pending = Pending(brace: .body(bodies.count), name: name, line: line, depth: brackets)
  }

  private mutating func open(at line: Int) {
    guard let expected = pending, expected.depth == brackets else { return braces.append(.other) }
    pending = nil
    guard case .body = expected.brace else {
      braces.append(expected.brace)
      return measureNesting()
    }
    bodies.append(Body(name: expected.name, lines: expected.line...line, nesting: 0))
    braces.append(.body(bodies.count - 1))
  }

  private mutating func close(at line: Int) {
    // The closure of a default argument ends before the body of its function begins.
    if let expected = pending, expected.depth >= brackets { pending = nil }
    guard case .body(let index)? = braces.popLast() else { return }
    bodies[index].lines = bodies[index].lines.lowerBound...line
  }

  private mutating func measureNesting() {
    var depth = 0
    for brace in braces.reversed() {
      switch brace {
      case .control: depth += 1
      case .other: continue
      case .type: return
      case .body(let index):
        bodies[index].nesting = max(bodies[index].nesting, depth)
        return
      }
    }
  }
}
