import BridgeSessionProtocol
import Testing

/// Clients that only read, because they asked for that or because another one writes.
@Suite struct ViewerTests {
  /// A client that asked to write, and a host that is connected to it as `id`.
  private func attach(
    _ client: inout ClientSession, to host: inout HostSession, as id: HostSession.AttachmentID
  ) throws -> Role? {
    #expect(host.connect(id).isEmpty)
    client.connect()
    // A hello, and where another client may be displaced the answer to a ping.
    while let frame = client.nextFrame(at: 0) {
      let effects = host.receive(frame, from: id, at: 0)
      for case .send(id, let answer) in effects { _ = try client.receive(answer, at: 0) }
      // The writer in whose place it wants to write lives.
      for case .send(let writer, .ping(let value)) in effects where writer != id {
        _ = host.receive(.pong(value), from: writer, at: 0)
        for case .send(id, let answer) in host.answer(id, at: 0) {
          _ = try client.receive(answer, at: 0)
        }
      }
    }
    return client.role
  }

  private func client(_ id: ClientID) -> ClientSession {
    ClientSession(.init(session: Sample.session, client: id))
  }

  private func disconnect(
    _ client: inout ClientSession, _ host: inout HostSession, _ id: HostSession.AttachmentID
  ) {
    client.disconnect()
    host.disconnect(id)
  }

  @Test func whoReadsOnlyDoesSoAlsoWhileTheLinkOfTheWriterIsDown() throws {
    var host = HostSession(
      .init(session: Sample.session, epoch: Sample.epoch, kind: .pipes))
    var (writer, reader) = (client(Sample.client), client(Sample.other))
    #expect(try attach(&writer, to: &host, as: 1) == .writer)
    #expect(try attach(&reader, to: &host, as: 2) == .viewer)
    disconnect(&writer, &host, 1)
    disconnect(&reader, &host, 2)
    #expect(try attach(&reader, to: &host, as: 3) == .viewer)
    #expect(try attach(&writer, to: &host, as: 4) == .writer)
    reader.disconnect()
    reader.retake(true)
    #expect(try attach(&reader, to: &host, as: 5) == .writer)
  }

  @Test func aViewerNeitherTypesNorCommits() throws {
    var host = HostSession(
      .init(session: Sample.session, epoch: Sample.epoch, kind: .pipes))
    var (writer, reader) = (client(Sample.client), client(Sample.other))
    _ = try attach(&writer, to: &host, as: 1)
    _ = try attach(&reader, to: &host, as: 2)
    #expect(throws: ClientSession.WriteError.notWriter) { try reader.write([1]) }
    #expect(throws: ClientSession.WriteError.notWriter) { try reader.perform(.signal(.kill)) }
    try reader.detach(closes: false)
    #expect(reader.nextFrame(at: 0) == .control(number: 0, .detach))
  }
}
