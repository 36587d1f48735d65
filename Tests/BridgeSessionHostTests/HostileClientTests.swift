import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Clients that break the protocol end their own attachment and do not affect other clients.
@Suite struct HostileClientTests {
  private static let echo = "while read word; do echo got $word; done"
  private static let far = Limits.offset - 1

  private func isSound(_ client: AttachedClient, _ word: String) throws {
    try client.type("\(word)\n")
    try client.pump { $0.text.hasSuffix("got \(word)\n") }
  }

  /// What is refused after a hello was accepted.
  private static let violations: [(name: String, frames: [Frame])] = [
    ("input beyond what was accepted", [.input(offset: 1, bytes: [1])]),
    ("input at the last offset", [.input(offset: far - 1, bytes: [1])]),
    ("acknowledgement of what was not sent", [.acknowledge(through: far, settled: 0)]),
    ("commit of what was not acknowledged", [.acknowledge(through: 0, settled: far)]),
    ("control with a far number", [.control(number: far, .detach)]),
    ("control without a number", [.control(number: 0, .resize(.init(columns: 1, rows: 1)))]),
    (
      "end of input that moves",
      [.control(number: 1, .endInput(at: far)), .control(number: 2, .endInput(at: far - 1))]
    ),
    (
      "more input than the window",
      [
        .input(offset: 0, bytes: [UInt8](repeating: 1, count: 1 << 20)),
        .input(offset: 1 << 20, bytes: [UInt8](repeating: 1, count: 1 << 20)),
      ]
    ),
    ("output", [.output(offset: 0, stream: .standardOutput, bytes: [1])]),
    ("gap", [.gap(from: 0, to: far)]),
    ("end", [.ended(at: 0, .exited(status: 0))]),
    ("notice", [.notice(Notice(.degraded, "no"))]),
    ("refusal", [.refused(Refusal(.limit, "no"))]),
  ]

  @Test(arguments: violations.indices)
  func whatBreaksTheProtocolEndsOneAttachmentWithItsReason(index: Int) throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo up; sleep 1000")
    _ = try bench.start(spec)
    let viewer = try bench.attach(spec.session) { $0.role = .viewer }
    try viewer.pump { $0.text == "up\n" }
    let (name, frames) = Self.violations[index]
    let bytes = bench.hello(spec.session) + frames.flatMap(\.encoded)
    let (output, status) = try bench.attachRaw(spec.session, bytes)
    #expect(status == 76, "\(name)")
    var parser = FrameParser()
    parser.append(output)
    var last: Frame?
    while let frame = try parser.next() { last = frame }
    guard case .refused(let refusal)? = last else { Issue.record("\(name)"); return }
    #expect(refusal.code == .violation, "\(name)")
    #expect(viewer.machine.phase == .attached)
    #expect(try bench.status(spec.session)?.state == .running)
  }

  @Test func aMillionTinyFramesTakeNoMemoryAndNoOtherAttachment() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo)
    _ = try bench.start(spec)
    let other = bench.spec(Self.echo)
    _ = try bench.start(other)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    let before = try SessionBench.peakMemory(of: keeper)
    let client = try bench.attach(spec.session)
    try isSound(client, "before")
    // The answers to this client are not read: the keeper stops reading from it.
    let verb = ["attach", "--session", spec.session.description]
    let flood = try bench.launch(verb)
    let pings = (0..<10_000).flatMap { Frame.ping(UInt64($0)).encoded }
    var bytes = bench.hello(spec.session) { $0.role = .viewer } + pings
    var stalls = 0
    while stalls < 50 {
      if case .wrote(let count)? = flood.input?.write(bytes, from: 0) {
        bytes = Array((bytes + pings).dropFirst(count).prefix(400_000))
        stalls = 0
      } else {
        stalls += 1
        Poller.pause(10)
      }
    }
    try isSound(client, "beside")
    // And this one reads them all.
    let count = 1_000_000 / 8
    let tiny = [Frame.ping(7).encoded, Frame.control(number: 0, .detach).encoded]
    let hello = bench.hello(spec.session) { $0.role = .viewer }
    let many = hello + (0..<count).flatMap { _ in tiny[0] } + tiny[1]
    let (output, status) = try bench.attachRaw(spec.session, many)
    #expect(status == 0 && output.count >= count * 16)
    #expect(try SessionBench.peakMemory(of: keeper) < before + 16 << 10, "KiB")
    try isSound(client, "after")
    let elsewhere = try bench.attach(other.session)
    try isSound(elsewhere, "elsewhere")
  }

  @Test func inputInSingleBytesForAProgramThatNeverReadsTakesOneWindowOfMemory() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo up; sleep 1000")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    let before = try SessionBench.peakMemory(of: keeper)
    var bytes = bench.hello(spec.session) { $0.takes = true }
    for offset in 0..<(2 << 17) { bytes += Frame.input(offset: UInt64(offset), bytes: [1]).encoded }
    bytes += Frame.control(number: 1, .detach).encoded
    #expect(try bench.attachRaw(spec.session, bytes).status == 0)
    #expect(try SessionBench.peakMemory(of: keeper) < before + 16 << 10, "KiB")
  }

  @Test func aHeaderThatPromisesFourGigabytesIsRefusedAtOnce() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo)
    _ = try bench.start(spec)
    for type: UInt8 in [1, 6, 12, 200] {
      let header: [UInt8] = [type, 0, 0, 0, 255, 255, 255, 255] + [UInt8](repeating: 0, count: 8)
      #expect(try bench.attachRaw(spec.session, header).status == 76, "type \(type)")
    }
  }

  @Test func aCapOfNothingLetsTheProgramRun() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo text; exit 3") {
      $0.cap = 0
      $0.whenFull = .wait
    }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    #expect(client.text == "text\n" && client.end == .exited(status: 3))
  }

  @Test func manyClientsThatWaitForTheEndKeepNoClientOut() throws {
    let bench = try SessionBench()
    let spec = bench.spec(Self.echo + "; exit 4")
    _ = try bench.start(spec)
    let waits = try (0..<70).map { _ in
      try bench.launch(["wait", "--session", spec.session.description])
    }
    let keeper = try #require(bench.keepers(of: spec.session).first)
    let descriptors = "/proc/\(keeper)/fd"
    // Its own are fewer than 16.
    try waitUntil {
      try FileManager.default.contentsOfDirectory(atPath: descriptors).count >= 64
    }
    let client = try bench.attach(spec.session)
    try isSound(client, "through")
    #expect(try client.machine.endInput())
    #expect(try client.close() == 0)
    for wait in waits { #expect([0, 66].contains(wait.finish().status)) }
  }
}
