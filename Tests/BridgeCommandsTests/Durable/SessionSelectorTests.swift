import BridgeCommands
import BridgeErrors
import BridgeSessionProtocol
import BridgeTerminal
import Testing

@Suite("SESSION of a command line") struct SessionSelectorTests {
  private func status(
    _ high: UInt64, name: String? = nil, _ state: SessionStatus.State = .running,
    startedAt: UInt64 = 0
  ) -> SessionStatus {
    var status = SessionStatus(session: Identifier(high: high, low: 7), state: state)
    status.name = name.map { Array($0.utf8) }
    status.startedAt = startedAt
    return status
  }

  /// Within tmux it is another terminal, and a number alone may be that of another machine.
  @Test func aSessionIsNotShownInItself() throws {
    var session = status(1)
    session.process = 77
    var local = LocalEnvironment.current()
    for (id, leader, isOwn) in [
      ("\(session.session)", 77, true), ("\(session.session)", 78, false), ("other", 77, false),
    ] {
      local.variables["BRIDGE_SESSION"] = id
      local.sessionLeader = Int32(leader)
      let result = Result { () throws(AppError) in
        try SessionSelector.refuse(session, within: local)
      }
      #expect((try? result.get()) == nil ? isOwn : !isOwn)
    }
  }

  private func resolve(
    _ text: String?, in sessions: [SessionStatus]
  ) throws(AppError) -> UInt64 {
    try SessionSelector(text).resolve(in: sessions, on: "h").session.high
  }

  private func caseName(_ text: String?, in sessions: [SessionStatus]) -> String? {
    do throws(AppError) {
      _ = try resolve(text, in: sessions)
      return nil
    } catch {
      return error.caseName
    }
  }

  private static let first: UInt64 = 0x1234_0000_0000_0000
  private static let second: UInt64 = 0x1299_0000_0000_0000

  @Test func anIdItsBeginningAndANameAreTheSession() throws {
    let sessions = [status(Self.first, name: "build"), status(Self.second)]
    #expect(try resolve("\(sessions[1].session)", in: sessions) == Self.second)
    #expect(try resolve("1234", in: sessions) == Self.first)
    let letters: UInt64 = 0xABCD_0000_0000_0000
    #expect(try resolve("ABCD", in: [status(letters)]) == letters)
    #expect(try resolve("build", in: sessions) == Self.first)
    #expect(try SessionSelector("\(sessions[0].session)").id == sessions[0].session)
    #expect(try SessionSelector("build").id == nil)
  }

  @Test func aBeginningOfSeveralIdsIsRefused() {
    let sessions = [status(Self.first), status(Self.first | 1)]
    #expect(caseName("1234", in: sessions) == "validationError")
    #expect(caseName("9", in: sessions) == "durableSessionNotFound")
  }

  /// `kill HOST a` is a slip.
  @Test(arguments: ["1", "12", "123"]) func aFewDigitsAreNoBeginningOfAnId(_ text: String) {
    #expect(caseName(text, in: [status(Self.first)]) == "validationError")
    #expect(caseName(text, in: [status(0x99)]) == "durableSessionNotFound")
  }

  /// A name is used again and again: `build` is the one that runs, or ran last.
  @Test func ofOneNameTheRunningOrTheNewestIsMeant() throws {
    let ended = [
      status(1, name: "b", .ended, startedAt: 5), status(2, name: "b", .ended, startedAt: 9),
    ]
    #expect(try resolve("b", in: ended) == 2)
    #expect(try resolve("b", in: ended + [status(3, name: "b", startedAt: 1)]) == 3)
    let two = [status(3, name: "b"), status(4, name: "b")]
    #expect(caseName("b", in: two) == "validationError")
  }

  @Test func aNameIsPreferredToTheBeginningOfAnId() throws {
    #expect(try resolve("1234", in: [status(Self.first), status(9, name: "1234")]) == 9)
  }

  @Test func withoutATextTheOnlyRunningOneIsMeant() throws {
    #expect(try resolve(nil, in: [status(1), status(2, .ended)]) == 1)
    #expect(caseName(nil, in: [status(1), status(2)]) == "validationError")
    #expect(caseName(nil, in: [status(2, .ended)]) == "durableSessionNotFound")
  }

  @Test func whatIsTooLongOrEmptyIsRefused() {
    #expect(throws: AppError.self) { try SessionSelector("") }
    #expect(throws: AppError.self) { try SessionSelector(String(repeating: "a", count: 129)) }
  }
}
