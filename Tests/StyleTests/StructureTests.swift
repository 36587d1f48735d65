import Testing

@Suite struct StructureTests {
  private func bodies(_ text: String) -> [Body] {
    Structure(library(text)).bodies
  }

  @Test func measuresFromTheSignatureToTheBrace() {
    let text = """
      struct A {
        func b(
          c: Int = { 1 }()
        ) where D: E {
          f()
        }
        var g: Int {
          1
        }
        init() {}
      }
      """
    #expect(
      bodies(text) == [
        Body(name: "b", lines: 2...6, nesting: 0), Body(name: "g", lines: 7...9, nesting: 0),
        Body(name: "init", lines: 10...10, nesting: 0),
      ])
  }

  @Test func aRequirementHasNoBody() {
    #expect(bodies("protocol A { func b() }\nfunc c() {}").map(\.name) == ["c"])
  }

  @Test(arguments: [
    ("a()", 0), ("if a { b() }", 1), ("if a {} else if b {} else {}", 1),
    ("for a in b { switch c { case d: if e {} } }", 3),
    ("a { b { c { if d {} } } }", 1), ("do {} catch {}", 1),
    ("repeat {} while a\nb { if c {} }", 1), ("guard a else { if b {} }", 2),
    ("if a { func b() { if c {} } }", 1), ("let a = if b { 1 } else { 2 }", 1),
    ("self.init(a: .if) { b }", 0),
  ])
  func countsConditionsAndLoops(_ code: String, _ nesting: Int) {
    #expect(bodies("func f() {\n\(code)\n}").map(\.nesting).max() == nesting)
  }

  @Test func namesTypes() {
    let file = library("enum A {}\nfinal class B {}\nactor C {}\nextension D {}\nlet actor = 1")
    #expect(Structure(file).types.map(\.name) == ["A", "B", "C"])
  }
}
