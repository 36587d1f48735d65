import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import Testing

/// A link changed in place: another host, policy or other credentials, the same identity.
@Suite struct LinkChangeTests {
  private let scene = Scene()
  private let elsewhere: ScriptedHost

  init() {
    elsewhere = ScriptedHost(Endpoint(host: "elsewhere", port: 22), clock: scene.clock)
  }

  private func add(
    _ id: ConnectionID = "a", _ options: LinkOptions = LinkOptions(liveness: nil)
  ) throws -> Link<ScriptedConnection> {
    let hosts = [scene.host, elsewhere]
    return try scene.run { [scene] in
      try await scene.supervisor.add(id, to: scene.host.endpoint, options) {
        (endpoint: Endpoint) async throws(AppError) -> ScriptedConnection in
        let host = hosts.first { $0.endpoint == endpoint } ?? scene.host
        return host.connection(id, host.tally.dials + 1)
      }
    }
  }

  private func state(_ id: ConnectionID) throws -> LinkState? {
    try scene.run { [scene] in await scene.supervisor.state(of: id) }
  }

  @Test func aRefusedPasswordIsReplacedAndTheLinkComesUp() throws {
    scene.host.answer = .rejectCredentials
    let link = try add()
    try scene.pass(.seconds(60))
    #expect(try scene.shown()?.error.caseName == "sshAuthenticationFailed")
    #expect(try scene.shown()?.link == link.id)
    let (host, clock) = (scene.host, scene.clock)
    let made = EventRecorder<Duration>()
    host.answer = .accept
    try scene.run {
      try await link.change(make: { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
        made.record(clock.elapsed)
        return host.connection("a", 100)
      })
    }
    #expect(try scene.shown() == nil, "the entry of the old password is gone")
    let connection = try scene.run { try await link.connection }
    #expect(connection.generation == 100, "it was made in the new way")
    #expect(made.events.count == 1)
    #expect(link.id == "a")
    let names = scene.names(of: "a")
    #expect(names.filter { $0 != "withdrawn" }.suffix(3) == ["changed", "attempt", "recovered"])
    #expect(names.last { $0 == "surfaced" || $0 == "withdrawn" } == "withdrawn")
    // The ids of generations go on: nothing of the old ones can be taken for the new.
    #expect(try state("a") == .up(generation: 2))
  }

  @Test func aNewPasswordThatIsRefusedTooIsANewEntry() throws {
    scene.host.answer = .rejectCredentials
    let link = try add()
    try scene.pass(.seconds(60))
    let old = try #require(try scene.shown()?.id)
    let host = scene.host
    try scene.run {
      try await link.change(make: { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
        host.connection("a", 2)
      })
    }
    try scene.pass(.seconds(60))
    let new = try #require(try scene.shown())
    #expect(new.error.caseName == "sshAuthenticationFailed" && new.id != old)
  }

  @Test func aLinkThatIsUpMovesToAnotherHost() throws {
    let link = try add()
    _ = try scene.run { try await link.connection }
    let endpoint = elsewhere.endpoint
    try scene.run { try await link.change(to: endpoint) }
    let connection = try scene.run { try await link.connection }
    #expect(connection.endpoint == endpoint)
    try scene.pass(.seconds(1))
    #expect(scene.host.tally.open == 0, "the old connection is closed")
    #expect(elsewhere.tally.open == 1)
    #expect(!scene.names(of: "a").contains("failed"), "a change is no failure")
  }

  @Test(arguments: [ScriptedHost.Answer.refuse, .hang, .changeHostKey])
  func whateverItWaitsForItIsDialedAnew(_ answer: ScriptedHost.Answer) throws {
    scene.host.answer = answer
    let link = try add()
    try scene.pass(.seconds(3))
    let endpoint = elsewhere.endpoint
    try scene.run { try await link.change(to: endpoint) }
    let connection = try scene.run { try await link.connection }
    #expect(connection.endpoint == endpoint)
    try scene.pass(.seconds(60))
    #expect(scene.host.tally.open == 0)
    #expect(try scene.shown() == nil)
  }

  @Test func aHostThatIsNotDialedAnyMoreIsDialedAfterAChange() throws {
    scene.host.answer = .changeHostKey
    let link = try add()
    try scene.pass(.seconds(3))
    #expect(throws: AppError.sshHostKeyMismatch(host: "host")) {
      try scene.run { try await link.connection }
    }
    scene.host.answer = .accept
    let host = scene.host
    try scene.run {
      try await link.change(make: { (_: Endpoint) async throws(AppError) -> ScriptedConnection in
        host.connection("a", 2)
      })
    }
    _ = try scene.run { try await link.connection }
    #expect(try scene.shown() == nil)
  }

  @Test func whatDependsOnItIsSuspendedAndComesBack() throws {
    let parent = try add()
    let child = try add("child", LinkOptions(parents: ["a"], liveness: nil))
    _ = try scene.run { try await child.connection }
    let endpoint = elsewhere.endpoint
    try scene.run { try await parent.change(to: endpoint) }
    #expect(try state("child") == .suspended)
    _ = try scene.run { try await child.connection }
    #expect(scene.names(of: "child").suffix(4) == ["suspended", "resumed", "attempt", "recovered"])
  }

  @Test func optionsAloneKeepTheConnection() throws {
    let link = try add()
    _ = try add("other")
    let before = try scene.run { try await link.connection }
    let options = LinkOptions(parents: ["other"], policy: .standard, liveness: nil)
    try scene.run { try await link.change(options) }
    let after = try scene.run { try await link.connection }
    #expect(before === after)
    #expect(!scene.names(of: "a").contains("changed"))
    // The policy counts from the next failure on: three retries.
    scene.host.answer = .refuse
    try scene.run { await before.lose() }
    try scene.pass(.seconds(60))
    #expect(scene.names(of: "a").contains("gaveUp"))
  }

  @Test func newParentsCountAtOnce() throws {
    let link = try add()
    _ = try scene.run { try await link.connection }
    try scene.run { try await link.change(LinkOptions(parents: ["missing"], liveness: nil)) }
    #expect(try state("a") == .suspended)
    try scene.run { try await link.change(LinkOptions(liveness: nil)) }
    _ = try scene.run { try await link.connection }
  }

  @Test func aCycleIsRefusedAndChangesNothing() throws {
    let link = try add()
    _ = try add("b", LinkOptions(parents: ["a"], liveness: nil))
    _ = try scene.run { try await link.connection }
    #expect(throws: AppError.internalError(detail: "a would depend on itself")) {
      try scene.run { try await link.change(LinkOptions(parents: ["b"], liveness: nil)) }
    }
    #expect(try state("a") == .up(generation: 1))
  }

  @Test func aClosedLinkCannotBeChanged() throws {
    let link = try add()
    try scene.run { await link.close() }
    let endpoint = elsewhere.endpoint
    #expect(throws: AppError.cancelled) { try scene.run { try await link.change(to: endpoint) } }
  }

  @Test func aCallerThatWaitsHasTheConnectionToTheNewHost() throws {
    scene.host.answer = .refuse
    let link = try add()
    let endpoint = elsewhere.endpoint
    let waiting = EventRecorder<Endpoint>()
    Task(executorPreference: scene.executor) {
      if let connection = try? await link.connection { waiting.record(connection.endpoint) }
    }
    try scene.pass(.seconds(2))
    try scene.run { try await link.change(to: endpoint) }
    try scene.pass(.seconds(1))
    #expect(waiting.events == [endpoint])
  }
}
