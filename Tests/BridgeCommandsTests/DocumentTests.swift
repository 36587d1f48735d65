import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// docs/cli.md against the program.
@Suite("docs/cli.md") struct DocumentTests {
  private static func text(of document: String = "docs/cli.md") throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: document), encoding: .utf8)
  }

  private struct Dump: Decodable {
    struct Command: Decodable { var arguments: [Argument] }
    struct Argument: Decodable { var names: [Name]? }
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    var command: Command
  }

  @Test func itHasTheOptionsOfConnectAndNoOther() throws {
    let dump = try JSONDecoder().decode(Dump.self, from: Data(ConnectCommand._dumpHelp().utf8))
    let options = dump.command.arguments.flatMap { $0.names ?? [] }
      .map { ($0.kind == "long" ? "--" : "-") + $0.name }
    let rows = try Self.text().split(separator: "\n").filter { $0.hasPrefix("| `-") }
    let cells = rows.compactMap { $0.split(separator: " | ").first }
    let written = cells.flatMap { cell in
      cell.matches(of: /`(-[a-zA-Z0-9]|--[a-z-]+)/).map { String($0.output.1) }
    }
    #expect(Set(written) == Set(options).subtracting(["-h", "--help", "--version"]))
  }

  /// Each option of `ssh` in the row of its effect.
  @Test func itHasTheOptionsOfSSH() throws {
    let rows = try Self.text().split(separator: "\n")
    let words = { (start: String) throws in
      let row = try #require(rows.first { $0.hasPrefix("| \(start)") })
      return Set(row.matches(of: /`-([a-zA-Z0-9])`/).map { Character(String($0.output.1)) })
    }
    let (done, accepted) = (try words("done |"), try words("accepted, changes nothing"))
    let refused = try words("refused by name")
    for option in SSHOption.table {
      switch option.effect {
      case .done: #expect(done.contains(option.letter), "-\(option.letter)")
      case .accepted: #expect(accepted.contains(option.letter), "-\(option.letter)")
      case .refused: #expect(refused.contains(option.letter), "-\(option.letter)")
      }
    }
    let letters = SSHOption.table.map(\.letter)
    #expect(Set(letters).count == letters.count)
    #expect(done.union(accepted).union(refused) == Set(letters))
  }

  @Test(arguments: ConfigKeyword.table.map(\.name))
  func itNamesEveryKeywordOfTheConfiguration(_ name: String) throws {
    #expect(try Self.text().contains("`\(name)`"))
  }

  @Test func theDefaultsOfLivenessAreThoseOfThePolicy() throws {
    let keepalive = LivenessPolicy.defaultKeepalive.components.seconds
    let deadAfter = LivenessPolicy.defaultDeadAfter.components.seconds
    #expect(try Self.text().contains("silence before a probe (\(keepalive)s;"))
    let recovery = try Self.text(of: "docs/recovery.md")
    #expect(recovery.contains("probes after \(keepalive) s of silence"))
    #expect(recovery.contains("dead after \(deadAfter) s"))
  }

  @Test func itHasTheExitCodesOfEveryError() throws {
    let text = try Self.text()
    let table = try #require(text.range(of: "| code |")).lowerBound
    let written = Set(
      text[table...].matches(of: /\| ([0-9, ]+) \|/)
        .flatMap { $0.output.1.split(separator: ",") }
        .compactMap { Int($0.trimmingCharacters(in: .whitespaces)) })
    // The exit status of a failed command is the remote one.
    let errors = ErrorCatalogue.entries.filter { $0.caseName != "sshCommandFailed" }
    let codes = Set(errors.map(\.exitCode))
    #expect(codes.isSubset(of: written), "\(codes.subtracting(written))")
  }
}
