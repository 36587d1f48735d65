/// Words that have a standard term; CONTRIBUTING, "Words", says which terms stay.
private enum PrivateTerm {
  /// Parts of an identifier: `defaultVerdict` has two. With what to write instead.
  static let inNames: [String: String] = [
    "judge": "verify, evaluate", "judges": "verify, evaluate", "judged": "verified",
    "judgement": "result", "verdict": "result, deadAfter", "verdicts": "results",
    "witness": "observer", "testimony": "result", "surroundings": "environment",
    "goodbye": "close, disconnect", "hurry": "retryNow", "hurried": "retried",
    "nudge": "prompt", "nudges": "prompts", "lend": "run on a helper", "lent": "borrowed",
    "lane": "executor, direction", "lanes": "queues, executors", "tape": "buffer",
    "desk": "queue", "desks": "queues",
    "patience": "timeout", "patient": "timeout", "impatient": "timeout", "price": "cost",
    "chance": "generator", "papers": "documents", "rooms": "targets", "house": "checkout",
    "nobody": "no caller", "somebody": "a caller", "whoever": "the caller",
    "everybody": "all callers", "noted": "recorded",
  ]
  /// Functions that do not say what they do: emit, log, warn or record; disconnect or close.
  static let functions: Set = ["note", "leave"]
  /// Phrases of comments and documents.
  static let phrases: Set = [
    "nobody", "somebody", "whoever", "everybody", "is told", "are told", "was told", "be told",
    "who waits", "goodbye", "came to its end", "comes to its end", "the house", "verdict",
    "is judged",
  ]
  /// Terms of one target: what BridgeFaults does to each direction of a proxied link.
  static let allowed: [String: Set<String>] = ["BridgeFaults": ["lane", "lanes"]]
}

extension Rule {
  static let language = [
    Rule(
      "a name has the standard term: a key is verified",
      breaks: [
        http("func judgeHostKey() {}"), http("let defaultVerdict = 1"), http("struct InputTape {}"),
        http("func note(_ text: String) {}"), http("@Test func aDialHoldsNobodyUp() {}"),
      ],
      keeps: [
        http("func verifyHostKey() {}"), http(#"let user = "nobody""#), http("let footnote = 1"),
        http("let note = 1"), SourceFile("Sources/BridgeFaults/Fixture.swift", "let lane = 1"),
      ]
    ) { file in
      guard file.isSwift else { return [] }
      let allowed = PrivateTerm.allowed[file.library] ?? []
      let names = file.tokens.filter { token in
        camelWords(token.text).contains {
          PrivateTerm.inNames[$0] != nil && !allowed.contains($0)
        }
      }
      let functions = Structure(file).functions.filter {
        PrivateTerm.functions.contains($0.name)
      }
      return names.map(\.line) + functions.map(\.line)
    },
    Rule(
      "a comment or document names the caller, the reader, the result",
      breaks: [
        http("// Whoever waits is told."), SourceFile("docs/a.md", "So nobody waits.\n"),
        SourceFile("scripts/test", "# The rules of the house.\n"),
      ],
      keeps: [
        http("// Resumes the caller, which told the server."), http("// `nobody` is a user."),
        http(#"let user = "nobody"  // a user"#), SourceFile("docs/a.md", "As `nobody` says.\n"),
        SourceFile("CHANGELOG.md", "Nobody waits.\n"),
      ]
    ) { file in
      guard !pendingDocuments.contains(file.path) else { return [] }
      let comments = file.isSwift ? file.comments : file.textLines
      return comments.filter { hasPrivatePhrase($0.text) }.map(\.line)
    },
    Rule(
      "every case of a public enum has a comment",
      breaks: [
        library("public enum A {\n  case b\n}"),
        library("public enum A {\n  /// B.\n  case b\n  case c(Int)\n}"),
        library("public struct A {\n  public enum B: Int {\n    case c = 1\n  }\n}"),
      ],
      keeps: [
        library("public enum A {\n  /// B.\n  case b\n  /// C.\n  @objc\n  case c\n}"),
        library("enum A {\n  case b\n}"),
        library("public enum A {\n  func b() {\n    switch c {\n    case d: e()\n    }\n  }\n}"),
      ]
    ) { file in
      guard file.area == "Sources" else { return [] }
      return file.undocumentedCases
    },
  ]

  /// History keeps the words it was written in.
  private static let pendingDocuments: Set = ["CHANGELOG.md"]

  private static func hasPrivatePhrase(_ text: String) -> Bool {
    let prose = text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset.isMultiple(of: 2) }.map { String($0.element) }.joined(separator: "x")
    let words = prose.lowercased().split { !$0.isLetter }.joined(separator: " ")
    return PrivateTerm.phrases.contains { " \(words) ".contains(" \($0) ") }
  }

  /// A fixture that stands in a library without an exception.
  private static func http(_ text: String) -> SourceFile {
    SourceFile("Sources/BridgeHTTP/Fixture.swift", text)
  }
}

extension SourceFile {
  /// The target, or of a test target the one that it tests.
  fileprivate var library: String {
    target.hasSuffix("Tests") ? String(target.dropLast("Tests".count)) : target
  }

  fileprivate var textLines: [Token] {
    text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .map { Token(text: String($0.element), line: $0.offset + 1, isGlued: false) }
  }

  /// The lines of the cases of public enums that have no comment in front of them.
  fileprivate var undocumentedCases: [Int] {
    let documented = Set(comments.filter { $0.text.hasPrefix("///") }.map(\.line))
    let attributes = Set(tokens.filter { $0.text == "@" }.map(\.line))
    var (found, depth, isPublic, enums) = ([Int](), 0, false, [Int]())
    for (index, next) in tokens.enumerated() {
      switch next.text {
      case "enum": isPublic = token(at: index - 1) == "public" || token(at: index - 2) == "public"
      case "{":
        depth += 1
        if isPublic { enums.append(depth) }
        isPublic = false
      case "}":
        if enums.last == depth { enums.removeLast() }
        depth -= 1
      case "case" where enums.last == depth:
        var line = next.line - 1
        while attributes.contains(line) { line -= 1 }
        if !documented.contains(line) { found.append(next.line) }
      default: continue
      }
    }
    return found
  }
}
