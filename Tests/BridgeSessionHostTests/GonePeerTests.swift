import BridgeSessionProtocol
import Testing

@testable import BridgeSessionHost

/// A peer whose end of the output is closed while its last frames wait in the other pipe: so sshd
/// leaves a session whose connection has ended. One after the other: a program that is being
/// started has all descriptors for a moment.
@Suite(.serialized) struct GonePeerTests {
  /// The session goes on, and each broken link would leave one behind.
  @Test(arguments: [["wait"], ["read", "--follow"]])
  func whatWaitsForTheEndDoesNotOutliveItsClient(_ verb: [String]) throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo here; exec sleep 600")
    _ = try bench.start(spec)
    let waiter = try bench.launch(verb + ["--session", spec.session.description])
    waiter.output.descriptor.closeNow()
    // It has its input still.
    _ = waiter.exitStatus()
    #expect(try bench.status(spec.session)?.state == .running)
    _ = try bench.run(["kill", "--session", spec.session.description])
  }

  @Test func itsLastWishCounts() throws {
    let folder = try JournalTests.Folder()
    let session = Identifier(high: 1, low: 1)
    let machine = HostSession(
      ended: .exited(status: 0), .init(session: session, epoch: 7, kind: .pipes), oldest: 0,
      newest: 0, committed: 0, input: InputRecord())
    let server = SessionServer(machine, Journal(folder.directory))
    let input = try Pipe()
    let output = try Pipe()
    let writer = output.writer
    try input.reader.setNonblocking()
    try writer.setNonblocking()
    server.add(
      input: Channel(input.reader, .own), output: Channel(writer, .own), process: nil, at: 0)
    _ = TestMachine.ignoresBrokenPipes

    func send(_ frames: Frame...) {
      let bytes = frames.flatMap(\.encoded)
      #expect(Channel(input.writer, .own).write(bytes, from: 0) == .wrote(bytes.count))
    }
    var hello = Hello(session: session, client: Identifier(high: 2, low: 2))
    hello.role = .writer
    send(.hello(hello))
    server.serve(.init(connection: 1, part: .input), Readiness(isReadable: true), at: 0)
    send(.control(number: 1, .close))
    // The answer to the hello was not sent yet, and never is.
    output.reader.closeNow()
    server.pump(at: 0)
    #expect(server.takeProgramEffects().contains(.discard))
    #expect(server.connections.isEmpty)
  }
}
