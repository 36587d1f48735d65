import Foundation
import Testing

/// The short form of `scripts/soak`. Its minutes are what a slow and busy machine may take; the
/// faults come one after another.
@Suite("Soak", .timeLimit(.minutes(10)))
struct SoakTests {
  @Test func fiftyFaultsLeaveNothingBehind() async throws {
    let run = try await Example.finished(
      "soak", ["--faults", "50", "--connections", "16", "--minutes", "5", "--seed", "7"])
    #expect(run.status == 0, "\(run.lines.joined(separator: "\n"))")
    let told = [
      "50 faults over 16 links, 8 of them SSH", "policy .persistent", "50 faults of 50",
      "left after shutdown: 0 sessions, 0 connections of peers; supervisor ended: true, gone: true",
      "offered again: 0", "recoveries within",
      "soak clean: 50 faults over 16 links",
    ]
    var rest = run.lines[...]
    for words in told {
      let index = rest.firstIndex { $0.contains(words) }
      #expect(index != nil, "not told, or not in order: \(words)")
      if let index { rest = rest[(index + 1)...] }
    }
  }

  @Test func durableSessionsLoseAndDoubleNothing() async throws {
    let run = try await Example.finished(
      "soak", ["--sessions", "4", "--faults", "40", "--minutes", "5", "--seed", "7"])
    #expect(run.status == 0, "\(run.lines.joined(separator: "\n"))")
    let text = run.lines.joined(separator: "\n")
    #expect(text.contains("soak clean: 40 faults over 4 sessions"))
    #expect(text.contains("left: 0 processes, 0 sessions"))
    // The kinds of a fault differ in what they leave of a link.
    #expect(text.contains("client killed") && text.contains("black hole"))
  }

  @Test func theReportIsOneObjectWhenAsked() async throws {
    let run = try await Example.finished(
      "soak", ["--faults", "2", "--connections", "2", "--minutes", "5", "--json"])
    let text = run.lines.joined()
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?["faults"] as? Int == 2)
    #expect((object?["ledger"] as? [String: Any])?["sessionsLeft"] as? Int == 0)
    #expect((object?["recovery"] as? [Any])?.isEmpty == false)
    #expect(object?["broken"] is [String])
  }

  @Test(arguments: [
    ["--faults"], ["--faults", "0"], ["--connections", "1"], ["--sessions", "0"],
    ["--minutes", "-1"], ["--loud", "1"],
  ])
  func argumentsThatMakeNoSenseAreRefused(arguments: [String]) async throws {
    let run = try await Example.finished("soak", arguments)
    #expect(run.status == 64)
    #expect(run.lines.first?.hasPrefix("usage: soak ") == true)
  }
}
