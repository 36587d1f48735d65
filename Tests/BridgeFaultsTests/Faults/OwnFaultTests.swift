import BridgeFaults
import Foundation
import NIOCore
import Testing

@Suite("The fault of docs/writing-a-fault.md", .timeLimit(.minutes(5)))
struct OwnFaultTests {
  @Test func isTheOneOnThePage() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let file = try String(
      contentsOf: folder.appendingPathComponent("Stutter.swift"), encoding: .utf8)
    let page = try String(
      contentsOf: folder.appendingPathComponent("../../../docs/writing-a-fault.md"),
      encoding: .utf8)
    #expect(page.contains("```swift\n\(file)```\n"))
  }

  @Test func stopsTheLineEverySoManyBytes() {
    var stutter = Stutter.stutter(every: 4, for: .seconds(1))
    var generator = SplitMix64(seed: 1)
    let dues = (0..<4).flatMap { _ in
      stutter.shape(Portion(ByteBuffer(string: "ab"), due: .zero), generator: &generator)
    }.map(\.due)
    #expect(dues == [.zero, .seconds(1), .seconds(1), .seconds(2)])
  }

  @Test func worksInTheProxyLikeAnyOther() async throws {
    let bench = try await Bench()
    try await bench.proxy.inject(.stutter(every: 2, for: .milliseconds(1)))
    let client = try await bench.connectedClient()
    try await client.send(", world")
    #expect(await client.receive(12).bytes == "hello, world".bytes)
    try await bench.stop()
  }
}
