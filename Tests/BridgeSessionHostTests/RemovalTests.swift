import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// A session is removed when its client has all of it, and not under those who still read it.
@Suite(.timeLimit(.minutes(5))) struct RemovalTests {
  /// Several segments, the size of which the cap decides.
  private let count = 4_000_000

  private func descriptors(ofKeeperOf session: SessionID, on bench: SessionBench) throws -> Int {
    let keeper = try #require(bench.keepers(of: session).first)
    return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(keeper)/fd").count
  }

  /// A session of a program that waits for a line, and its client.
  private func begin(_ bench: SessionBench) throws -> (session: SessionID, client: AttachedClient) {
    let spec = bench.spec("read word; head -c \(count) /dev/zero; exit 7") { $0.cap = 8 << 20 }
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.greet()
    return (spec.session, client)
  }

  /// Lets the program end; its client takes all of it and has the session removed.
  private func finish(_ client: AttachedClient) throws {
    try client.type("go\n")
    #expect(try client.close() == 0)
    #expect(client.all.count == count && client.end == .exited(status: 7))
  }

  @Test func aCallerThatWaitsForTheEndIsAnswered() throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    let before = try descriptors(ofKeeperOf: session, on: bench)
    let arguments = ["wait", "--session", session.description, "--marker", SessionBench.marker]
    let caller = try bench.launch(arguments)
    try waitUntil { try descriptors(ofKeeperOf: session, on: bench) == before + 2 }
    try finish(client)
    let (output, status) = caller.finish([])
    guard case .status(let ended)? = try SessionBench.frames(in: output).last else {
      Issue.record("no status")
      return
    }
    #expect(status == 0 && ended.end == .exited(status: 7))
    try waitUntil { bench.names.isEmpty }
  }

  /// Its pipe holds a part of the output.
  @Test(arguments: [["--follow"], []])
  func aReaderOfTheOutputGetsAllOfIt(follow: [String]) throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    try client.type("go\n")
    try client.pump { $0.end != nil }
    let before = try descriptors(ofKeeperOf: session, on: bench)
    let reader = try bench.launch(
      ["read", "--session", session.description, "--marker", SessionBench.marker] + follow)
    try waitUntil { try descriptors(ofKeeperOf: session, on: bench) == before + 1 }
    #expect(try client.close() == 0)
    let (output, status) = reader.finish([])
    let frames = try SessionBench.frames(in: output)
    let bytes = frames.reduce(0) {
      if case .output(_, _, let bytes) = $1 { $0 + bytes.count } else { $0 }
    }
    #expect(status == 0 && bytes == count)
    guard case .ended(_, let end)? = frames.last else {
      Issue.record("no end")
      return
    }
    #expect(end == .exited(status: 7))
    try waitUntil { bench.names.isEmpty }
  }

  @Test func anotherClientThatReadsSlowlyGetsAllOfIt() throws {
    let bench = try SessionBench()
    let (session, client) = try begin(bench)
    let viewer = try bench.attach(session, client: ClientID(high: 9, low: 9)) { $0.role = .viewer }
    try viewer.greet()
    try finish(client)
    try viewer.pump { $0.end != nil }
    #expect(viewer.all.count == count && viewer.end == .exited(status: 7))
    #expect(viewer.gaps.isEmpty)
    viewer.cut()
    try waitUntil { bench.names.isEmpty }
  }
}
