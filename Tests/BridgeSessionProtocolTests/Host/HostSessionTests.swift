import BridgeSessionProtocol
import Testing

@Suite struct HostSessionTests: HostTests {
  private func host(
    _ kind: ProgramKind = .pipes, cap: UInt64? = nil, whenFull: WhenFull? = nil
  ) -> HostSession {
    HostSession(
      HostSession.Configuration(
        session: Sample.session, epoch: Sample.epoch, kind: kind, cap: cap, whenFull: whenFull))
  }

  @Test func bytesFlowOnlyAfterTheWelcome() throws {
    var host = host()
    host.produced(10, at: 0)
    _ = host.connect(1)
    #expect(host.nextOutput(for: 1, limit: 100) == .nothing)
    let welcome = try attach(&host, 1, hello()).welcome
    #expect(welcome.oldest == 0 && welcome.newest == 10 && welcome.resume == 0)
    #expect(host.nextOutput(for: 1, limit: 100) == .bytes(from: 0, count: 10))
    #expect(host.nextOutput(for: 1, limit: 100) == .nothing)
  }

  @Test func aClientContinuesAtTheByteItNames() throws {
    var host = host()
    host.produced(1000, at: 0)
    let welcome = try attach(&host, 1, hello(received: 400)).welcome
    #expect(welcome.resume == 400)
    #expect(host.nextOutput(for: 1, limit: 10_000) == .bytes(from: 400, count: 600))
  }

  @Test func outputThatIsNoLongerKeptIsAGapInItsPlace() throws {
    var host = host(.terminal, cap: 100)
    host.produced(1000, at: 0)
    #expect(host.dropTarget == 900)
    host.dropped(below: 900)
    _ = try attach(&host, 1, hello(received: 400))
    #expect(host.nextOutput(for: 1, limit: 10_000) == .gap(from: 400, to: 900))
    #expect(host.nextOutput(for: 1, limit: 10_000) == .bytes(from: 900, count: 100))
  }

  @Test func noMoreThanTheWindowIsUnacknowledged() throws {
    var host = host()
    host.produced(3 << 20, at: 0)
    _ = try attach(&host, 1, hello())
    var sent = 0
    while case .bytes(_, let count) = host.nextOutput(for: 1, limit: 300_000) { sent += count }
    #expect(sent == Int(Limits.window))
    #expect(!host.hasOutput(for: 1))
    #expect(host.receive(.acknowledge(through: 5, settled: 0), from: 1, at: 1).isEmpty)
    #expect(host.nextOutput(for: 1, limit: 300_000) == .bytes(from: Limits.window, count: 5))
  }

  @Test(arguments: [(1, 1), (5 << 20, 5 << 20), (UInt64(1) << 62, Limits.largestWindow)])
  func aHelloNamesItsWindow(window: UInt64, used: UInt64) throws {
    var host = host()
    host.produced(80 << 20, at: 0)
    _ = try attach(&host, 1, hello(window: window))
    var sent: UInt64 = 0
    while case .bytes(_, let count) = host.nextOutput(for: 1, limit: 300_000) {
      sent += UInt64(count)
    }
    #expect(sent == used)
    #expect(!host.hasOutput(for: 1))
    _ = host.receive(.acknowledge(through: 1, settled: 0), from: 1, at: 1)
    #expect(host.nextOutput(for: 1, limit: 300_000) == .bytes(from: used, count: 1))
  }

  @Test func anAcknowledgementOfWhatWasNotSentEndsTheAttachment() throws {
    for (through, settled) in [(UInt64(11), UInt64(0)), (UInt64(1) << 62, 0)] {
      var host = host()
      host.produced(20, at: 0)
      _ = try attach(&host, 1, hello())
      _ = host.nextOutput(for: 1, limit: 10)
      let effects = host.receive(.acknowledge(through: through, settled: settled), from: 1, at: 0)
      #expect(violation(effects) == .wrongAcknowledgement(through: through, sent: 10))
      #expect(codes(effects) == [.violation])
      #expect(host.attachedCount == 0)
    }
  }

  @Test func acknowledgementsGoForwardAndCommitsStayBelowThem() throws {
    var host = host()
    host.produced(20, at: 0)
    _ = try attach(&host, 1, hello())
    _ = host.nextOutput(for: 1, limit: 20)
    #expect(host.receive(.acknowledge(through: 10, settled: 10), from: 1, at: 0).isEmpty)
    #expect(host.committed == 10)
    var other = host
    let back = other.receive(.acknowledge(through: 9, settled: 9), from: 1, at: 0)
    #expect(violation(back) == .wrongAcknowledgement(through: 9, sent: 20))
    let beyond = host.receive(.acknowledge(through: 12, settled: 13), from: 1, at: 0)
    #expect(violation(beyond) == .wrongCommit(committed: 13, acknowledged: 12))
  }

  @Test func inputIsAcceptedAtItsOffsetAndAnOverlapIsDropped() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    let first = host.receive(.input(offset: 0, bytes: [1, 2, 3]), from: 1, at: 0)
    #expect(first == [.writeInput([1, 2, 3])])
    let again = host.receive(.input(offset: 0, bytes: [1, 2, 3]), from: 1, at: 0)
    #expect(again.isEmpty)
    let partly = host.receive(.input(offset: 2, bytes: [3, 4]), from: 1, at: 0)
    #expect(partly == [.writeInput([4])])
    #expect(host.inputAccepted == 4 && host.inputTaken == 0)
    let hole = host.receive(.input(offset: 5, bytes: [6]), from: 1, at: 0)
    #expect(violation(hole) == .hole(expected: 4, found: 5))
  }

  @Test func inputBeyondTheWindowEndsTheAttachment() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    let full = [UInt8](repeating: 0, count: Int(Limits.window))
    #expect(host.receive(.input(offset: 0, bytes: full), from: 1, at: 0) == [.writeInput(full)])
    let more = host.receive(.input(offset: Limits.window, bytes: [1]), from: 1, at: 0)
    #expect(violation(more) == .windowExceeded(limit: Limits.window))
  }

  @Test func takenInputIsAcknowledgedAfter200MillisecondsOr64KiB() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    let bytes = [UInt8](repeating: 0, count: 70_000)
    _ = host.receive(.input(offset: 0, bytes: bytes), from: 1, at: 1000)
    #expect(host.acknowledgementDeadline == nil)
    _ = host.inputWritten(3, at: 1000)
    #expect(host.acknowledgementDeadline == 1200)
    #expect(host.acknowledgements(at: 1199).isEmpty)
    #expect(
      host.acknowledgements(at: 1200) == [.send(1, .acknowledge(through: 3, settled: 0))])
    _ = host.inputWritten(65_536, at: 1300)
    #expect(
      host.acknowledgements(at: 1300) == [.send(1, .acknowledge(through: 65_539, settled: 0))])
  }

  @Test func inputEndsOnceEverythingBelowWasWritten() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    #expect(host.receive(.control(number: 1, .endInput(at: 3)), from: 1, at: 0).isEmpty)
    _ = host.receive(.input(offset: 0, bytes: [1, 2, 3]), from: 1, at: 0)
    #expect(host.inputWritten(2, at: 0).isEmpty)
    #expect(host.inputWritten(1, at: 0) == [.closeInput])
    let late = host.receive(.input(offset: 3, bytes: [4]), from: 1, at: 0)
    #expect(violation(late) == .hole(expected: 3, found: 4))
  }

  @Test func aControlIsDoneOnceAndInOrder() throws {
    var host = host(.terminal)
    _ = try attach(&host, 1, hello())
    let size = WindowSize(columns: 100, rows: 30)
    let resize = Frame.control(number: 1, .resize(size))
    #expect(host.receive(resize, from: 1, at: 0) == [.resize(size)])
    #expect(host.receive(resize, from: 1, at: 0).isEmpty)
    let signal = host.receive(.control(number: 2, .signal(.interrupt)), from: 1, at: 0)
    #expect(signal == [.signal(.interrupt)])
    let hole = host.receive(.control(number: 4, .detach), from: 1, at: 0)
    #expect(violation(hole) == .hole(expected: 3, found: 4))
    // The next writer goes on counting.
    #expect(try attach(&host, 2, hello(Sample.other)).welcome.lastControl == 2)
  }

  @Test func aLaterAttachmentOfTheSameClientDisplacesTheOldOneAtOnce() throws {
    var host = host()
    let first = try attach(&host, 1, hello()).welcome
    let second = try attach(&host, 2, hello(received: 0))
    #expect(codes(second.effects) == [.replaced])
    #expect(second.effects.contains(.end(1, .replaced)))
    #expect(second.welcome.role == .writer && second.welcome.lease == first.lease)
    #expect(host.receive(.input(offset: 0, bytes: [1]), from: 1, at: 0).isEmpty)
    #expect(host.inputAccepted == 0)
  }

  @Test func anotherClientIsAViewerUnlessItTakesOver() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    _ = host.receive(.input(offset: 0, bytes: [1, 2]), from: 1, at: 0)
    let viewer = try attach(&host, 2, hello(Sample.other)).welcome
    #expect(viewer.role == .viewer && viewer.writer == Sample.client)
    let typed = host.receive(.input(offset: 2, bytes: [3]), from: 2, at: 0)
    #expect(violation(typed) == .notWriter)
    let taken = try attach(&host, 3, hello(Sample.other, takes: true))
    #expect(codes(taken.effects) == [.replaced])
    #expect(taken.welcome.role == .writer && taken.welcome.lease == 2)
    #expect(taken.welcome.inputAccepted == 2)
  }

  /// A writer that was away when another one took over comes back while that is away: what it held
  /// is not for the program any more. Where the other one only followed it, it goes on.
  @Test(arguments: [true, false]) func aWriterThatWasDisplacedIsAViewer(isTaken: Bool) throws {
    var host = host()
    var back = Hello(session: Sample.session, client: Sample.client)
    back.lease = try attach(&host, 1, hello()).welcome.lease
    host.disconnect(1)
    _ = try attach(&host, 2, hello(Sample.other, takes: isTaken))
    host.disconnect(2)
    #expect(try attach(&host, 3, .hello(back)).welcome.role == (isTaken ? .viewer : .writer))
    // It takes over itself, and is the writer from then on.
    back.takes = true
    back.lease = try attach(&host, 4, .hello(back)).welcome.lease
    host.disconnect(4)
    back.takes = false
    #expect(try attach(&host, 5, .hello(back)).welcome.role == .writer)
  }

  @Test func aDisplacedWriterLearnsWhatOfItsOwnInputWasAccepted() throws {
    var host = host()
    let lease = try attach(&host, 1, hello()).welcome.lease
    _ = host.receive(.input(offset: 0, bytes: [1, 2]), from: 1, at: 0)
    _ = try attach(&host, 2, hello(Sample.other, takes: true))
    _ = host.receive(.input(offset: 2, bytes: [9, 9, 9]), from: 2, at: 0)
    var back = Hello(session: Sample.session, client: Sample.client)
    back.lease = lease
    back.takes = true
    let welcome = try attach(&host, 3, .hello(back)).welcome
    #expect(welcome.ownAccepted == 2 && welcome.inputAccepted == 5)
    // A lease that it was granted and never heard of does not hide the one it wrote under.
    _ = try attach(&host, 4, hello(Sample.other, takes: true))
    #expect(try attach(&host, 5, .hello(back)).welcome.ownAccepted == 2)
  }

  @Test func onlyTheWritersCommitsCount() throws {
    var host = host()
    host.produced(10, at: 0)
    _ = try attach(&host, 1, hello())
    _ = try attach(&host, 2, hello(Sample.other, role: .viewer))
    _ = host.nextOutput(for: 2, limit: 10)
    #expect(host.receive(.acknowledge(through: 10, settled: 10), from: 2, at: 0).isEmpty)
    #expect(host.committed == 0)
  }

  @Test func aProgramIsHeldWhileItsWriterMakesProgressAndGoesOnWhenTheWriterStalls() throws {
    var host = host(.terminal)
    _ = try attach(&host, 1, hello())
    host.produced(Int(Limits.lead), at: 0)
    #expect(host.readPermission(at: 500) == .hold(until: 1000))
    _ = host.nextOutput(for: 1, limit: 100)
    _ = host.receive(.acknowledge(through: 100, settled: 0), from: 1, at: 600)
    #expect(host.readPermission(at: 600) == .read)
    host.produced(100, at: 0)
    #expect(host.readPermission(at: 700) == .hold(until: 1600))
    #expect(host.readPermission(at: 1600) == .read)
    host.disconnect(1)
    #expect(host.readPermission(at: 601) == .read)
  }

  /// It had nothing to acknowledge: its silence before the burst is no stall.
  @Test(arguments: [ProgramKind.terminal, .pipes])
  func aBurstAfterAnIdleTimeIsHeldAsAnyOther(kind: ProgramKind) throws {
    var host = host(kind)
    _ = try attach(&host, 1, hello())
    host.produced(100, at: 0)
    _ = host.nextOutput(for: 1, limit: 100)
    _ = host.receive(.acknowledge(through: 100, settled: 0), from: 1, at: 10)
    host.produced(100, at: 60_000)
    host.produced(Int(Limits.lead), at: 60_500)
    #expect(host.readPermission(at: 60_500) == .hold(until: 61_000))
    #expect(host.readPermission(at: 61_000) == .read)
  }

  /// On a terminal it would still appear after Ctrl-C.
  @Test(arguments: [(ProgramKind.terminal, Limits.lead), (.pipes, 4 << 20)])
  func onPipesOnlyTheProgramMayBeAheadByAWiderWindow(kind: ProgramKind, lead: UInt64) throws {
    var host = host(kind)
    _ = try attach(&host, 1, hello(window: 4 << 20))
    host.produced(Int(lead) - 1, at: 0)
    #expect(host.readPermission(at: 500) == .read)
    host.produced(1, at: 0)
    #expect(host.readPermission(at: 500) == .hold(until: 1000))
  }

  @Test func onPipesTheProgramWaitsAtTheCapUntilOutputIsCommitted() throws {
    var host = host(.pipes, cap: 100)
    host.produced(100, at: 0)
    #expect(host.readPermission(at: 0) == .blocked)
    #expect(host.dropTarget == 0)
    _ = try attach(&host, 1, hello())
    _ = host.nextOutput(for: 1, limit: 100)
    _ = host.receive(.acknowledge(through: 60, settled: 50), from: 1, at: 0)
    #expect(host.readPermission(at: 0) == .read)
    host.produced(30, at: 0)
    #expect(host.dropTarget == 30)
  }

  @Test func theEndIsSentAfterTheLastByteAndTheSessionIsRemovedOnceItWasCommitted() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    host.produced(5, at: 0)
    #expect(host.end(.exited(status: 3), at: 0).isEmpty)
    #expect(host.nextOutput(for: 1, limit: 10) == .bytes(from: 0, count: 5))
    #expect(host.nextOutput(for: 1, limit: 10) == .ended(at: 5, .exited(status: 3)))
    #expect(host.nextOutput(for: 1, limit: 10) == .nothing)
    var early = host
    #expect(early.receive(.control(number: 1, .close), from: 1, at: 0) == [.end(1, .detached)])
    _ = host.receive(.acknowledge(through: 5, settled: 5), from: 1, at: 0)
    #expect(
      host.receive(.control(number: 1, .close), from: 1, at: 0) == [.end(1, .closed), .discard])
  }

  @Test func closingWhileTheProgramRunsOnlyDetaches() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    #expect(
      host.receive(.control(number: 1, .close), from: 1, at: 0) == [.end(1, .detached)])
  }

  @Test func aHelloForAnotherSessionRunOrVersionIsRefused() {
    var other = Hello(session: SessionID(high: 1, low: 1), client: Sample.client)
    var run = Hello(session: Sample.session, client: Sample.client)
    run.resume = ResumePoint(epoch: Sample.epoch + 1, received: 0)
    var version = Hello(session: Sample.session, client: Sample.client)
    version.versions = [9]
    let refusals: [(Hello, Refusal.Code)] = [
      (other, .unknownSession), (run, .conflict), (version, .version),
    ]
    for (hello, code) in refusals {
      var host = host()
      let effects = host.connect(1) + host.receive(.hello(hello), from: 1, at: 0)
      #expect(codes(effects) == [code])
      #expect(effects.last == .end(1, .declined(code)))
    }
    other.session = Sample.session
    other.resume = ResumePoint(epoch: Sample.epoch, received: 1)
    var host = host()
    _ = host.connect(1)
    let ahead = host.receive(.hello(other), from: 1, at: 0)
    #expect(violation(ahead) == .wrongAcknowledgement(through: 1, sent: 0))
  }

  @Test(arguments: Sample.frames) func aFrameInTheWrongStateEndsOneAttachmentOnly(_ frame: Frame) {
    var host = host()
    _ = host.connect(1)
    _ = host.receive(hello(Sample.other), from: 1, at: 0)
    _ = host.connect(2)
    if case .hello = frame { return }
    let effects = host.receive(frame, from: 2, at: 0)
    #expect(violation(effects) == .unexpectedFrame(type: frame.type.rawValue))
    #expect(host.attachedCount == 1)
  }

  @Test func connectionsWithoutAHelloKeepNoClientOut() throws {
    var host = host()
    for id in UInt32(0)..<40 { _ = host.connect(id) }
    _ = try attach(&host, 40, hello())
    for id in UInt32(41)..<60 {
      let client = ClientID(high: 1, low: UInt64(id))
      _ = host.connect(id)
      _ = host.receive(hello(client, role: .viewer), from: id, at: 0)
    }
    #expect(host.attachedCount == Limits.attachments)
    #expect(codes(host.connect(99)) == [.limit])
  }

  @Test func aProgramThatClosedItsInputTakesNoMore() throws {
    var host = host()
    _ = try attach(&host, 1, hello())
    _ = host.receive(.input(offset: 0, bytes: [1, 2, 3]), from: 1, at: 0)
    _ = host.inputWritten(1, at: 0)
    let effects = host.inputClosed(at: 0)
    #expect(effects.first == .send(1, .acknowledge(through: 1, settled: 0)))
    #expect(effects.count == 2)
    #expect(host.receive(.input(offset: 3, bytes: [4]), from: 1, at: 0).isEmpty)
    #expect(try attach(&host, 2, hello()).welcome.inputIsClosed)
  }
}
