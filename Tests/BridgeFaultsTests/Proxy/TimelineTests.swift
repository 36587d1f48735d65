import BridgeFaults
import Testing

@Suite("Faults by a timeline", .timeLimit(.minutes(5)))
struct TimelineTests {
  @Test func happenInTheOrderOfTheirTimes() async throws {
    let bench = try await Bench()
    await bench.proxy.play(
      Timeline()
        .at(.milliseconds(4), .lift)
        .at(.zero, .refuse())
        .at(.milliseconds(2), .silence()))
    let lift = try await bench.proxy.first { $0.kind == .injected("Lift()") }
    _ = try await bench.proxy.first { $0.kind == .listening && $0.at >= lift.at }
    let injected = await bench.proxy.log.compactMap(\.kind.injected)
    #expect(
      injected == ["Refuse(duration: nil)", "Silence(duration: nil)", "Lift()"])
    _ = try await bench.connectedClient()
    try await bench.stop()
  }

  @Test func endWhenHealed() async throws {
    let bench = try await Bench()
    await bench.proxy.play(Timeline().at(.milliseconds(20), .reset))
    try await bench.proxy.heal()
    let client = try await bench.connectedClient()
    await bench.proxy.play(Timeline().at(.milliseconds(30), .halfClose([.toClient])))
    #expect(await client.receiveToEnd().end == .finished)
    try await bench.stop()
  }

  @Test func aRandomOneRepeatsWithItsSeed() {
    func timeline(_ seed: UInt64) -> [String] {
      let faults: [any Fault] = [Reset.reset, Freeze.freeze(), Refuse.refuse(for: .seconds(1))]
      return Timeline.drawn(20, of: faults, over: .seconds(9), seed: seed).moments
        .map { "\($0.at) \(type(of: $0.fault))" }
    }
    #expect(timeline(1) == timeline(1))
    #expect(timeline(1) != timeline(2))
    #expect(timeline(1).count == 20)
  }

  @Test func aRandomOneIsSortedAndInItsTime() {
    let moments = Timeline.drawn(50, of: [Reset.reset], over: .seconds(3), seed: 4).moments
    #expect(moments.map(\.at) == moments.map(\.at).sorted())
    #expect(moments.allSatisfy { $0.at >= .zero && $0.at < .seconds(3) })
  }
}

extension FaultEvent.Kind {
  var injected: String? { if case .injected(let fault) = self { fault } else { nil } }
}
