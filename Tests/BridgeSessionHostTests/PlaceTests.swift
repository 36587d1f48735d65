import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Where a host keeps sessions, and that one of a name runs there.
@Suite struct PlaceTests {
  private func places(_ bench: SessionBench, _ arguments: [String]) throws -> [Identifier] {
    let process = try bench.launch(arguments + ["--marker", SessionBench.marker])
    let (output, _) = process.finish([])
    let marker = Array(SessionBench.marker.utf8)
    let start = try #require(output.firstRange(of: marker)).upperBound
    guard case .whole(let greeting) = Greeting.read(output[start...]) else { return [] }
    return greeting.places
  }

  @Test func aDirectoryOfSessionsHasOneIdAndAnotherOneAnother() throws {
    let (bench, other) = (try SessionBench(), try SessionBench())
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    let id = try places(bench, ["list"]).first
    #expect(id != nil)
    for verb in [["attach", "--session", "\(spec.session)"], ["start"], ["list"]] {
      #expect(try places(bench, verb).first == id, "\(verb)")
    }
    let elsewhere = try places(other, ["start"])
    #expect(!elsewhere.isEmpty && elsewhere.first != id)
  }

  /// XDG Base Directory Specification: what is missing is made, for the user alone.
  @Test(arguments: ["", "/", "//"]) func aStateDirectoryThatIsMissingIsMade(_ end: String) throws {
    let bench = try SessionBench()
    let state = "\(bench.folder.path)/state"
    bench.environment["XDG_STATE_HOME"] = state + end
    _ = try bench.start(bench.spec("exit 0"))
    #expect(FileManager.default.fileExists(atPath: "\(state)/bridge/s"))
    let mode = try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int
    #expect(mode == 0o700)
  }

  @Test func manyThatAskAtOnceGetTheSameId() throws {
    for _ in 0..<5 {
      let bench = try SessionBench()
      let processes = try (0..<6).map { _ in
        try bench.launch(["start", "--marker", SessionBench.marker])
      }
      let answers = processes.map { $0.finish([]).output }
      #expect(Set(answers.map { Array($0.prefix(64)) }).count == 1)
    }
  }

  /// Many clients that come at the same moment.
  @Test func ofOneNameOneSessionIsStarted() throws {
    let bench = try SessionBench()
    let specs = (0..<6).map { _ in
      bench.spec("echo run >>runs; read word") {
        $0.name = Array("build".utf8)
        $0.isOnlyOfItsName = true
      }
    }
    let processes = try specs.map { _ in
      try bench.launch(["start", "--marker", SessionBench.marker])
    }
    let answers = try zip(processes, specs).map { process, spec in
      try SessionBench.frames(in: process.finish(Frame.start(spec).encoded).output).last
    }
    var refused = 0
    for case .refused(let refusal) in answers where refusal.code == .nameTaken { refused += 1 }
    #expect(refused == 5)
    try waitUntil { bench.text("runs") == "run\n" }
    #expect(bench.sessions.count == 1)
    // The same one again is the same session, and one of another name runs beside it.
    let first = try #require(bench.sessions.first)
    let spec = try #require(specs.first { $0.session == first })
    guard case .status = try bench.start(spec) else { Issue.record("again"); return }
    let other = bench.spec("read word") {
      $0.name = Array("test".utf8)
      $0.isOnlyOfItsName = true
    }
    guard case .status = try bench.start(other) else { Issue.record("other"); return }
  }

  /// Its keeper lives as long as a client reads what it has printed.
  @Test func aNameIsFreeOnceItsProgramHasEnded() throws {
    let bench = try SessionBench()
    let specs = ["read word", "read other"].map { command in
      bench.spec(command) {
        $0.name = Array("build".utf8)
        $0.isOnlyOfItsName = true
      }
    }
    _ = try bench.start(specs[0])
    let client = try bench.attach(specs[0].session)
    try client.greet()
    guard case .refused(let refusal) = try bench.start(specs[1]) else {
      Issue.record("two of a name")
      return
    }
    #expect(refusal.code == .nameTaken)
    try client.type("end\n")
    try client.pump { $0.end != nil }
    #expect(!bench.keepers(of: specs[0].session).isEmpty)
    guard case .status = try bench.start(specs[1]) else { Issue.record("not free"); return }
    client.cut()
  }
}
