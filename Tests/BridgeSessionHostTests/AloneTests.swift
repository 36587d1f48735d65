import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

@Suite("A session that belongs to a client does not outlive it for ever") struct AloneTests {
  @Test func aSessionWithoutAClientIsHungUpAfterItsTime() throws {
    let bench = try SessionBench()
    let spec = bench.spec("trap 'echo over; exit 4' HUP; echo up; while :; do sleep 0.05; done") {
      $0.keep = 1
    }
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.state == .ended }
    #expect(try bench.status(spec.session)?.end == .exited(status: 4))
    let (frames, _) = try bench.run(["read", "--session", spec.session.description])
    let text = frames.reduce(into: "") { text, frame in
      if case .output(_, _, let bytes) = frame { text += String(decoding: bytes, as: UTF8.self) }
    }
    // The shell says "Hangup" of what it waited for, before its trap or behind it.
    #expect(text.split(separator: "\n").filter { $0 != "Hangup" } == ["up", "over"])
  }

  /// The time counts from when the last client has left.
  @Test func whileAClientIsAttachedItGoesOn() throws {
    let bench = try SessionBench()
    let spec = bench.spec("sleep 2; echo done; exec sleep 600") { $0.keep = 1 }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "done\n" }
    let attached = try #require(try bench.status(spec.session))
    #expect(attached.state == .running && attached.hangsUpAt == nil)
    client.cut()
    try waitUntil { try bench.status(spec.session)?.state == .ended }
    #expect(try bench.status(spec.session)?.end == .signaled(number: 1, dumpedCore: false))
  }

  /// Over a link whose other end has lost its power the kernel sends nothing else, and never learns
  /// that it is dead.
  @Test(arguments: [true, false])
  func anIdleClientIsAskedForASignOfLife(answers: Bool) throws {
    let bench = try SessionBench()
    let spec = bench.spec("exec sleep 600") { $0.keep = 2 }
    _ = try bench.start(spec)
    let client = try bench.launch(
      ["attach", "--session", "\(spec.session)", "--marker", SessionBench.marker])
    let hello = bench.hello(spec.session) { $0.answersPings = answers }
    #expect(client.input?.write(hello, from: 0) == .wrote(hello.count))
    var output: [UInt8] = []
    // They come after one second and two; a busy machine is late.
    let end = Machine.milliseconds + (answers ? 60_000 : 3000)
    var pings = 0
    while Machine.milliseconds < end, pings < 2 {
      if case .bytes(let more) = client.output.read(4096) {
        output += more
      } else {
        Poller.pause(20)
      }
      guard output.count > SessionBench.marker.utf8.count else { continue }
      let frames = try SessionBench.frames(in: output)
      pings = frames.count { if case .ping = $0 { true } else { false } }
    }
    #expect(answers ? pings == 2 : pings == 0)
    #expect(try bench.status(spec.session)?.state == .running)
  }

  @Test func itsStatusSaysWhen() throws {
    let bench = try SessionBench()
    let before = Machine.seconds
    let kept = bench.spec("exec sleep 600") { $0.keep = 3600 }
    let other = bench.spec("exec sleep 600")
    for spec in [kept, other] { _ = try bench.start(spec) }
    try waitUntil { try bench.status(kept.session)?.hangsUpAt != nil }
    let time = try #require(try bench.status(kept.session)?.hangsUpAt)
    #expect((before + 3600...Machine.seconds + 3600).contains(time))
    let now = try #require(try bench.status(kept.session)?.now)
    #expect((before...Machine.seconds).contains(now))
    #expect(try bench.status(other.session)?.hangsUpAt == nil)
  }

  /// As with sshd: who typed `exit` has the prompt again, and types on.
  @Test func aBackgroundJobDoesNotHoldUpTheEndOfATerminal() throws {
    let bench = try SessionBench()
    let spec = bench.spec("(trap '' HUP; sleep 1.5; echo late) & echo soon; exit 3") {
      $0.terminal = Array("xterm".utf8)
    }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.end != nil }
    #expect(client.end == .exited(status: 3) && client.text == "soon\r\n")
    #expect(try client.close() == 0)
  }

  @Test func theRecordOfAnEarlierVersionIsRead() {
    var record = LiveRecord(
      committed: 7, attached: 1, memory: .output, aloneSince: 9, memoryStart: 5)
    #expect(LiveRecord(record.bytes) == record)
    // Of earlier versions.
    let short = LiveRecord(Array(record.bytes.prefix(26)))
    record.memoryStart = nil
    #expect(LiveRecord(record.bytes) == record && short == record)
    let old = LiveRecord(Array(record.bytes.prefix(17)))
    #expect(old == LiveRecord(committed: 7, attached: 1, memory: .output))
  }
}
