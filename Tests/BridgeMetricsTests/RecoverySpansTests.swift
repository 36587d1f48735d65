import BridgeErrors
import BridgeRecovery
import InMemoryTracing
import Testing
import Tracing

@testable import BridgeMetrics

@Suite("A recovery has spans") struct RecoverySpansTests {
  private let start = Moment.now
  private let tracer = InMemoryTracer()

  /// Records facts of a link, whose clock is at 1 s since 1970 in the beginning.
  private func record(_ facts: RecoveryFact...) {
    var spans = RecoverySpans(
      tracer, now: start, time: .init(nanosecondsSinceEpoch: 1_000_000_000))
    for fact in facts { spans.record(fact, of: "a") }
  }

  /// What a backend has of a span that is not ended is lost.
  @Test func afterMissedEventsNoSpanIsLeftOpen() {
    record(
      .outageBegan(isFirst: false, at: start),
      .dialBegan(generation: 1, isStandby: false, at: start), .missed(3))
    #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.count == 2)
  }

  @Test func whatFailedHasItsKind() throws {
    record(
      .dialBegan(generation: 1, isStandby: true, at: start),
      .dialEnded(generation: 1, .failed("refused"), at: start))
    let span = try #require(tracer.finishedSpans.first)
    #expect(span.attributes.get("error.type") == "refused" && span.status?.code == .error)
    #expect(span.attributes.get("bridge.standby") == true)
  }

  @Test func phasesAreInTheirDialAndDialsInTheirOutageAtTheTimesOfTheEvents() throws {
    record(
      .outageBegan(isFirst: false, at: start - .milliseconds(200)),
      .dialBegan(generation: 1, isStandby: false, at: start),
      .phase(.dial, generation: 1, from: start, to: start + .milliseconds(10)),
      .dialEnded(generation: 1, .connected, at: start + .milliseconds(30)),
      .outageEnded(
        isFirst: false, .connected, from: start, at: start + .milliseconds(30)))
    let (phase, dial, outage) = (
      tracer.finishedSpans[0], tracer.finishedSpans[1], tracer.finishedSpans[2]
    )
    let spans = [phase, dial, outage]
    #expect(spans.map(\.operationName) == ["bridge.dial.dial", "bridge.dial", "bridge.recovery"])
    #expect(spans.map(\.parentSpanID) == [dial.spanID, outage.spanID, nil])
    #expect(spans.map(\.startInstant.millisecondsSinceEpoch) == [1000, 1000, 800])
    #expect(spans.map(\.endInstant.millisecondsSinceEpoch) == [1010, 1030, 1030])
    #expect(spans.allSatisfy { $0.status == nil })
  }
}
