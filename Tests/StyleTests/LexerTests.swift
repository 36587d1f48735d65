import Testing

@Suite struct LexerTests {
  private func words(_ source: String) -> [String] {
    Lexer.lex(source).tokens.map(\.text)
  }

  @Test(arguments: [
    ("a // b\nc", ["a", "c"]),
    ("a /* b /* c */ d */ e", ["a", "e"]),
    (#"a "b // c" d"#, ["a", "\"\"", "d"]),
    (#"a "b \" c" d"#, ["a", "\"\"", "d"]),
    (##"a #"b " \ c"# d"##, ["a", "\"\"", "d"]),
    ("a \"\"\"\nb \" c\n\"\"\" d", ["a", "\"\"", "d"]),
    (#""b \(c + f("x)", d)) e" g"#, ["\"\"", "c", "+", "f", "(", "\"\"", ",", "d", ")", "g"]),
    (##"#"b \(c) \#(d)"# e"##, ["\"\"", "d", "e"]),
    ("f(/a\"b/) c", ["f", "(", "\"\"", ")", "c"]),
    ("#/a\"b/# c", ["\"\"", "c"]),
    ("a / b / c", ["a", "/", "b", "/", "c"]),
    ("#if DEBUG", ["#", "if", "DEBUG"]),
    ("\"unclosed\na", ["\"\"", "a"]),
    ("`default`: x", ["`default`", ":", "x"]),
  ])
  func tellsCodeFromText(_ source: String, _ expected: [String]) {
    #expect(words(source) == expected)
  }

  @Test func keepsCommentsApart() {
    let lexed = Lexer.lex("a // one\n/* two\n */ b /// three")
    #expect(lexed.comments.map(\.line) == [1, 2, 3])
    #expect(lexed.comments.map(\.text) == ["// one", "/* two\n */", "/// three"])
  }

  @Test func countsLines() {
    let source = "a\n\"\"\"\nx\n\"\"\"\nb /*\n\n*/ c"
    #expect(Lexer.lex(source).tokens.map(\.line) == [1, 2, 5, 7])
  }

  @Test func seesWhatIsGlued() {
    #expect(Lexer.lex("try! a").tokens.map(\.isGlued) == [false, true, false])
    #expect(Lexer.lex("try !a").tokens.map(\.isGlued) == [false, false, true])
  }

  @Test(arguments: [
    ("import A", "A"), ("public import B", "B"), ("@testable import C", "C"),
    ("@preconcurrency package import D", "D"), ("import struct E.F", "E"),
  ])
  func readsImports(_ line: String, _ module: String) {
    #expect(library(line).imports.map(\.module) == [module])
  }

  @Test func seesNoImportInText() {
    #expect(library("// import A\nlet a = \"import B\"\nlet c = d.import").imports.isEmpty)
  }
}
