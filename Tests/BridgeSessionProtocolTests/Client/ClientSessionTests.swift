import BridgeSessionProtocol
import Testing

@Suite struct ClientSessionTests {
  private func client(
    resume: ResumePoint? = nil, input: InputPoint? = nil, change: (inout Welcome) -> Void = { _ in }
  ) throws -> ClientSession {
    let configuration = ClientSession.Configuration(
      session: Sample.session, client: Sample.client)
    var client = ClientSession(configuration, resume: resume, input: input)
    client.connect()
    _ = client.nextFrame(at: 0)
    _ = try client.receive(.welcome(welcome(change)), at: 0)
    return client
  }

  private func welcome(_ change: (inout Welcome) -> Void = { _ in }) -> Welcome {
    var welcome = Welcome(session: Sample.session, epoch: Sample.epoch)
    welcome.lease = 1
    change(&welcome)
    return welcome
  }

  private func reattach(
    _ client: inout ClientSession, _ change: (inout Welcome) -> Void
  ) throws -> [ClientSession.Event] {
    client.disconnect()
    client.connect()
    _ = client.nextFrame(at: 0)
    return try client.receive(.welcome(welcome(change)), at: 0)
  }

  private func nextHello(of client: inout ClientSession) throws -> Hello {
    guard case .hello(let hello)? = client.nextFrame(at: 0) else { throw Missing() }
    return hello
  }

  /// There is no hello.
  private struct Missing: Error {}

  private func output(_ offset: UInt64, _ count: Int) -> Frame {
    .output(
      offset: offset, stream: .standardOutput,
      bytes: (0..<count).map { UInt8(truncatingIfNeeded: Int(offset) + $0) })
  }

  @Test func helloIsTheFirstFrameAndNothingFollowsItBeforeTheWelcome() throws {
    let configuration = ClientSession.Configuration(session: Sample.session, client: Sample.client)
    let point = ResumePoint(epoch: Sample.epoch, received: 70)
    var client = ClientSession(configuration, resume: point)
    #expect(client.nextFrame(at: 0) == nil)
    client.connect()
    let hello = try nextHello(of: &client)
    #expect(hello.resume == point && hello.acknowledged == 70 && hello.committed == 70)
    #expect(client.nextFrame(at: 0) == nil)
    #expect(throws: ClientSession.WriteError.notAttached) { try client.write([1]) }
    #expect(throws: ProtocolError.unexpectedFrame(type: 4)) {
      try client.receive(output(70, 1), at: 0)
    }
  }

  @Test func aPingBeforeTheWelcomeIsAnsweredAfterHello() throws {
    let configuration = ClientSession.Configuration(session: Sample.session, client: Sample.client)
    var client = ClientSession(configuration)
    client.connect()
    #expect(try client.receive(.ping(9), at: 0).isEmpty)
    let hello = try nextHello(of: &client)
    #expect(hello.answersPings)
    #expect(client.nextFrame(at: 0) == .pong(9))
    #expect(client.nextFrame(at: 0) == nil)
  }

  /// `close` removes a session only where the host has sent the end in the same attachment.
  @Test(arguments: [false, true]) func closeIsSentAgainBehindTheEnd(wasSent: Bool) throws {
    var client = try client { $0.newest = 2 }
    _ = try client.receive(output(0, 2), at: 0)
    let end = Frame.ended(at: 2, .exited(status: 0))
    _ = try client.receive(end, at: 0)
    #expect(!client.mayRemove)
    client.commit(through: 2, at: 0)
    #expect(client.mayRemove)
    if wasSent {
      try client.detach(closes: true)
      #expect(client.nextFrame(at: 0) == .acknowledge(through: 2, settled: 2))
      #expect(client.nextFrame(at: 0) == .control(number: 1, .close))
    }
    client.disconnect()
    client.closeAgain()
    client.connect()
    let hello = try nextHello(of: &client)
    #expect(hello.committed == 2)
    _ = try client.receive(
      .welcome(
        welcome {
          $0.newest = 2
          $0.resume = 2
          $0.hasEnded = true
        }), at: 0)
    #expect(client.nextFrame(at: 0) == nil)
    _ = try client.receive(end, at: 0)
    #expect(client.nextFrame(at: 0) == .acknowledge(through: 2, settled: 2))
    #expect(client.nextFrame(at: 0) == .control(number: 1, .close))
    #expect(client.phase == .left)
  }

  @Test func outputIsDeliveredOnceWhateverOverlaps() throws {
    var client = try client()
    #expect(
      try client.receive(output(0, 3), at: 0)
        == [.output(offset: 0, stream: .standardOutput, bytes: [0, 1, 2])])
    #expect(try client.receive(output(0, 3), at: 0).isEmpty)
    #expect(
      try client.receive(output(1, 4), at: 0)
        == [.output(offset: 3, stream: .standardOutput, bytes: [3, 4])])
    #expect(throws: ProtocolError.hole(expected: 5, found: 6)) {
      try client.receive(output(6, 1), at: 0)
    }
  }

  @Test func aGapIsAnEventInItsPlace() throws {
    var client = try client()
    #expect(try client.receive(.gap(from: 0, to: 9), at: 0) == [.gap(from: 0, to: 9)])
    #expect(try client.receive(.gap(from: 4, to: 12), at: 0) == [.gap(from: 9, to: 12)])
    #expect(try client.receive(.gap(from: 4, to: 12), at: 0).isEmpty)
    #expect(throws: ProtocolError.hole(expected: 12, found: 13)) {
      try client.receive(.gap(from: 13, to: 14), at: 0)
    }
  }

  @Test func aGapLongerThanTheWindowIsAcknowledgedAtOnce() throws {
    var client = try client()
    _ = try client.receive(.gap(from: 0, to: 60 << 20), at: 0)
    client.consume(through: 60 << 20, at: 0)
    #expect(client.nextFrame(at: 0) == .acknowledge(through: 60 << 20, settled: 0))
  }

  @Test func outputBeyondTheWindowIsAViolation() throws {
    var client = try client()
    let window = Limits.outputWindow
    for offset in stride(from: 0, to: window, by: 1 << 20) {
      _ = try client.receive(output(offset, 1 << 20), at: 0)
    }
    #expect(throws: ProtocolError.windowExceeded(limit: window)) {
      try client.receive(output(window, 1), at: 0)
    }
  }

  @Test func aHostThatDoesNotKnowTheWindowOfAHelloMaySendOneMiB() throws {
    var configuration = ClientSession.Configuration(session: Sample.session, client: Sample.client)
    configuration.outputWindow = 0
    var client = ClientSession(configuration)
    client.connect()
    let hello = try nextHello(of: &client)
    #expect(hello.window == 1)
    let welcome = Welcome(session: Sample.session, epoch: Sample.epoch)
    _ = try client.receive(.welcome(welcome), at: 0)
    _ = try client.receive(output(0, 1 << 20), at: 0)
    #expect(throws: ProtocolError.windowExceeded(limit: Limits.window)) {
      try client.receive(output(1 << 20, 1), at: 0)
    }
  }

  @Test func manyReconnectsDoNotWidenTheWindow() throws {
    var client = try client()
    _ = try client.receive(output(0, 1 << 20), at: 0)
    client.disconnect()
    client.connect()
    let hello = try nextHello(of: &client)
    #expect(hello.resume?.received == 1 << 20 && hello.acknowledged == 0)
  }

  @Test func acknowledgesAfterASixteenthOfTheWindowOr200Milliseconds() throws {
    var client = try client()
    _ = try client.receive(output(0, 1 << 20), at: 0)
    #expect(client.acknowledgementDeadline == nil)
    client.consume(through: 10, at: 1000)
    #expect(client.acknowledgementDeadline == 1200)
    #expect(client.nextFrame(at: 1199) == nil)
    #expect(client.nextFrame(at: 1200) == .acknowledge(through: 10, settled: 0))
    client.consume(through: 262_153, at: 1300)
    #expect(client.nextFrame(at: 1300) == nil)
    client.consume(through: 262_154, at: 1300)
    #expect(client.nextFrame(at: 1300) == .acknowledge(through: 262_154, settled: 0))
    client.commit(through: 50_000, at: 1400)
    #expect(client.nextFrame(at: 1600) == .acknowledge(through: 262_154, settled: 50_000))
  }

  @Test func whatIsReadBetweenHelloAndWelcomeIsAcknowledgedToo() throws {
    var client = try client()
    _ = try client.receive(output(0, 10), at: 0)
    client.disconnect()
    client.connect()
    _ = client.nextFrame(at: 0)
    client.commit(through: 10, at: 0)
    let again = welcome { ($0.newest, $0.resume) = (10, 10) }
    _ = try client.receive(.welcome(again), at: 1000)
    #expect(client.nextFrame(at: 1200) == .acknowledge(through: 10, settled: 10))
  }

  @Test func inputIsSentAgainFromWhereTheHostHasIt() throws {
    var client = try client()
    #expect(try client.write([1, 2, 3, 4, 5]) == 5)
    #expect(client.nextFrame(limit: 3, at: 0) == .input(offset: 0, bytes: [1, 2, 3]))
    let events = try reattach(&client) {
      $0.inputTaken = 1
      $0.inputAccepted = 2
    }
    #expect(events.contains(.inputTaken(through: 1)))
    #expect(client.nextFrame(at: 0) == .input(offset: 2, bytes: [3, 4, 5]))
    #expect(client.nextFrame(at: 0) == nil)
    let taken = try client.receive(.acknowledge(through: 5, settled: 0), at: 0)
    #expect(taken == [.inputTaken(through: 5)])
  }

  @Test func inputWaitsForTheWindowAndABoundedBuffer() throws {
    var client = try client()
    let full = [UInt8](repeating: 7, count: Int(Limits.window))
    _ = try client.write(full)
    #expect(throws: ClientSession.WriteError.full(space: 0)) { try client.write([1]) }
    var sent = 0
    while case .input(_, let bytes)? = client.nextFrame(at: 0) { sent += bytes.count }
    #expect(sent == full.count)
    _ = try client.receive(.acknowledge(through: 10, settled: 0), at: 0)
    #expect(throws: ClientSession.WriteError.full(space: 10)) {
      try client.write([UInt8](repeating: 1, count: 11))
    }
    _ = try client.write([8])
    #expect(client.nextFrame(at: 0) == .input(offset: Limits.window, bytes: [8]))
  }

  @Test func anApplicationThatRestartedWritesWhatWasNotTaken() throws {
    let point = InputPoint(written: 10, lease: 1)
    var client = try client(input: point) {
      $0.inputTaken = 6
      $0.inputAccepted = 6
    }
    #expect(client.inputOffset == 6)
    // It wrote "approve\n" at 2 before it died; the host has its first four bytes.
    #expect(try client.write(Array("approve\n".utf8), at: 2) == 10)
    #expect(client.nextFrame(at: 0) == .input(offset: 6, bytes: Array("ove\n".utf8)))
    #expect(try client.write(Array("approve\n".utf8), at: 2) == 10)
    #expect(client.nextFrame(at: 0) == nil)
    #expect(throws: ClientSession.WriteError.hole(expected: 10)) { try client.write([1], at: 11) }
  }

  /// Of a keeper that died nothing says how far the input had come.
  @Test func inputOfAnEndedSessionHasNoHole() throws {
    var client = try client(input: InputPoint(written: 10, lease: 1)) { $0.hasEnded = true }
    #expect(throws: ClientSession.WriteError.ended) { try client.write([1, 2], at: 8) }
    #expect(throws: ClientSession.WriteError.ended) { try client.write([1]) }
  }

  @Test func inputThatAnotherWriterCutOffIsReportedAndNotSent() throws {
    var client = try client()
    _ = try client.write([1, 2, 3, 4])
    _ = client.nextFrame(at: 0)
    let events = try reattach(&client) {
      $0.lease = 3
      $0.ownAccepted = 2
      $0.inputTaken = 50
      $0.inputAccepted = 50
    }
    guard case .inputDropped(let loss) = events.last else { Issue.record("\(events)"); return }
    #expect(loss.reason == .replaced && loss.accepted == 2 && loss.written == 4)
    #expect(client.nextFrame(at: 0) == nil)
    #expect(try client.write([9]) == 51)
    #expect(client.nextFrame(at: 0) == .input(offset: 50, bytes: [9]))
  }

  /// An interrupt that no link took has not been passed on, and that is what is said of it.
  @Test func aControlIsAwaitedOnceItWasSent() throws {
    var client = try client()
    client.disconnect()
    _ = try client.perform(.signal(.interrupt))
    #expect(!client.awaitsControl)
    _ = try reattach(&client) { _ in }
    #expect(!client.awaitsControl)
    _ = client.nextFrame(at: 0)
    #expect(client.awaitsControl)
    client.disconnect()
    #expect(client.awaitsControl)
    _ = try reattach(&client) { $0.lastControl = 1 }
    #expect(!client.awaitsControl)
  }

  @Test func controlsAreNumberedFromTheHostsLastAndSentAgainUntilTheyAreDone() throws {
    var client = try client { $0.lastControl = 4 }
    let size = WindowSize(columns: 9, rows: 9)
    #expect(try client.perform(.resize(size)) == 5)
    #expect(try client.perform(.signal(.interrupt)) == 6)
    #expect(client.nextFrame(at: 0) == .control(number: 5, .resize(size)))
    #expect(client.nextFrame(at: 0) == .control(number: 6, .signal(.interrupt)))
    let events = try reattach(&client) { $0.lastControl = 5 }
    #expect(events.contains(.controlsDone(through: 5)))
    #expect(client.nextFrame(at: 0) == .control(number: 6, .signal(.interrupt)))
  }

  /// A keeper that died took the newest numbers with it: its files say less than it had said.
  @Test func anEndedSessionMayKnowLessThanItsKeeperSaid() throws {
    var client = try client()
    _ = try client.write([1, 2, 3])
    _ = try client.perform(.signal(.interrupt))
    while client.nextFrame(at: 0) != nil {}
    _ = try client.receive(.acknowledge(through: 3, settled: 1), at: 0)
    _ = try reattach(&client) { $0.hasEnded = true }
    #expect(client.phase == .attached && client.inputTaken == 3)
  }

  @Test func detachingComesAfterAllInput() throws {
    var client = try client()
    _ = try client.write([1, 2])
    try client.detach(closes: false)
    #expect(client.nextFrame(limit: 1, at: 0) == .input(offset: 0, bytes: [1]))
    #expect(client.nextFrame(limit: 1, at: 0) == .input(offset: 1, bytes: [2]))
    #expect(client.nextFrame(at: 0) == .control(number: 1, .detach))
    #expect(client.phase == .left)
    client.connect()
    #expect(client.nextFrame(at: 0) == nil)
  }

  @Test func theEndIsReportedOnceAndCommittedAtOnce() throws {
    var client = try client()
    _ = try client.receive(output(0, 5), at: 0)
    #expect(throws: ProtocolError.hole(expected: 5, found: 6)) {
      var other = client
      return try other.receive(.ended(at: 6, .exited(status: 0)), at: 0)
    }
    let end = Frame.ended(at: 5, .exited(status: 9))
    #expect(try client.receive(end, at: 0) == [.ended(.exited(status: 9), at: 5)])
    client.commit(through: 5, at: 50)
    #expect(client.nextFrame(at: 50) == .acknowledge(through: 5, settled: 5))
    _ = try reattach(&client) {
      $0.newest = 5
      $0.resume = 5
      $0.hasEnded = true
    }
    #expect(try client.receive(end, at: 60).isEmpty)
  }

  @Test func aWelcomeOfAnotherRunIsNeverContinued() throws {
    var client = try client()
    _ = try client.receive(output(0, 5), at: 0)
    let faults: [(ProtocolError, (inout Welcome) -> Void)] = [
      (.wrongEpoch, { $0.epoch = 1 }),
      (.wrongSession, { $0.session = SessionID(high: 1, low: 1) }),
      (.offsetsWentBack(received: 5, newest: 4), { $0.newest = 4 }),
      (.hole(expected: 5, found: 7), { ($0.newest, $0.resume) = (9, 7) }),
      (.wrongVersion(2), { $0.version = 2 }),
      (
        .wrongAcknowledgement(through: 1, sent: 0),
        { ($0.newest, $0.resume, $0.inputAccepted) = (5, 5, 1) }
      ),
    ]
    for (error, change) in faults {
      var copy = client
      #expect(throws: error) { try reattach(&copy, change) }
    }
  }

  @Test func aHostThatAcknowledgesWhatWasNotSentIsAViolation() throws {
    var client = try client()
    _ = try client.write([1, 2, 3])
    _ = client.nextFrame(limit: 2, at: 0)
    #expect(throws: ProtocolError.wrongAcknowledgement(through: 3, sent: 2)) {
      try client.receive(.acknowledge(through: 3, settled: 0), at: 0)
    }
    #expect(throws: ProtocolError.wrongAcknowledgement(through: 1, sent: 0)) {
      try client.receive(.acknowledge(through: 0, settled: 1), at: 0)
    }
  }

  @Test func aReplacedClientDoesNotAttachAgainByItself() throws {
    var client = try client()
    let refusal = Refusal(.replaced, "taken over")
    #expect(try client.receive(.refused(refusal), at: 0) == [.refused(refusal)])
    client.disconnect()
    client.connect()
    #expect(client.phase == .refused(refusal) && client.nextFrame(at: 0) == nil)
    client.retake(true)
    client.connect()
    let hello = try nextHello(of: &client)
    #expect(hello.takes)
    _ = try client.receive(.welcome(welcome()), at: 0)
    client.disconnect()
    client.connect()
    let next = try nextHello(of: &client)
    #expect(!next.takes, "two clients that take over would displace each other for ever")
  }

  @Test func aThousandPingsAreNotAThousandPongs() throws {
    var client = try client()
    for value in UInt64(0)..<1000 { _ = try client.receive(.ping(value), at: 0) }
    var pongs = 0
    while case .pong? = client.nextFrame(at: 0) { pongs += 1 }
    #expect(pongs == 16)
  }

  @Test func inputThatAProgramWillNotReadIsReported() throws {
    var client = try client()
    _ = try client.write([1, 2, 3])
    _ = client.nextFrame(at: 0)
    _ = try client.receive(.acknowledge(through: 1, settled: 0), at: 0)
    let events = try client.receive(.notice(Notice(.inputClosed, "closed")), at: 0)
    guard case .inputDropped(let loss) = events.last else { Issue.record("\(events)"); return }
    #expect(loss.reason == .closed && loss.accepted == 1 && loss.written == 3)
    #expect(throws: ClientSession.WriteError.ended) { try client.write([4]) }
  }
}
