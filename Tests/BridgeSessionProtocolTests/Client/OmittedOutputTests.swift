import Testing

@testable import BridgeSessionProtocol

/// A client that is sent the screen in place of output.
@Suite struct OmittedOutputTests {
  private func client(
    catchesUp: Bool = true, kind: ProgramKind = .terminal
  ) throws -> ClientSession {
    let (client, hello) = try Sample.attached(kind: kind) { $0.catchesUp = catchesUp }
    #expect(hello.catchesUp == catchesUp)
    return client
  }

  @Test func outputGoesOnBehindTheScreen() throws {
    var client = try client()
    _ = try client.receive(.output(offset: 0, stream: .terminal, bytes: [1]), at: 0)
    let far: UInt64 = 100 << 20
    let events = try client.receive(.screen(to: far, bytes: [2]), at: 0)
    #expect(events == [.screen(from: 1, to: far, bytes: [2])])
    #expect(client.received == far && client.consumed == 0)
    // Its window counts what was sent.
    for index in 0..<3 {
      let offset = far + UInt64(index << 20)
      _ = try client.receive(
        .output(offset: offset, stream: .terminal, bytes: [UInt8](repeating: 0, count: 1 << 20)),
        at: 0)
    }
    client.consume(through: far, at: 0)
    client.commit(through: far, at: 0)
    #expect(client.resumePoint == ResumePoint(epoch: Sample.epoch, received: far))
  }

  /// What the reader has not taken is in memory, and no window counts it.
  @Test func aHostThatDrawsWithoutEndIsNotFollowed() throws {
    var client = try client()
    for end in UInt64(1)...16 { _ = try client.receive(.screen(to: end, bytes: [2]), at: 0) }
    #expect(throws: ProtocolError.windowExceeded(limit: client.outputWindow)) {
      try client.receive(.screen(to: 17, bytes: [2]), at: 0)
    }
    client.consume(through: 1, at: 0)
    #expect(try client.receive(.screen(to: 17, bytes: [2]), at: 0).count == 1)
  }

  @Test func whatIsThereAlreadyIsNotDrawn() throws {
    var client = try client()
    _ = try client.receive(.screen(to: 10, bytes: [2]), at: 0)
    #expect(try client.receive(.screen(to: 10, bytes: [2]), at: 0) == [])
  }

  @Test(arguments: [(false, ProgramKind.terminal), (true, .pipes)])
  func whoDidNotAskForItIsSentNone(catchesUp: Bool, kind: ProgramKind) throws {
    var client = try client(catchesUp: catchesUp, kind: kind)
    #expect(throws: ProtocolError.unexpectedFrame(type: 130)) {
      try client.receive(.screen(to: 10, bytes: [2]), at: 0)
    }
  }
}
