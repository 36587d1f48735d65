import BridgeSessionProtocol
import Testing

/// Who gets in where as many clients are attached as may be.
@Suite struct FullSessionTests {
  private typealias ID = HostSession.AttachmentID

  private static let most = ID(Limits.attachments)

  private static func hello(_ number: ID, answersPings: Bool = true) -> Frame {
    var hello = Hello(session: Sample.session, client: ClientID(high: 7, low: UInt64(number)))
    hello.role = number == 1 ? .writer : .viewer
    hello.answersPings = answersPings
    return .hello(hello)
  }

  /// Attachment 1 writes, 2 to 16 read.
  private func fullHost(answersPings: Bool = true) -> HostSession {
    var host = HostSession(.init(session: Sample.session, epoch: Sample.epoch, kind: .terminal))
    for id in 1...Self.most {
      _ = host.connect(id)
      _ = host.receive(Self.hello(id, answersPings: answersPings), from: id, at: 0)
    }
    #expect(host.attachedCount == Limits.attachments)
    return host
  }

  /// Attachment 100 is one more client's, which came at 100.
  private func hostWithNewcomer() -> HostSession {
    var host = fullHost()
    #expect(host.connect(100).isEmpty)
    let effects = host.receive(Self.hello(100), from: 100, at: 100)
    #expect(effects == (1...Self.most).map { .send($0, .ping(100)) })
    #expect(host.answerable(at: 3099).isEmpty && host.answerDeadline == 3100)
    return host
  }

  /// All links have died in silence: each client takes its own place.
  @Test func eachClientComesBackOverAnotherLink() {
    var host = fullHost()
    for id in 1...Self.most {
      #expect(host.connect(id + 100).isEmpty)
      #expect(
        host.receive(Self.hello(id), from: id + 100, at: 9) == [
          .send(id + 100, .ping(UInt64(id + 100)))
        ])
    }
    for id in 1...Self.most {
      let effects = host.receive(.pong(UInt64(id + 100)), from: id + 100, at: 10)
      #expect(effects.contains(.end(id, .replaced)))
      #expect(host.isAttached(id + 100) && !host.isAttached(id))
    }
    #expect(host.attachedCount == Limits.attachments && host.isWriter(101))
  }

  @Test func onlyASilentClientLosesItsSlot() {
    var host = hostWithNewcomer()
    for id in 1...Self.most where id != 5 { _ = host.receive(.pong(100), from: id, at: 200) }
    #expect(host.answerable(at: 3099).isEmpty)
    #expect(host.answerable(at: 3100).map(\.id) == [100])
    let effects = host.answer(100, at: 3100)
    #expect(effects.contains(.end(5, .declined(.limit))))
    #expect(host.isAttached(100) && !host.isAttached(5))
    #expect(host.attachedCount == Limits.attachments && host.answerDeadline == nil)
  }

  /// What it reads is there when it comes back; what the writer typed is asked for by its program.
  @Test func aReaderGoesBeforeTheWriter() {
    var host = hostWithNewcomer()
    for id in 2...Self.most { _ = host.receive(.ping(1), from: id, at: 200) }
    _ = host.connect(101)
    _ = host.receive(Self.hello(101), from: 101, at: 300)
    _ = host.receive(.pong(101), from: 101, at: 300)
    #expect(host.answer(100, at: 3100).contains(.end(2, .declined(.limit))))
    for id in 3...Self.most { _ = host.receive(.ping(1), from: id, at: 3200) }
    _ = host.receive(.ping(1), from: 100, at: 3200)
    #expect(host.answer(101, at: 3300).contains(.end(1, .declined(.limit))))
    #expect(host.attachedCount == Limits.attachments)
  }

  @Test func whereAllLiveNoMoreIsTaken() {
    var host = hostWithNewcomer()
    for id in 1...Self.most { _ = host.receive(.pong(100), from: id, at: 200) }
    // At once, then.
    #expect(host.answerable(at: 200).map(\.id) == [100] && host.answerDeadline == 0)
    #expect(host.answer(100, at: 200).last == .end(100, .declined(.limit)))
    #expect(host.attachedCount == Limits.attachments && !host.isAttached(100))
  }

  /// They cannot give a sign of life.
  @Test func clientsThatAnswerNoPingKeepTheirPlaces() {
    var host = fullHost(answersPings: false)
    _ = host.connect(100)
    #expect(host.receive(Self.hello(100), from: 100, at: 100).isEmpty)
    #expect(host.answer(100, at: 100).last == .end(100, .declined(.limit)))
    #expect(host.attachedCount == Limits.attachments)
  }

  @Test func aClientThatLeavesFreesItsSlotAtOnce() {
    var host = hostWithNewcomer()
    host.disconnect(9)
    #expect(host.answerable(at: 200).map(\.id) == [100])
    _ = host.answer(100, at: 200)
    #expect(host.isAttached(100) && host.isAttached(2))
  }

  @Test func aClientThatGoesWhileItWaitsTakesNoPlace() {
    var host = hostWithNewcomer()
    host.disconnect(100)
    #expect(host.answerDeadline == nil && host.attachedCount == Limits.attachments)
  }
}
