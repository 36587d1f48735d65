extension Rule {
  /// Words that say nothing about what a thing is.
  private static let vague: Set = [
    "util", "utils", "utility", "utilities", "helper", "helpers", "common", "manager", "managers",
    "misc",
  ]
  /// Names that others fixed.
  private static let givenTypes: Set<String> = []

  static let names = [
    Rule(
      "no folder is called \(vague.sorted().joined(separator: ", "))",
      breaks: [
        SourceFile("Sources/BridgeErrors/Utils/A.swift", ""),
        SourceFile("Tests/BridgeErrorsTests/Helpers/A.swift", ""),
      ],
      keeps: [SourceFile("Sources/BridgeErrors/Mapping/A.swift", "")]
    ) { file in
      file.components.contains { part in
        vague.contains(part.prefix { $0 != "." }.lowercased())
      } ? [0] : []
    },
    Rule(
      "no type is a manager, a helper or a utility",
      breaks: [library("final class SessionManager {}"), test("enum KeyHelpers {}")],
      keeps: [library("enum CommonCause {}\nstruct Management {}")]
    ) { file in
      Structure(file).types.filter { type in
        let last = camelWords(type.name).last ?? ""
        return vague.contains(last) && !givenTypes.contains(type.name)
      }.map(\.line)
    },
    Rule(
      "no function handles or processes; it says what it does",
      breaks: [library("func handleClose() {}"), library("func process(_ a: Int) {}")],
      keeps: [library("func close(handle: Int) {}\nfunc processExit() {}")]
    ) { file in
      Structure(file).functions.filter { function in
        function.name == "process" || camelWords(function.name).first == "handle"
      }.map(\.line)
    },
    Rule(
      "a public type lies in a file of its name",
      breaks: [
        library("public struct Other {}"), library("public final class Other {}"),
        library("public struct Fixture {}\npublic indirect enum Other {}"),
      ],
      keeps: [
        library("public struct Fixture {\n  public struct Other {}\n}\nstruct Other {}"),
        library("extension Other {\n  public enum A {}\n}"),
        SourceFile("Sources/BridgeErrors/Fixture+More.swift", "public struct Fixture {}"),
        SourceFile("Sources/BridgeFaults/Fixture.swift", "public struct Other {}"),
      ]
    ) { file in
      guard file.area == "Sources", !groupedTargets.contains(file.target) else { return [] }
      let stem = file.name.prefix { $0 != "." && $0 != "+" }
      return publicTypes(file).filter { $0.name != stem && !companions.contains($0.name) }
        .map(\.line)
    },
  ]

  /// Targets with files of small types that belong together.
  private static let groupedTargets: Set = [
    "BridgeAccount", "BridgeFaults", "BridgeSessionProtocol",
  ]
  /// Types that share private parts with the type of their file.
  private static let companions: Set = ["SeededSerialExecutor"]

  /// The public types of a file that are in no other type.
  private static func publicTypes(_ file: SourceFile) -> [TypeName] {
    var depth = 0
    return file.tokens.indices.compactMap { index in
      let token = file.tokens[index]
      if token.text == "{" { depth += 1 }
      if token.text == "}" { depth -= 1 }
      guard depth == 0, ["struct", "class", "enum", "actor", "protocol"].contains(token.text),
        [file.token(at: index - 1), file.token(at: index - 2)].contains("public")
      else { return nil }
      return TypeName(name: file.token(at: index + 1), line: token.line)
    }
  }

  /// `SSHKeyHelper` → ssh, key, helper: enough to compare the first and the last word.
  static func camelWords(_ name: String) -> [String] {
    var words: [String] = []
    for character in name {
      let startsWord = character.isUppercase && words.last?.last?.isUppercase != true
      if words.isEmpty || startsWord { words.append("") }
      words[words.count - 1].append(character)
    }
    return words.map { $0.lowercased() }
  }
}
