import BridgeErrors
import BridgeFaults
import BridgeSSH
@testable import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

/// One scripted channel for each exec.
private struct ScriptedSource: ByteChannelSource {
  var ending = ByteChannelEnding.finished(status: 0)
  let script: @Sendable (ScriptedChannel) -> Void

  func channel(running command: String) async throws(AppError) -> any ByteChannel {
    let channel = ScriptedChannel(command, ending: ending)
    script(channel)
    return channel
  }

  func host() -> SessionHost { SessionHost(self, host: "build") }
}

@Suite("The sessions of a host are asked for by verbs") struct SessionHostTests {
  private static let id = ScriptedHost.id

  @Test func aRefusalIsTyped() async throws {
    let host = ScriptedSource { channel in
      channel.send(channel.marker)
      channel.send(.refused(Refusal(.unknownSession, "No session here.")))
      channel.hangUp()
    }.host()
    let missing = AppError.durableSessionNotFound(host: "build", id: "\(Self.id)")
    #expect(await failure { try await host.wait(for: Self.id) } == missing)
    #expect(await failure { try await host.kill(Self.id, .interrupt) } == missing)
    #expect(await failure { try await host.read(Self.id) { _ in true } } == missing)
  }

  /// However it is started.
  private func refusal(_ change: (inout SessionSpec) -> Void) async -> AppError? {
    var spec = SessionSpec(session: Self.id)
    change(&spec)
    let started = spec
    let host = ScriptedSource { _ in Issue.record("the host was asked") }.host()
    let error = await failure { try await host.start(started) }
    let session = ScriptedHost().session { $0.start = started }
    #expect(await failure { try await session.attach() } == error)
    return error
  }

  @Test func aCommandThatNoShellTakesIsNotSent() async {
    let words =
      "The command is longer than 128 KiB, which no shell takes; send what is long as input."
    #expect(
      await refusal { $0.command = [UInt8](repeating: 0x61, count: 131_072) }
        == .validationError(field: "command", message: words))
  }

  @Test func anEnvironmentThatIsTooLongIsNotSent() async {
    let words =
      "The command and its environment are longer than 256 KiB; send what is long as input."
    let variable = Array("A=".utf8) + [UInt8](repeating: 0x61, count: 30_000)
    #expect(
      await refusal { $0.environment = Array(repeating: variable, count: 9) }
        == .validationError(field: "command", message: words))
  }

  @Test func anAnswerThatIsCutOffIsNoAnswer() async throws {
    let frame = Frame.status(SessionStatus(session: Self.id, state: .ended)).encoded
    for count in [0, 5, frame.count - 1] {
      let host = ScriptedSource(ending: .lost(.sshTimeout(seconds: 2))) { channel in
        channel.send(channel.marker)
        if count > 0 { channel.send(Array(frame.prefix(count))) }
        channel.hangUp()
      }.host()
      #expect(await failure { try await host.list() } == .sshTimeout(seconds: 2))
    }
  }

  @Test(arguments: [nil, 73] as [Int?])
  func outputWhoseReaderOnTheHostDiedIsNotWhole(status: Int?) async throws {
    let host = ScriptedSource(ending: .finished(status: status)) { channel in
      channel.send(channel.marker)
      channel.send(.output(offset: 0, stream: .standardOutput, bytes: [1]))
      channel.hangUp()
    }.host()
    #expect(
      await failure { try await host.read(Self.id) { _ in true } }?.caseName
        == "durableSessionHostUnusable")
    #expect(await failure { try await host.list() }?.caseName == "durableSessionHostUnusable")
  }

  /// What the host said it has, and did not send.
  @Test func outputThatIsShorterThanTheHostSaidIsNotWhole() async throws {
    var status = SessionStatus(session: Self.id, state: .ended)
    status.newest = 10
    let bytes = Frame.output(offset: 0, stream: .standardOutput, bytes: [1, 2, 3])
    let end = ProgramEnd.exited(status: 0)
    let answers: [[Frame]] = [
      [.status(status)], [.status(status), bytes], [.status(status), bytes, .ended(at: 10, end)],
      [bytes], [.status(status), bytes, .ended(at: 3, end), bytes],
    ]
    for follows in [false, true] {
      for frames in answers {
        let host = ScriptedSource { channel in
          channel.send(channel.marker)
          for frame in frames { channel.send(frame) }
          channel.hangUp()
        }.host()
        let error = await failure { try await host.read(Self.id, follows: follows) { _ in true } }
        #expect(error?.caseName == "sshProtocolError", "\(frames)")
      }
    }
  }

  /// A program that a start-up file left running holds the output open, and prints there later.
  @Test func aStartIsOverWithItsAnswer() async throws {
    let status = SessionStatus(session: Self.id, state: .running)
    let host = ScriptedSource { channel in
      channel.greet()
      channel.send(.status(status))
      channel.send(Array("bg".utf8))
    }.host()
    #expect(try await host.start(SessionSpec(session: Self.id)) == status)
  }

  /// A program that is said to have failed is started again by its user.
  @Test(arguments: ["bg\n", "background\n"])
  func aStartWhoseAnswerCannotBeReadMayHaveBeenDone(_ text: String) async throws {
    let host = ScriptedSource { channel in
      channel.greet()
      channel.send(Array(text.utf8))
      channel.hangUp()
    }.host()
    let error = await failure { try await host.start(SessionSpec(session: Self.id)) }
    guard case .durableSessionOutcomeUnknown("build", let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reason.contains("may have been started") && reason.contains("start-up file"))
    guard
      case .durableSessionHostUnusable(_, let reason)? = await failure({ try await host.list() })
    else { return #expect(Bool(false), "no error") }
    #expect(reason.contains("start-up file"))
  }

  @Test func anAnswerWithoutAStatusIsNoSuccess() async throws {
    let host = ScriptedSource { channel in
      channel.send(channel.marker)
      channel.hangUp()
    }.host()
    #expect(try await host.list().isEmpty)
    #expect(
      await failure { try await host.wait(for: Self.id) }
        == .durableSessionHostUnusable(host: "build", reason: "bridge-host did not answer"))
  }

  /// A host that never stops fills no memory and ends no patience.
  @Test func anAnswerWithoutAnEndIsCutOff() async throws {
    var status = SessionStatus(session: Self.id, state: .ended)
    status.command = [UInt8](repeating: 120, count: 60_000)
    let frame = Frame.status(status)
    let host = ScriptedSource { channel in
      channel.send(channel.marker)
      for _ in 0..<80 { channel.send(frame) }
      channel.hangUp()
    }.host()
    let expected = AppError.durableSessionHostUnusable(
      host: "build", reason: "its answer has more than 4 MiB")
    #expect(await failure { try await host.list() } == expected)
    #expect(await failure { try await host.wait(for: Self.id) } == expected)
    // Of another session: no answer to a start, which may have been done.
    let other = SessionSpec(session: Identifier(high: 9, low: 9))
    let unknown = AppError.durableSessionOutcomeUnknown(
      host: "build",
      reason: "the program may have been started, but its answer has more than 4 MiB")
    #expect(await failure { try await host.start(other) } == unknown)
  }

  @Test func bytesThatAreSkippedWithoutAGapAreAViolation() async throws {
    let host = ScriptedSource { channel in
      channel.send(channel.marker)
      channel.send(.output(offset: 5, stream: .standardOutput, bytes: [1]))
      channel.hangUp()
    }.host()
    #expect(
      await failure { try await host.read(Self.id, from: 4) { _ in true } }
        == .sshProtocolError(host: "build", detail: "bridge-host: expected 4, found 5"))
  }

  @Test func everyVerbWorksOverARealServer() async throws {
    try await SessionServer.with { server in
      let connection = try await server.connect()
      let host = SessionHost(connection, host: "127.0.0.1", program: SessionServer.program)
      #expect(try await host.version().hasPrefix("bridge-host protocol 1"))
      // This user's sessions in /var/tmp are listed too.
      let others = Set(try await host.list().map(\.session))
      var spec = server.spec("echo out; echo err >&2; exec sleep 3600")
      spec.name = Array("build".utf8)
      let started = try await host.start(spec)
      #expect(started.state == .running)
      // Starting it again starts nothing.
      #expect(try await host.start(spec).process == started.process)
      #expect(Set(try await host.list().map(\.session)) == others.union([spec.session]))
      try await eventually {
        try await host.list().first { $0.session == spec.session }?.newest == 8
      }
      #expect(try await host.kill(spec.session, .terminate).session == spec.session)
      let ended = try await host.wait(for: spec.session)
      #expect(ended.state == .ended && ended.end == .signaled(number: 15, dumpedCore: false))
      var text: [ProgramStream: String] = [:]
      let (end, ending, memory) = try await host.read(spec.session) { chunk in
        if case .bytes(let bytes, let stream) = chunk.content {
          text[stream, default: ""] += String(decoding: bytes, as: UTF8.self)
        }
        return true
      }
      #expect(text == [.standardOutput: "out\n", .standardError: "err\n"])
      #expect(end == 8 && ending == ended.end && memory == nil)
      let from = try await host.read(spec.session, from: 8) { _ in
        Issue.record("nothing is behind the end")
        return true
      }
      #expect(from.end == 8)
      await connection.close()
    }
  }

  /// A lost link takes its caller with it: what the host's program did then is not known.
  @Test func aCanceledCallerKnowsNothingOfTheEnd() async {
    let task = Task {
      await Unending().ending(SessionClock(ManualClock()))
    }
    task.cancel()
    #expect(await task.value == .closed)
  }

  /// Of a link that is silent the end of the program may be on its way, or that of the link.
  @Test func aSilentLinkSaysNothingOfTheEnd() async {
    let clock = ManualClock()
    let channel = Unending(false, false, true)
    async let ending = channel.ending(SessionClock(clock))
    for _ in 0..<3 {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(5))
    }
    #expect(await ending == .finished(status: nil))
    #expect(channel.isAsked)
  }

  /// Nor does it say that the host has no answer: the time in which it is silent does not count.
  @Test func aSilentLinkIsNoSilentHost() async {
    let clock = ManualClock()
    let channel = Unending(false, false, true, true)
    let watch = AnswerWatch(SessionClock(clock), silence: 30_000)
    async let run: Void = watch.run(closing: channel)
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(30))
    for _ in 0..<2 {
      await clock.sleepers(atLeast: 1)
      // The pause before the link is asked again.
      clock.advance(by: .seconds(1))
    }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(29))
    #expect(!watch.isLate)
    clock.advance(by: .seconds(1))
    await run
    #expect(watch.isLate && channel.isAsked)
  }

  /// It prints while it is asked whether it answers, and never what is waited for.
  @Test func aHostThatPrintsOnHasItsEnd() async {
    let clock = ManualClock()
    let watch = AnswerWatch(SessionClock(clock), silence: 30_000)
    let channel = Unending {
      clock.advance(by: .milliseconds(1))
      watch.hear()
    }
    async let run: Void = watch.run(closing: channel)
    for seconds in [20, 20] {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(seconds))
      watch.hear()
    }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(20))
    await run
    #expect(watch.isLate)
  }

  @Test func theTimeOfAHostCountsOverALinkThatAnswers() async {
    let clock = ManualClock()
    let channel = Unending(false, true, true)
    async let limit: Void = channel.hostHasHad(60_000, SessionClock(clock))
    for pause in [60, 1, 60] {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .seconds(pause))
    }
    await limit
    #expect(channel.isAsked)
  }
}

/// A channel whose program does not end.
private final class Unending: ByteChannel {
  private let answers: Mutex<[Bool]>
  private let whenAsked: @Sendable () -> Void

  /// What is answered to the question whether the peer does; it does from then on.
  init(_ answers: Bool..., whenAsked: @escaping @Sendable () -> Void = {}) {
    self.answers = Mutex(answers)
    self.whenAsked = whenAsked
  }

  var isAsked: Bool { answers.withLock(\.isEmpty) }

  func peerAnswers() async -> Bool {
    whenAsked()
    return answers.withLock { $0.isEmpty || $0.removeFirst() }
  }
  func read() async throws(AppError) -> [UInt8]? { nil }
  func write(_ bytes: [UInt8]) async throws(AppError) {}
  func finish() async throws(AppError) {}
  func close() async {}

  func ending() async -> ByteChannelEnding {
    // The end of the wait comes first.
    while !Task.isCancelled { await Task.yield() }
    for _ in 0..<1000 { await Task.yield() }
    return .closed
  }
}
