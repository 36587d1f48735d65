import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Testing

/// A keeper that dies while a client attaches to it.
@Suite struct LostKeeperTests {
  private func host(status: Int, marked: Bool) -> ScriptedHost {
    ScriptedHost(
      ending: .finished(status: status),
      { channel in
        if marked { channel.send(channel.marker) }
        channel.hangUp()
      },
      { channel in
        channel.greet {
          $0.newest = 3
          $0.hasEnded = true
        }
        channel.send(.output(offset: 0, stream: .standardOutput, bytes: [1, 2, 3]))
        channel.send(.ended(at: 3, .unknownKeeperDied))
      })
  }

  /// The program may have run: that is no host without bridge-host.
  @Test func theNextAttachmentSaysWhatBecameOfTheProgram() async throws {
    let session = host(status: 74, marked: true).session()
    _ = try await session.attach()
    var output: [SessionChunk] = []
    for try await chunk in session.output { output.append(chunk) }
    #expect(output.map(\.content) == [.bytes([1, 2, 3], .standardOutput)])
    let error = await failure { _ = try await session.exitStatus() }
    guard case .durableSessionOutcomeUnknown? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    await session.detach()
  }

  @Test(arguments: [(73, true), (74, false)])
  func anotherStatusOrNoBridgeHostIsFinal(status: Int, marked: Bool) async {
    let session = host(status: status, marked: marked).session()
    let error = await failure { _ = try await session.attach() }
    guard case .durableSessionHostUnusable? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}
