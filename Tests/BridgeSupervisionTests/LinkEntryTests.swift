import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import Testing

/// The entry of a link shows the link's state: it is there as long as the link needs a person.
@Suite struct LinkEntryTests {
  private let scene = Scene()
  private static let refused = AppError.sshAuthenticationFailed(method: "publickey")

  private func refuse(_ names: [String] = ["a"]) throws {
    scene.host.answer = .rejectCredentials
    try scene.run { [scene] in
      for name in names { try await scene.supervisor.add(scene.link(name)) }
    }
    try scene.pass(.seconds(60))
  }

  private func listed() throws -> [PresentedError] {
    try scene.run { [scene] in
      await [scene.supervisor.shown].compactMap(\.self) + scene.supervisor.waiting
    }
  }

  @Test func aReportOfAnOperationOnALinkIsNeitherReplacedNorWithdrawnByTheLink() throws {
    try refuse()
    try scene.run { [scene] in
      await scene.supervisor.report(.permissionDenied(tool: "t"), source: "a")
    }
    scene.host.answer = .changeHostKey
    try scene.run { [scene] in await scene.supervisor.reconnectNow("a") }
    try scene.pass(.seconds(1))
    #expect(
      Set(try listed().map(\.error)) == [
        .permissionDenied(tool: "t"), .sshHostKeyMismatch(host: "host"),
      ])
    scene.host.answer = .accept
    try scene.run { [scene] in await scene.supervisor.reconnectNow("a") }
    try scene.pass(.seconds(1))
    #expect(try listed().map(\.error) == [.permissionDenied(tool: "t")])
  }

  @Test func whatALinkNeedsAPersonForStaysListedUntilItIsUp() throws {
    try refuse()
    try scene.run { [scene] in
      await scene.supervisor.report(.agentBusy)
      await scene.supervisor.choose(.dismiss)
      await scene.supervisor.resolve(source: "a")
    }
    #expect(try listed().map(\.error).contains(Self.refused))
    scene.host.answer = .accept
    try scene.run { [scene] in await scene.supervisor.reconnectNow("a") }
    try scene.pass(.seconds(1))
    #expect(try listed().map(\.error).contains(Self.refused) == false)
  }

  @Test func dismissingItShowsTheNext() throws {
    try refuse(["a", "b"])
    let first = try listed()
    try scene.run { [scene] in await scene.supervisor.dismiss() }
    #expect(try listed().map(\.id) == first.reversed().map(\.id))
  }

  @Test func cancelClosesTheLinkAndItsEntryGoes() throws {
    try refuse()
    #expect(try listed().first?.plan?.options == [.reconnect, .cancel])
    let isDone = try scene.run { [scene] in await scene.supervisor.choose(.cancel) }
    #expect(isDone)
    #expect(try listed().isEmpty)
    let state = try scene.run { [scene] in await scene.supervisor.state(of: "a") }
    #expect(state == nil)
  }

  @Test func anOptionWithoutAHandlerChangesNothing() throws {
    try refuse()
    let before = try listed()
    let isDone = try scene.run { [scene] in await scene.supervisor.choose(.checkSettings) }
    #expect(!isDone)
    #expect(try listed().map(\.message) == before.map(\.message))
  }

  @Test func anOptionThatTheHandlerDoesNotCarryOutChangesNothing() throws {
    let scene = Scene { _, _ in throw OptionUnavailable() }
    let error = AppError.fileNotFound(path: "/a")
    try scene.run {
      await scene.supervisor.report(error)
      #expect(await !scene.supervisor.choose(.browse))
      #expect(await scene.supervisor.shown?.message == error.userMessage)
    }
  }
}
