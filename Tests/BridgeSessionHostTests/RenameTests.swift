import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A session gets another name; names that run stay apart.
@Suite struct RenameTests {
  private func rename(
    _ session: SessionID, to name: String, on bench: SessionBench
  ) throws -> (frames: [Frame], status: Int32) {
    let digits = Hexadecimal.text(Array(name.utf8))
    return try bench.run(["rename", "--session", session.description, "--name", digits])
  }

  private func name(of session: SessionID, on bench: SessionBench) throws -> String? {
    try bench.status(session)?.name.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: ["build", "größer", String(repeating: "n", count: 128)])
  func theNewNameIsThatOfTheListAndTheStartIsKnownAsBefore(name: String) throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word") { $0.name = Array("job".utf8) }
    _ = try bench.start(spec)
    let (frames, status) = try rename(spec.session, to: name, on: bench)
    guard case .status(let renamed)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(status == 0 && renamed.name == Array(name.utf8))
    #expect(try self.name(of: spec.session, on: bench) == name)
    // Started again under its id it is the same session.
    guard case .status(let same) = try bench.start(spec) else { Issue.record("none"); return }
    #expect(same.state == .running && same.name == Array(name.utf8))
  }

  @Test func aNameOfAnotherOneThatRunsIsTaken() throws {
    let bench = try SessionBench()
    let first = bench.spec("read word") { $0.name = Array("first".utf8) }
    let second = bench.spec("read word")
    _ = try bench.start(first)
    _ = try bench.start(second)
    let (frames, _) = try rename(second.session, to: "first", on: bench)
    guard case .refused(let refusal)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(refusal.code == .nameTaken)
    #expect(try name(of: second.session, on: bench) == nil)
    // Its own name is none of another one.
    #expect(try rename(first.session, to: "first", on: bench).status == 0)
  }

  /// What was renamed leaves its old name to others, and has the new one alone.
  @Test func aStartSeesTheNewNames() throws {
    let bench = try SessionBench()
    func start(_ name: String) throws -> Frame {
      try bench.start(
        bench.spec("read word") {
          $0.name = Array(name.utf8)
          $0.isOnlyOfItsName = true
        })
    }
    let first = bench.spec("read word") { $0.name = Array("old".utf8) }
    _ = try bench.start(first)
    #expect(try rename(first.session, to: "new", on: bench).status == 0)
    guard case .refused(let refusal) = try start("new") else { Issue.record("started"); return }
    #expect(refusal.code == .nameTaken)
    guard case .status = try start("old") else { Issue.record("refused"); return }
  }

  /// What they say of the session must not mean another one that took its old name.
  @Test func clientsOfNowAndOfLaterAreToldTheNewName() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word") { $0.name = Array("old".utf8) }
    _ = try bench.start(spec)
    let viewer = ClientID(high: 7, low: 7)
    let first = try bench.attach(spec.session)
    try first.pump { $0.welcome != nil }
    #expect(try rename(spec.session, to: "new", on: bench).status == 0)
    try first.pump { !$0.notices.isEmpty }
    #expect(first.notices == [Notice(.renamed, "new")])
    let later = try bench.attach(spec.session, client: viewer) { $0.role = .viewer }
    try later.pump { !$0.notices.isEmpty }
    #expect(later.notices == [Notice(.renamed, "new")])
  }

  @Test func aSessionThatIsNotThereIsSaidToBeUnknown() throws {
    let bench = try SessionBench()
    let (frames, _) = try rename(bench.spec("true").session, to: "x", on: bench)
    guard case .refused(let refusal)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(refusal.code == .unknownSession)
  }

  @Test(arguments: ["", "6", "6G", "6F", String(repeating: "61", count: 129)])
  func whatIsNoNameIsWrongUsage(digits: String) throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    let words = ["rename", "--session", spec.session.description, "--name", digits]
    let (output, status) = try bench.launch(words).finish([])
    #expect(status == 64 && output.isEmpty)
    #expect(try name(of: spec.session, on: bench) == nil)
  }
}
