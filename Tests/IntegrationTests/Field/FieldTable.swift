import BridgeFaults
import Foundation
import Testing

/// Stories in worlds, and what each came to.
struct FieldTable: Sendable {
  struct Cell: Sendable {
    let story: Story
    let world: World
    /// What the suite expects; nil for anything but wrong.
    var expected: Finding.Kind?
  }

  let results: [(cell: Cell, finding: Finding)]

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }

  /// The cells of `FIELD` (`all`, or names of stories and worlds as `STORY/WORLD`, where `*` is
  /// any), else those of the suite.
  static var cells: [Cell] {
    guard let choice = variable("FIELD") else { return suite }
    let every = World.all.flatMap { world in
      Story.allCases.filter { $0.concerns(world) }.map { Cell(story: $0, world: world) }
    }
    guard choice != "all" else { return every }
    return every.filter { cell in
      choice.split(separator: ";").contains { pattern in
        let parts = pattern.split(separator: "/").map { $0.trimmingCharacters(in: .whitespaces) }
        return parts.count == 2 && (parts[0] == "*" || parts[0] == cell.story.rawValue)
          && (parts[1] == "*" || parts[1] == cell.world.name)
      }
    }
  }

  /// Tells them, so many at once.
  static func tell(_ cells: [Cell]) async -> FieldTable {
    let width = variable("FIELD_WIDTH").flatMap { Int($0) } ?? 6
    let limit = Duration.seconds(variable("FIELD_LIMIT").flatMap { Int($0) } ?? 120)
    var results: [(Int, Finding)] = []
    await withTaskGroup(of: (Int, Finding).self) { group in
      var next = 0
      func begin() {
        guard next < cells.count else { return }
        let (index, cell) = (next, cells[next])
        group.addTask { (index, await cell.story.finding(in: cell.world, limit: limit)) }
        next += 1
      }
      for _ in 0..<width { begin() }
      for await (index, finding) in group {
        results.append((index, finding))
        if variable("FIELD") != nil {
          let name = "\(cells[index].world.name) / \(cells[index].story.rawValue)"
          print("field: \(name): \(finding.kind.rawValue) \(finding.remark)")
        }
        begin()
      }
    }
    return FieldTable(
      results: results.sorted { $0.0 < $1.0 }.map { (cells[$0.0], $0.1) })
  }

  /// Writes the table where `FIELD_TABLE` says.
  func write() throws {
    guard let path = Self.variable("FIELD_TABLE") else { return }
    try Data(markdown.utf8).write(to: URL(filePath: path))
  }

  /// A row for each world, a column for each story, and what is remarkable below.
  var markdown: String {
    let stories = Story.allCases
    var lines = ["| world | " + stories.map(\.rawValue).joined(separator: " | ") + " |"]
    lines.append("|---|" + stories.map { _ in "---|" }.joined())
    for world in World.all {
      let row = stories.map { story in
        results.first { $0.cell.story == story && $0.cell.world.name == world.name }
          .map { Self.mark($0.finding) } ?? ""
      }
      guard row.contains(where: { !$0.isEmpty }) else { continue }
      lines.append("| \(world.name): \(world.summary) | " + row.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func mark(_ finding: Finding) -> String {
    switch finding {
    case .right(let text): text.isEmpty ? "right" : "right: \(text)"
    case .asSSH: "as ssh"
    case .refused(let name, _): name
    case .skipped: "–"
    case .wrong(let text): "**\(text.replacing("|", with: "/").replacing("\n", with: " "))**"
    }
  }
}
