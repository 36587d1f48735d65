import BridgeErrors
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

/// A link that several owners depend on: a jump host of many machines.
@Suite struct SharedLinkTests {
  private let scene = Scene()

  private func share(_ description: String) throws -> ConnectionID {
    try scene.run { [scene] in
      try await scene.supervisor.share(
        "gate", description, to: scene.host.endpoint, LinkOptions(liveness: nil)
      ) { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
        scene.host.connection("gate", scene.host.tally.dials + 1)
      }
    }
  }

  private func isUp(_ id: ConnectionID) throws -> Bool {
    try scene.run { [scene] in await scene.supervisor.state(of: id) != nil }
  }

  private func release(_ id: ConnectionID) throws {
    try scene.run { [scene] in await scene.supervisor.release(id) }
    try scene.pass(.seconds(5))
  }

  @Test func itIsKeptUpUntilTheLastOwnerLetsGo() throws {
    let first = try share("a")
    #expect(try share("a") == first && first == "gate")
    try scene.pass(.seconds(5))
    #expect(scene.host.tally.dials == 1)
    try release(first)
    #expect(try isUp(first))
    try release(first)
    #expect(try !isUp(first))
    // One release too many ends nothing.
    try release(first)
    #expect(try share("a") == first)
    try scene.pass(.seconds(5))
    #expect(try isUp(first) && scene.host.tally.dials == 2)
  }

  @Test func anotherLinkOfItsNameIsNotShared() throws {
    let first = try share("a")
    let other = try share("b")
    #expect(other == "gate#2")
    #expect(try share("b") == other)
    try release(first)
    #expect(try !isUp(first) && isUp(other))
  }

  @Test func aNameOfALinkThatIsNotSharedIsLeftToIt() throws {
    let link = scene.link("gate")
    try scene.run { [scene] in try await scene.supervisor.add(link) }
    #expect(try share("a") == "gate#2")
  }

  @Test func afterTheShutDownNoneIsAdded() throws {
    try scene.run { [scene] in await scene.supervisor.shutDown() }
    #expect(throws: AppError.cancelled) { try share("a") }
  }
}
