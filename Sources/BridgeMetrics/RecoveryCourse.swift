import BridgeErrors
package import BridgeRecovery

/// Follows the events of a supervisor, and says what is measured of them.
package struct RecoveryCourse: Sendable {
  private struct Dial: Sendable {
    let isStandby: Bool
    /// The phase that it is in, and since when.
    var phase: (ConnectionPhase, since: Moment)?
  }

  private struct Line: Sendable {
    /// The generation that is up.
    var up: Int?
    var wasUp = false
    /// Since when it is of no use.
    var outage: Moment?
    /// Since when the peer is silent.
    var silence: Moment?
    /// Since when nothing is dialed, in an outage.
    var wait: Moment?
    /// What is being dialed, by generation.
    var dials: [Int: Dial] = [:]

    /// Whether nothing is known of it: operations come and go, each under a name of its own.
    var isBlank: Bool {
      !wasUp && outage == nil && silence == nil && wait == nil && dials.isEmpty
    }

    /// A connection in use was lost then, or has been silent since before.
    mutating func lose(at now: Moment) -> [RecoveryFact] {
      up = nil
      let began = silence ?? now
      defer { silence = nil }
      guard outage == nil else { return [] }
      (outage, wait) = (began, now)
      let facts = [RecoveryFact.outageBegan(isFirst: !wasUp, at: began)]
      return began < now ? facts + [.stretch(.detect, from: began, to: now)] : facts
    }

    mutating func endWait(at now: Moment) -> [RecoveryFact] {
      guard let began = wait else { return [] }
      wait = nil
      return began < now ? [.stretch(.wait, from: began, to: now)] : []
    }

    mutating func endPhase(of generation: Int, at now: Moment) -> [RecoveryFact] {
      guard let (phase, since) = dials[generation]?.phase else { return [] }
      dials[generation]?.phase = nil
      return [.phase(phase, generation: generation, from: since, to: now)]
    }

    /// A dial is over.
    mutating func end(
      _ generation: Int, _ outcome: RecoveryFact.Outcome, at now: Moment
    ) -> [RecoveryFact] {
      guard let dial = dials[generation] else { return [] }
      // When a standby was ready is not reported: it may have been so for a while.
      let isUnknown = dial.isStandby && outcome == .connected
      let phase = isUnknown ? [] : endPhase(of: generation, at: now)
      dials[generation] = nil
      return phase + [.dialEnded(generation: generation, outcome, at: now)]
    }

    mutating func endDials(at now: Moment) -> [RecoveryFact] {
      dials.keys.sorted().flatMap { end($0, .withdrawn, at: now) }
    }

    mutating func endOutage(
      _ outcome: RecoveryFact.Outcome, isFirst: Bool, at now: Moment
    ) -> [RecoveryFact] {
      guard let began = outage else { return [] }
      let facts = endWait(at: now)
      outage = nil
      return facts + [.outageEnded(isFirst: isFirst, outcome, from: began, at: now)]
    }
  }

  private var lines: [String: Line] = [:]
  /// How many links and operations it remembers.
  var count: Int { lines.count }
  private var linksUp: Int { lines.values.count { $0.up != nil } }

  /// Knows of no link.
  package init() {}

  /// Takes an event; returns what it says.
  package mutating func see(_ event: RecoveryEvent) -> [RecoveryFact] {
    if case .missed(let count) = event.step {
      // What is up stays so until it is lost; where that was missed, until it is up again.
      lines = lines.compactMapValues { $0.up.map { Line(up: $0, wasUp: true) } }
      return [.missed(count)]
    }
    guard let source = event.source else { return [] }
    let before = linksUp
    var line = lines[source] ?? Line()
    let facts = Self.see(event, of: &line)
    if case .closed = event.step { line = Line() }
    lines[source] = line.isBlank ? nil : line
    return facts + (linksUp == before ? [] : [.linksUp(linksUp)])
  }

  private static func see(_ event: RecoveryEvent, of line: inout Line) -> [RecoveryFact] {
    let now = event.at
    switch event.step {
    case .attempted(_, let isStandby):
      return begin(event.generation, isStandby: isStandby, of: &line, at: now)
    case .entered(let phase):
      guard let generation = event.generation, line.dials[generation] != nil else { return [] }
      let facts = line.endPhase(of: generation, at: now)
      line.dials[generation]?.phase = (phase, since: now)
      return facts
    case .recovered(_, _, let isFirst):
      let facts = event.generation.map { line.end($0, .connected, at: now) } ?? []
      (line.up, line.wasUp) = (event.generation, true)
      return facts + line.endOutage(.connected, isFirst: isFirst, at: now)
    case .failed(let failure): return fail(failure, event.generation, of: &line, at: now)
    case .suspected(let silence):
      line.silence = now - silence
      return []
    case .cleared:
      line.silence = nil
      return line.endDials(at: now)
    case .suspended:
      // Its time is that of the link that it depends on.
      let facts = line.endDials(at: now) + (line.up == nil ? [] : line.lose(at: now))
      line.wait = nil
      return facts
    case .resumed:
      if line.outage != nil { line.wait = now }
      return []
    case .changed: return line.endDials(at: now) + (line.up == nil ? [] : line.lose(at: now))
    case .gaveUp(let failure, _):
      return line.endDials(at: now)
        + line.endOutage(.init(failure), isFirst: !line.wasUp, at: now)
    case .closed:
      line.up = nil
      return line.endDials(at: now) + line.endOutage(.withdrawn, isFirst: !line.wasUp, at: now)
    case .switched: return line.endWait(at: now)
    case .lingered: return [.lingered]
    case .becameHealthy, .classified, .waiting, .surfaced, .withdrawn, .missed: return []
    }
  }

  private static func begin(
    _ generation: Int?, isStandby: Bool, of line: inout Line, at now: Moment
  ) -> [RecoveryFact] {
    // Only operations have none.
    guard let generation else { return [.retried] }
    var facts: [RecoveryFact] = []
    if !isStandby, line.outage == nil {
      line.outage = now
      facts.append(.outageBegan(isFirst: !line.wasUp, at: now))
    }
    if !isStandby { facts += line.endWait(at: now) }
    line.dials[generation] = Dial(isStandby: isStandby)
    return facts + [.dialBegan(generation: generation, isStandby: isStandby, at: now)]
  }

  private static func fail(
    _ failure: ConnectionError, _ generation: Int?, of line: inout Line, at now: Moment
  ) -> [RecoveryFact] {
    let outcome = RecoveryFact.Outcome(failure)
    guard let generation else { return [.notDialed(outcome)] }
    if let dial = line.dials[generation] {
      let facts = line.end(generation, outcome, at: now)
      if !dial.isStandby { line.wait = now }
      return facts
    }
    return [.lost(outcome)] + line.lose(at: now)
  }
}
