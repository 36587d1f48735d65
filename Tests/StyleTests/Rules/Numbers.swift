/// The limits a reader's eye sets.
enum Limit {
  static let columns = 100
  static let functionLines = 72
  static let fileLines = 600
  static let nesting = 3
}

extension Rule {
  static let numbers = [
    Rule(
      "a line has at most \(Limit.columns) columns",
      breaks: [library("// " + String(repeating: "x", count: Limit.columns - 2))],
      keeps: [library("// " + String(repeating: "ü", count: Limit.columns - 3))]
    ) { file in
      guard file.isSwift else { return [] }
      return file.text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .enumerated()
        .filter { $0.element.count > Limit.columns && columns($0.element) > Limit.columns }
        .map { $0.offset + 1 }
    },
    Rule(
      "a function has at most \(Limit.functionLines) lines",
      breaks: [library(function(lines: Limit.functionLines + 1))],
      keeps: [library(function(lines: Limit.functionLines))]
    ) { file in
      Structure(file).bodies.filter { $0.lines.count > Limit.functionLines }
        .map(\.lines.lowerBound)
    },
    Rule(
      "a file has at most \(Limit.fileLines) lines",
      breaks: [library(String(repeating: "\n", count: Limit.fileLines + 1))],
      keeps: [library(String(repeating: "\n", count: Limit.fileLines))]
    ) { file in
      guard file.isSwift else { return [] }
      let lines = file.text.utf8.count { $0 == UInt8(ascii: "\n") }
      return lines > Limit.fileLines ? [0] : []
    },
    Rule(
      "conditions and loops are nested at most \(Limit.nesting) deep",
      breaks: [
        library("func f() { if a { for b in c { while d { if e {} } } } }"),
        library("func f() { if a { for b in c { d { while e { switch f {} } } } } }"),
      ],
      keeps: [
        library("func f() { if a { for b in c { while d { e { f { g() } } } } } }"),
        library("func f() { if a {} else if b {} else { repeat { c {} } while d } }"),
      ]
    ) { file in
      Structure(file).bodies.filter { $0.nesting > Limit.nesting }.map(\.lines.lowerBound)
    },
  ]

  private static func columns(_ line: Substring.UTF8View) -> Int {
    line.count { $0 & 0b1100_0000 != 0b1000_0000 }
  }

  private static func function(lines: Int) -> String {
    "func f() {\n" + String(repeating: "  g()\n", count: lines - 2) + "}\n"
  }
}
