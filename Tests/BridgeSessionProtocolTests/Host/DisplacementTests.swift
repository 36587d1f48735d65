import BridgeSessionProtocol
import Testing

/// Who displaces an attachment that is there.
@Suite struct DisplacementTests {
  private static func hello(_ client: ClientID, takes: Bool = false) -> Frame {
    var hello = Hello(session: Sample.session, client: client)
    hello.takes = takes
    return .hello(hello)
  }

  /// Attachment 1 is the writer's.
  private func hostWithWriter() -> HostSession {
    var host = HostSession(
      .init(session: Sample.session, epoch: Sample.epoch, kind: .pipes))
    _ = host.connect(1)
    _ = host.receive(Self.hello(Sample.client), from: 1, at: 0)
    return host
  }

  private func fenced(_ client: ClientID, _ fence: UInt64, session host: inout HostSession)
    -> [HostSession.Effect]
  {
    let id = UInt32(fence)
    var hello = Hello(session: Sample.session, client: client)
    hello.fence = fence
    _ = host.connect(id)
    let effects = host.receive(.hello(hello), from: id, at: 0)
    guard effects == [.send(id, .ping(UInt64(id)))] else { return effects }
    return host.receive(.pong(UInt64(id)), from: id, at: 0)
  }

  /// The agent has moved to another host: of the same client, or of one of its own.
  @Test(arguments: [Sample.client, Sample.other])
  func aLaterLeaseOfAStoreTakesOver(newcomer: ClientID) {
    var host = hostWithWriter()
    _ = fenced(Sample.client, 5, session: &host)
    #expect(fenced(newcomer, 6, session: &host).contains(.end(5, .replaced)))
    #expect(host.isWriter(6) && host.attachedCount == 1)
  }

  /// A host that was frozen wakes up, also where the next one has left.
  @Test(arguments: [false, true])
  func anEarlierLeaseOfAStoreWritesNoMore(isAlone: Bool) {
    var host = hostWithWriter()
    _ = fenced(Sample.other, 6, session: &host)
    if isAlone { host.disconnect(6) }
    let effects = fenced(Sample.client, 5, session: &host)
    #expect(effects.last == .end(5, .declined(.replaced)))
    #expect(host.isWriter(6) != isAlone && !host.isAttached(5))
    _ = host.connect(7)
    var hello = Hello(session: Sample.session, client: Sample.client)
    (hello.fence, hello.role) = (5, .viewer)
    _ = host.receive(.hello(hello), from: 7, at: 0)
    #expect(host.isAttached(7))
  }

  /// A person has no lease of a store, and takes a session over as ever.
  @Test func aWriterWithoutALeaseOfAStoreIsNotRefused() {
    var host = hostWithWriter()
    _ = fenced(Sample.client, 5, session: &host)
    _ = host.connect(9)
    _ = host.receive(Self.hello(Sample.other, takes: true), from: 9, at: 0)
    _ = host.receive(.pong(9), from: 9, at: 0)
    #expect(host.isWriter(9))
    #expect(fenced(Sample.client, 6, session: &host).contains(.end(9, .replaced)))
  }

  /// Attachments 2 and 3 of the writer's client have said hello, in this order.
  private func hostWithTwoWaiting() -> HostSession {
    var host = hostWithWriter()
    for id in UInt32(2)...3 {
      _ = host.connect(id)
      _ = host.receive(Self.hello(Sample.client), from: id, at: 0)
    }
    return host
  }

  /// A hello may be late: its client is dead, or has given that link up.
  @Test(arguments: [Sample.client, Sample.other])
  func noAttachmentIsDisplacedByAHelloAlone(newcomer: ClientID) {
    var host = hostWithWriter()
    _ = host.connect(2)
    #expect(
      host.receive(Self.hello(newcomer, takes: true), from: 2, at: 0) == [.send(2, .ping(2))])
    #expect(host.isWriter(1) && !host.isAttached(2))
    #expect(host.receive(.input(offset: 0, bytes: [1]), from: 1, at: 0) == [.writeInput([1])])
    host.disconnect(2)
    #expect(host.isWriter(1) && host.lease == 1)
  }

  @Test func theAnswerToThePingDisplaces() {
    var host = hostWithWriter()
    _ = host.connect(2)
    _ = host.receive(Self.hello(Sample.client), from: 2, at: 0)
    let effects = host.receive(.pong(2), from: 2, at: 0)
    #expect(effects.contains(.end(1, .replaced)))
    #expect(host.isWriter(2))
  }

  /// The pong may be late as well: its client has attached over another link meanwhile.
  @Test func noAttachmentDisplacesOneWhoseHelloCameLater() {
    var host = hostWithTwoWaiting()
    _ = host.receive(.pong(3), from: 3, at: 0)
    #expect(host.isWriter(3))
    #expect(host.receive(.pong(2), from: 2, at: 0).last == .end(2, .declined(.replaced)))
    #expect(host.isWriter(3) && host.attachedCount == 1)
  }

  /// The attachment that it would displace ends before its pong: a late hello that comes then is
  /// not welcomed before it.
  @Test func aHelloThatWaitsForItsPongIsNotOvertaken() {
    var host = hostWithWriter()
    _ = host.connect(2)
    _ = host.receive(Self.hello(Sample.client), from: 2, at: 0)
    host.disconnect(1)
    _ = host.connect(3)
    let late = host.receive(Self.hello(Sample.client), from: 3, at: 0)
    #expect(late == [.send(3, .ping(3))])
    _ = host.receive(.pong(2), from: 2, at: 0)
    #expect(host.isWriter(2))
  }

  /// The writer is between two links: a dead client must not become the writer meanwhile.
  @Test func aHelloOfAnotherClientAloneTakesNoLease() {
    var host = hostWithWriter()
    host.disconnect(1)
    _ = host.connect(2)
    #expect(host.receive(Self.hello(Sample.other), from: 2, at: 0) == [.send(2, .ping(2))])
    _ = host.connect(3)
    _ = host.receive(Self.hello(Sample.client), from: 3, at: 0)
    _ = host.receive(.pong(3), from: 3, at: 0)
    #expect(host.isWriter(3) && host.lease == 1)
  }

  /// It will answer itself, and displace the other one.
  @Test func aHelloThatWaitsForItsPongKeepsNoOtherOut() {
    var host = hostWithTwoWaiting()
    _ = host.receive(.pong(2), from: 2, at: 0)
    #expect(host.isWriter(2))
    #expect(host.receive(.pong(3), from: 3, at: 0).contains(.end(2, .replaced)))
    #expect(host.isWriter(3))
  }

  @Test(arguments: [Frame.pong(3), .input(offset: 0, bytes: [1]), .control(number: 1, .detach)])
  func onlyThePongMayFollowThatHello(frame: Frame) {
    var host = hostWithWriter()
    _ = host.connect(2)
    _ = host.receive(Self.hello(Sample.client), from: 2, at: 0)
    #expect(
      host.receive(frame, from: 2, at: 0).last
        == .end(2, .violated(.unexpectedFrame(type: frame.type.rawValue))))
    #expect(host.isWriter(1))
  }

  @Test func aClientThatAnswersNoPingDisplacesAtOnce() {
    var host = hostWithWriter()
    var old = Hello(session: Sample.session, client: Sample.client)
    old.answersPings = false
    _ = host.connect(2)
    #expect(host.receive(.hello(old), from: 2, at: 0).contains(.end(1, .replaced)))
    #expect(host.isWriter(2))
  }

  /// Its number says nothing to a person: where it came from, and when, does.
  @Test func aReaderLearnsWhoWrites() throws {
    var host = HostSession(.init(session: Sample.session, epoch: Sample.epoch, kind: .pipes))
    _ = host.connect(1, from: "10.0.0.5")
    _ = host.receive(Self.hello(Sample.client), from: 1, at: 1000)
    var viewer = Hello(session: Sample.session, client: Sample.other)
    viewer.role = .viewer
    viewer.answersPings = false
    _ = host.connect(2, from: "10.0.0.6")
    let effects = host.receive(.hello(viewer), from: 2, at: 64_999)
    let welcome = try #require(
      effects.compactMap { effect -> Welcome? in
        if case .send(2, .welcome(let welcome)) = effect { welcome } else { nil }
      }.first)
    #expect(welcome.writerName == "\(Sample.client) from 10.0.0.5" && welcome.writerAge == 63)
  }

  @Test func aWriterThatIsReplacedLearnsByWhom() {
    var host = hostWithWriter()
    _ = host.connect(2, from: "fe80::1%eth0")
    _ = host.receive(Self.hello(Sample.other, takes: true), from: 2, at: 0)
    let refusal = Refusal(
      .replaced, "Client \(Sample.other) from fe80::1%eth0 took the session over.")
    #expect(host.receive(.pong(2), from: 2, at: 0).first == .send(1, .refused(refusal)))
  }

  // MARK: A writer whose link is dead

  /// Attachment 2 is another client's that wants to write and takes nothing over; since 100 it
  /// waits for the writer.
  private func hostWithNewcomer() -> HostSession {
    var host = hostWithWriter()
    _ = host.connect(2)
    _ = host.receive(Self.hello(Sample.other), from: 2, at: 0)
    #expect(host.receive(.pong(2), from: 2, at: 100) == [.send(1, .ping(2))])
    return host
  }

  @Test(arguments: [Frame.pong(2), .acknowledge(through: 0, settled: 0), .ping(7)])
  func aWriterThatLivesIsNotDisplaced(sign: Frame) {
    var host = hostWithNewcomer()
    #expect(host.answerable(at: 3099).isEmpty && host.answerDeadline == 3100)
    _ = host.receive(sign, from: 1, at: 3099)
    #expect(host.answerable(at: 3099).map(\.id) == [2])
    let effects = host.answer(2, at: 3100)
    #expect(host.isWriter(1) && host.isAttached(2) && host.lease == 1)
    #expect(effects.count == 1 && host.answerDeadline == nil)
  }

  @Test func aWriterThatSendsNothingIsDisplaced() {
    var host = hostWithNewcomer()
    #expect(host.answerable(at: 3100).map(\.id) == [2])
    #expect(host.answer(2, at: 3100).contains(.end(1, .replaced)))
    #expect(host.isWriter(2) && host.lease == 2)
  }

  @Test func aWriterThatLeavesMeanwhileMakesRoomAtOnce() {
    var host = hostWithNewcomer()
    host.disconnect(1)
    #expect(host.answerable(at: 200).map(\.id) == [2])
    _ = host.answer(2, at: 200)
    #expect(host.isWriter(2))
  }

  @Test func aViewerDoesNotWaitForTheWriter() {
    var host = hostWithWriter()
    var hello = Hello(session: Sample.session, client: Sample.other)
    hello.role = .viewer
    _ = host.connect(2)
    _ = host.receive(.hello(hello), from: 2, at: 0)
    #expect(host.isAttached(2))
  }

  @Test func ofTwoThatWaitTheFirstWrites() {
    var host = hostWithNewcomer()
    _ = host.connect(3)
    let third = ClientID(high: 3, low: 3)
    _ = host.receive(Self.hello(third), from: 3, at: 200)
    _ = host.receive(.pong(3), from: 3, at: 200)
    _ = host.answer(2, at: 3100)
    #expect(host.answerable(at: 3100).map(\.id) == [3])
    _ = host.answer(3, at: 3100)
    #expect(host.isWriter(2) && host.isAttached(3))
  }

  /// It would not answer a ping, however alive it is.
  @Test func aWriterThatAnswersNoPingIsNotDisplaced() {
    var host = HostSession(.init(session: Sample.session, epoch: Sample.epoch, kind: .pipes))
    var old = Hello(session: Sample.session, client: Sample.client)
    old.answersPings = false
    _ = host.connect(1)
    _ = host.receive(.hello(old), from: 1, at: 0)
    _ = host.connect(2)
    _ = host.receive(Self.hello(Sample.other), from: 2, at: 0)
    _ = host.receive(.pong(2), from: 2, at: 0)
    #expect(host.isWriter(1) && host.isAttached(2))
  }
}
