import BridgeErrors

/// Decides when ports are tried that are not listened on: no clock, no socket.
package struct ForwardAttempts {
  package typealias Instant = ContinuousClock.Instant

  /// The wait after the first refusal; each one after it doubles, up to the longest.
  package static let waits = (first: Duration.milliseconds(250), longest: Duration.seconds(30))
  /// The longest wait for a port that was ours: the host's end of the lost session still has it.
  package static let longestAfterLoss = Duration.seconds(2)

  private struct Entry {
    let rule: ForwardRule
    var isListening = false
    /// What the host chose where any port will do: asked for again before any other.
    var chosen: Int?
    var wait = ForwardAttempts.waits.first
    var longest = ForwardAttempts.waits.longest
    var due: Instant

    /// The port to ask for.
    var port: Int {
      guard case .port(_, let port) = rule.source else { return 0 }
      return chosen ?? port
    }
  }

  /// In the order in which they came.
  private var entries: [Entry] = []

  /// No port.
  package init() {}

  /// Whether there is none.
  package var isEmpty: Bool { entries.isEmpty }

  /// Those that are not listened on.
  package var waiting: [ForwardRule] { entries.filter { !$0.isListening }.map(\.rule) }

  /// Whether `rule` is to be listened on.
  package func has(_ rule: ForwardRule) -> Bool { entries.contains { $0.rule == rule } }

  /// Where `rule` is listened on; nil where it is not.
  package func port(of rule: ForwardRule) -> Int? {
    guard let entry = entries.first(where: { $0.rule == rule }), entry.isListening else {
      return nil
    }
    return entry.port
  }

  /// Whether `rule` was listened on over a session that is lost.
  package func wasLost(_ rule: ForwardRule) -> Bool {
    entries.contains { $0.rule == rule && $0.longest == Self.longestAfterLoss }
  }

  /// When `next` has something; nil where nothing waits.
  package var due: Instant? { entries.filter { !$0.isListening }.map(\.due).min() }

  /// To be tried at once. A rule that is there already is not added again.
  package mutating func add(_ rule: ForwardRule, at now: Instant) {
    guard !entries.contains(where: { $0.rule == rule }) else { return }
    entries.append(Entry(rule: rule, due: now))
  }

  /// Not to be tried any more.
  package mutating func remove(_ rule: ForwardRule) { entries.removeAll { $0.rule == rule } }

  /// The one to try now, and the port to ask for; only one that was not refused yet unless
  /// `retries`.
  package func next(at now: Instant, retries: Bool = true) -> (rule: ForwardRule, port: Int)? {
    let next = entries.first { entry in
      !entry.isListening && entry.due <= now && (retries || entry.wait == Self.waits.first)
    }
    return next.map { ($0.rule, $0.port) }
  }

  /// It is listened on, at `port`.
  package mutating func granted(_ rule: ForwardRule, port: Int) {
    change(rule) { entry in
      entry.isListening = true
      entry.wait = Self.waits.first
      if case .port(_, 0) = rule.source { entry.chosen = port }
    }
  }

  /// It was refused; the time until it is tried again, nothing where that is at once with any other
  /// port.
  package mutating func refused(_ rule: ForwardRule, at now: Instant) -> Duration {
    var wait = Duration.zero
    change(rule) { entry in
      if entry.chosen.take() != nil { return }
      wait = entry.wait
      entry.due = now + wait
      entry.wait = min(wait * 2, entry.longest)
    }
    return wait
  }

  /// Nothing is listened on any more; all are to be tried at once.
  package mutating func lost(at now: Instant) {
    for index in entries.indices {
      if entries[index].isListening { entries[index].longest = Self.longestAfterLoss }
      entries[index].isListening = false
      entries[index].wait = Self.waits.first
      entries[index].due = now
    }
  }

  /// Those that wait are to be tried at once.
  package mutating func retryNow(at now: Instant) {
    for index in entries.indices where !entries[index].isListening { entries[index].due = now }
  }

  private mutating func change(_ rule: ForwardRule, _ body: (inout Entry) -> Void) {
    guard let index = entries.firstIndex(where: { $0.rule == rule }) else { return }
    body(&entries[index])
  }
}
