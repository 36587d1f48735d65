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
  ]

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
