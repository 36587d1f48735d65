/// Which folder of a module uses which, read from the names of types.
///
/// A folder uses another one where a file in it names a type that a file in the other declares at
/// top level. What counts, and what does not:
/// - `extension T` names `T`. What an extension declares has no folder: where only members are
///   called that another folder added to a type, no use is seen.
/// - A type in a type counts by the outermost one; a name behind a dot is a member, and no use.
/// - A private type is no type of its folder, and in its file the name is that type's.
/// - `Native/` belongs to the folder that it is in: it is the part of that which touches C. One at
///   the top of a module is a folder as any other.
/// - The files at the top of a module are a folder, too.
struct Folders {
  /// One folder that uses another one of its module.
  struct Use: Hashable, Comparable, CustomStringConvertible {
    var module: String
    var from: String
    var to: String
    /// The types that are named, in order.
    var types: [String]

    var description: String {
      "\(module): \(from) uses \(to): \(types.joined(separator: ", "))"
    }

    static func < (one: Use, other: Use) -> Bool { one.description < other.description }
  }

  /// All uses, in order.
  let uses: [Use]

  /// The uses that lead in a circle: of two folders that use each other, or of more.
  var circles: [Use] {
    uses.filter { use in
      reached(from: use.to, in: use.module).contains(use.from)
    }
  }

  init(_ files: [SourceFile]) {
    let sources = files.filter { $0.area == "Sources" && $0.isSwift }
    uses = Dictionary(grouping: sources, by: \.target).flatMap { module, files in
      Self.uses(in: module, files)
    }.sorted()
  }

  private static func uses(in module: String, _ files: [SourceFile]) -> [Use] {
    var homes: [String: String] = [:]
    for file in files {
      for type in file.topLevelTypes(arePrivate: false) { homes[type] = file.folder }
    }
    var found: [String: [String: Set<String>]] = [:]
    for file in files {
      let own = Set(file.topLevelTypes(arePrivate: true))
      for index in file.tokens.indices where file.token(at: index - 1) != "." {
        let name = file.tokens[index].text
        guard let home = homes[name], home != file.folder, !own.contains(name) else { continue }
        found[file.folder, default: [:]][home, default: []].insert(name)
      }
    }
    return found.flatMap { from, homes in
      homes.map { Use(module: module, from: from, to: $0, types: $1.sorted()) }
    }
  }

  private func reached(from folder: String, in module: String) -> Set<String> {
    var (reached, next): (Set<String>, Set<String>) = ([], [folder])
    while !next.isEmpty {
      reached.formUnion(next)
      let found = uses.filter { $0.module == module && next.contains($0.from) }.map(\.to)
      next = Set(found).subtracting(reached)
    }
    return reached
  }
}

extension SourceFile {
  /// The folder in its module, without a `Native` at the end: `Failure/Rows`; "." at the top.
  fileprivate var folder: String {
    let folders = components.dropFirst(2).dropLast()
    let own = folders.last == "Native" && folders.count > 1 ? folders.dropLast() : folders
    return own.isEmpty ? "." : own.joined(separator: "/")
  }

  /// The types that it declares at top level: its own where they `arePrivate`, else those for other
  /// files.
  fileprivate func topLevelTypes(arePrivate: Bool) -> [String] {
    let keywords: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    var depth = 0
    return tokens.indices.compactMap { index in
      let text = tokens[index].text
      if text == "{" { depth += 1 }
      if text == "}" { depth -= 1 }
      guard depth == 0, keywords.contains(text) else { return nil }
      let before: Set = [token(at: index - 1), token(at: index - 2)]
      let isPrivate = !before.isDisjoint(with: ["private", "fileprivate"])
      return isPrivate == arePrivate ? token(at: index + 1) : nil
    }
  }
}
