import BridgeSessionProtocol
import Testing

/// A session that has ended, served from its files.
@Suite struct EndedSessionTests {
  /// A control was done after the end was recorded, and the keeper left: the files know less.
  @Test func closeIsNumberedFromWhatTheFilesKnow() throws {
    let configuration = HostSession.Configuration(
      session: Sample.session, epoch: Sample.epoch, kind: .pipes)
    var host = HostSession(configuration)
    var client = ClientSession(.init(session: Sample.session, client: Sample.client))
    func exchange(_ id: UInt32, _ host: inout HostSession) throws -> [HostSession.Effect] {
      var seen: [HostSession.Effect] = []
      for _ in 0..<20 {
        while let frame = client.nextFrame(at: 1000) {
          let effects = host.receive(frame, from: id, at: 1000)
          seen += effects
          for case .send(id, let frame) in effects { _ = try client.receive(frame, at: 1000) }
        }
        for case .send(id, let frame) in host.acknowledgements(at: 9000) {
          _ = try client.receive(frame, at: 1000)
        }
      }
      return seen
    }
    client.connect()
    _ = host.connect(1)
    _ = try exchange(1, &host)
    // The program ends, and that is recorded, before its end of input comes.
    _ = host.end(.exited(status: 0), at: 0)
    let record = host.inputRecord
    _ = try client.endInput()
    _ = try exchange(1, &host)
    #expect(host.nextOutput(for: 1, limit: 10) == .ended(at: 0, .exited(status: 0)))
    _ = try client.receive(.ended(at: 0, .exited(status: 0)), at: 1000)
    client.disconnect()
    // The keeper has left; an attachment is served from the files.
    var files = HostSession(
      ended: .exited(status: 0), configuration, oldest: 0, newest: 0, committed: 0, input: record)
    client.closeAgain()
    client.connect()
    _ = files.connect(1)
    _ = try exchange(1, &files)
    _ = files.nextOutput(for: 1, limit: 10)
    _ = try client.receive(.ended(at: 0, .exited(status: 0)), at: 1000)
    let effects = try exchange(1, &files)
    #expect(effects.contains(.discard), "\(effects)")
  }
}
