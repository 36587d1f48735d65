import BridgeSessionProtocol
import Testing

/// A session that has ended, served from its files.
@Suite struct EndedSessionTests: HostTests {
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

  private func ended(
    _ end: ProgramEnd, oldest: UInt64 = 0, newest: UInt64
  ) -> HostSession {
    let configuration = HostSession.Configuration(
      session: Sample.session, epoch: Sample.epoch, kind: .pipes)
    return HostSession(
      ended: end, configuration, oldest: oldest, newest: newest, committed: 0,
      input: InputRecord())
  }

  @Test func lastOutputThatWasLostWithTheKeeperIsAGapBeforeTheEnd() throws {
    var host = ended(.exited(status: 0), oldest: 5, newest: 30)
    host.keptEnd = 20
    _ = try attach(&host, 1, hello(received: 5))
    #expect(host.nextOutput(for: 1, limit: 100) == .bytes(from: 5, count: 15))
    #expect(host.hasOutput(for: 1))
    #expect(host.nextOutput(for: 1, limit: 100) == .gap(from: 20, to: 30))
    #expect(host.nextOutput(for: 1, limit: 100) == .ended(at: 30, .exited(status: 0)))
    #expect(!host.hasOutput(for: 1))
  }

  /// A keeper that was killed may have sent what its journal does not have.
  @Test(arguments: [ProgramEnd.unknownKeeperDied, .unknownRebooted])
  func aClientMayHaveMoreThanADeadKeeperLeft(_ end: ProgramEnd) throws {
    var host = ended(end, newest: 20)
    let welcome = try attach(&host, 1, hello(received: 25)).welcome
    #expect(welcome.resume == 25 && welcome.newest == 25)
    #expect(host.nextOutput(for: 1, limit: 100) == .ended(at: 25, end))
    // What another one cannot get is a gap.
    _ = try attach(&host, 2, hello(Sample.other, received: 5))
    #expect(host.nextOutput(for: 2, limit: 100) == .bytes(from: 5, count: 15))
    #expect(host.nextOutput(for: 2, limit: 100) == .gap(from: 20, to: 25))
    #expect(host.nextOutput(for: 2, limit: 100) == .ended(at: 25, end))
  }

  /// Of an end that was recorded all of the output is known.
  @Test func noClientHasMoreThanASessionWhoseEndIsKnown() {
    var host = ended(.exited(status: 0), newest: 20)
    let effects = host.connect(1) + host.receive(hello(received: 25), from: 1, at: 0)
    #expect(violation(effects) == .wrongAcknowledgement(through: 25, sent: 20))
  }
}
