extension Rule {
  static let words = [
    Rule(
      "`try!` is not written",
      breaks: [library("let a = try! b()"), test(#"let a = "\(try! b())""#)],
      keeps: [library("let a = try !b()"), library(#"let a = "try! b()" // try!"#)]
    ) { $0.lines(of: ["try", "!"]) },
    Rule(
      "`fatalError` is not written",
      breaks: [library("fatalError()"), test(#"fatalError("no")"#)],
      keeps: [library(#"let fatalErrors = "fatalError""#)]
    ) { $0.lines(of: ["fatalError"]) },
    Rule(
      "nothing is left for later",
      breaks: [library("// TODO: finish"), test("/* FIXME */"), library("let TODO = 1")],
      keeps: [library(#"let words = ["TODO", "FIXME"]  // what is banned"#)]
    ) { file in
      let notes = file.comments.filter { $0.text.contains("TODO") || $0.text.contains("FIXME") }
      return notes.map(\.line) + file.lines(of: ["TODO"]) + file.lines(of: ["FIXME"])
    },
    Rule(
      "`nonisolated(unsafe)` is not written, not even in Native/",
      breaks: [native("nonisolated(unsafe) var a = 1")],
      keeps: [native("nonisolated func a() { unsafe b() }")]
    ) { $0.lines(of: ["nonisolated", "(", "unsafe", ")"]) },
    Rule(
      "`@unchecked Sendable` stays in Native/",
      breaks: [library("final class A: @unchecked Sendable {}")],
      keeps: [native("final class A: @unchecked Sendable {}")]
    ) { $0.isNative ? [] : $0.lines(of: ["@", "unchecked"]) },
    Rule(
      "`unsafe` stays in Native/",
      breaks: [library("let a = unsafe b()"), test("for unsafe a in b {}")],
      keeps: [native("let a = unsafe b()"), library("let a = B.unsafe"), library("f(unsafe: a)")]
    ) { file in
      guard !file.isNative, file.area != "Package.swift" else { return [] }
      return file.lines(of: ["unsafe"]) { index in
        file.token(at: index - 1) != "." && file.token(at: index + 1) != ":"
      }
    },
    Rule(
      "`@safe` stays in Native/, but for the requirement of PinnedExecutor",
      breaks: [library("@safe final class A {}")],
      keeps: [
        native("@safe final class A {}"),
        SourceFile("Sources/BridgeTransport/PinnedExecutor.swift", "@safe var lane: Int { get }"),
      ]
    ) { file in
      guard !file.isNative, file.path != "Sources/BridgeTransport/PinnedExecutor.swift" else {
        return []
      }
      return file.lines(of: ["@", "safe"])
    },
    Rule(
      "a module is re-exported by the target Bridge only",
      breaks: [library("@_exported import Foundation")],
      keeps: [
        library("public import Foundation"),
        SourceFile("Sources/Bridge/Bridge.swift", "@_exported public import BridgeErrors"),
      ]
    ) { file in
      file.target == "Bridge" ? [] : file.imports.filter(\.isReexported).map(\.line)
    },
    Rule(
      "a library does not print",
      breaks: [library("print(a)"), library("Swift.print(a)"), library("debugPrint(a)")],
      keeps: [
        library("a.print(b)"), library("func print(_ a: Int) {}"), commands("print(a)"),
        SourceFile("Examples/Hello/Hello.swift", "print(a)"),
      ]
    ) { file in
      guard file.area == "Sources", !["BridgeCommands", "bridgectl"].contains(file.target) else {
        return []
      }
      return ["print", "debugPrint", "dump", "NSLog"].flatMap { word in
        file.lines(of: [word, "("]) { index in
          let before = file.token(at: index - 1)
          let qualified = before == "." && file.token(at: index - 2) == "Swift"
          return before != "func" && (before != "." || qualified)
        }
      }
    },
    Rule(
      "no test is switched off",
      breaks: [
        test(#"@Test(.disabled("later")) func a() {}"#), test("withKnownIssue { a() }"),
        test("throw XCTSkip()"),
      ],
      keeps: [test("@Test(.enabled(if: hasTool)) func a() {}"), library("let a = disabled(b)")]
    ) { file in
      file.lines(of: [".", "disabled", "("]) + file.lines(of: ["withKnownIssue"])
        + file.lines(of: ["XCTSkip"])
    },
    Rule(
      "nothing tracked names a path of one machine",
      breaks: ["work", "root"].map { SourceFile("scripts/test", "cd /\($0)/bridge\n") },
      keeps: [SourceFile("README.md", "The network/ and root folders.\n")]
    ) { file in
      ["work", "root"].contains { file.text.contains("/\($0)/") } ? [0] : []
    },
  ]
}
