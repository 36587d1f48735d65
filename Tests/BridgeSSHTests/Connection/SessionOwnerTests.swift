import BridgeSSH
import Testing

/// Which thread may call a session: every state with every input.
@Suite struct SessionOwnerTests {
  typealias Owner = SessionOwner<String, Int>

  struct Row: Sendable {
    var from: Owner
    /// After begin("b"), resumeHelp, awaitBytes, handToHelper (evidence 7), takeBack, release.
    var to: [Owner]
  }

  private static let rows = [
    Row(from: .none, to: [.loop("b", .due), .none, .none, .none, .none, .none]),
    Row(
      from: .loop("a", .due),
      to: [
        .loop("a", .due), .loop("a", .due), .loop("a", .waiting), .helper("a", 7),
        .loop("a", .due), .none,
      ]),
    Row(
      from: .loop("a", .waiting),
      to: [
        .loop("a", .waiting), .loop("a", .due), .loop("a", .waiting), .loop("a", .waiting),
        .loop("a", .waiting), .none,
      ]),
    Row(
      from: .helper("a", 3),
      to: [
        .helper("a", 3), .helper("a", 3), .helper("a", 3), .helper("a", 3), .loop("a", .due),
        .helper("a", 3),
      ]),
  ]

  @Test(arguments: rows) func eachInputLeadsToOneState(_ row: Row) {
    let inputs: [(inout Owner) -> Void] = [
      { $0.begin("b") }, { $0.resumeHelp() }, { $0.awaitBytes() },
      { _ = $0.handToHelper { _ in 7 } }, { $0.takeBack() }, { _ = $0.release() },
    ]
    let reached = inputs.map { input in
      var owner = row.from
      input(&owner)
      return owner
    }
    #expect(reached == row.to)
  }

  @Test func onlyTheReactorSeesTheSessionAsItsOwn() {
    #expect(Owner.loop("a", .waiting).session == "a")
    #expect(Owner.helper("a", 3).session == nil)
    #expect(Owner.helper("a", 3).held == "a")
    #expect(Owner.helper("a", 3).evidence == 3)
    #expect(Owner.loop("a", .due).evidence == nil)
  }

  @Test func aHelperGetsTheSessionWithWhatWasKnownOfIt() {
    var owner = Owner.loop("four", .due)
    let handed = owner.handToHelper { $0.count }
    #expect(handed == "four")
    #expect(owner == .helper("four", 4))
  }

  @Test func aSessionThatAHelperHasIsNotReleased() {
    var owner = Owner.helper("a", 3)
    let early = owner.release()
    owner.takeBack()
    let (once, twice) = (owner.release(), owner.release())
    #expect(early == nil)
    #expect(once == "a")
    #expect(twice == nil)
  }
}
