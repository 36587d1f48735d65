import BridgeErrors
import BridgeRecovery
import Tracing

/// The spans of recoveries: one for each outage, in it its waits and its dials, in each dial its
/// phases.
struct RecoverySpans {
  private enum Key: Hashable {
    case outage(String)
    case dial(String, generation: Int)
  }

  private let tracer: any Tracer
  /// An instant, and the same in nanoseconds since 1970.
  private let zero: (Moment, UInt64)
  private var open: [Key: any Tracing.Span] = [:]

  /// - Parameters:
  ///   - now: an instant of the clock of the events.
  ///   - time: the same instant, as traces count it.
  init(_ tracer: any Tracer, now: Moment, time: DefaultTracerClock.Timestamp) {
    self.tracer = tracer
    zero = (now, time.nanosecondsSinceEpoch)
  }

  mutating func record(_ fact: RecoveryFact, of link: String) {
    switch fact {
    case .outageBegan(let isFirst, let at):
      begin(
        .outage(link), isFirst ? "bridge.connect" : "bridge.recovery", in: nil, link, at: at)
    case .dialBegan(let generation, let isStandby, let at):
      let key = Key.dial(link, generation: generation)
      begin(key, "bridge.dial", in: .outage(link), link, at: at)
      open[key]?.attributes["bridge.generation"] = generation
      open[key]?.attributes["bridge.standby"] = isStandby
    case .stretch(let stretch, let from, let to):
      add("bridge.\(stretch.rawValue)", in: .outage(link), link, from: from, to: to)
    case .phase(let phase, let generation, let from, let to):
      let dial = Key.dial(link, generation: generation)
      add("bridge.dial.\(phase.rawValue)", in: dial, link, from: from, to: to)
    case .dialEnded(let generation, let outcome, let at):
      end(.dial(link, generation: generation), outcome, at: at)
    case .outageEnded(_, let outcome, _, let at): end(.outage(link), outcome, at: at)
    case .missed: endAll()
    case .lost, .notDialed, .retried, .lingered, .linksUp: break
    }
  }

  /// Ends what is open: how it goes on will not be seen.
  mutating func endAll() {
    for span in open.values { span.end() }
    open = [:]
  }

  private mutating func begin(
    _ key: Key, _ name: String, in parent: Key?, _ link: String, at: Moment
  ) {
    open[key] = span(name, in: parent, link, at: at)
  }

  private func add(
    _ name: String, in parent: Key, _ link: String, from: Moment, to: Moment
  ) {
    span(name, in: parent, link, at: from).end(at: time(to))
  }

  private func span(
    _ name: String, in parent: Key?, _ link: String, at: Moment
  ) -> any Tracing.Span {
    let context = parent.flatMap { open[$0]?.context } ?? .topLevel
    let span = tracer.startSpan(name, context: context, ofKind: .client, at: time(at))
    span.attributes["bridge.link"] = link
    return span
  }

  private mutating func end(_ key: Key, _ outcome: RecoveryFact.Outcome, at: Moment) {
    guard let span = open.removeValue(forKey: key) else { return }
    if case .failed(let kind) = outcome {
      span.attributes["error.type"] = kind
      span.setStatus(SpanStatus(code: .error))
    }
    span.end(at: time(at))
  }

  private func time(_ moment: Moment) -> DefaultTracerClock.Timestamp {
    let (seconds, attoseconds) = (moment - zero.0).components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    return .init(nanosecondsSinceEpoch: zero.1 &+ UInt64(bitPattern: nanoseconds))
  }
}
