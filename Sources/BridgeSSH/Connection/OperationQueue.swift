package import BridgeErrors
import BridgeReactor

/// Native calls that take more than one turn, in order: one at a time in each lane.
///
/// libssh2 keeps the state of an open, an authentication or a request in the session or the
/// channel, so the next of the same lane starts only when the one before has come to its end – also
/// when nobody waits for it any more.
package struct OperationQueue {
  /// Operations that must not be under way at the same time.
  package enum Lane: Hashable, Sendable {
    /// Their state lives in the session: handshake, authentication, opening a channel.
    case session
    /// The server answers with one of the same two messages: libssh2 1.10 gives up a request when
    /// the answer to another channel's comes first (`_libssh2_packet_requirev`).
    case requests
  }

  /// How an operation is carried on.
  package enum Step {
    /// Called in each turn until it returns true.
    case onLoop((isolated SSHConnection) -> Bool)
    /// Like that, but `work` may block and runs on a helper thread first, which owns the session
    /// meanwhile.
    case helped(work: @Sendable () -> Void, (isolated SSHConnection) -> Bool)
  }

  /// One call, until it is done.
  package struct Operation {
    /// Its caller in the `CallerTable`.
    package let id: Int
    /// The channel it is a request on.
    package let channel: UInt32?
    /// Where the connection is meanwhile.
    package let phase: ConnectionPhase
    /// How long it may take once it is its turn; nil for as long as nothing waits behind it.
    package let timeout: Duration?
    /// What is done in each turn.
    package let step: Step

    /// An operation that is not begun.
    package init(
      id: Int, channel: UInt32?, phase: ConnectionPhase, timeout: Duration?, step: Step
    ) {
      self.id = id
      self.channel = channel
      self.phase = phase
      self.timeout = timeout
      self.step = step
    }
  }

  private var lanes: [Lane: [Operation]] = [:]
  /// The deadlines of those whose turn it is.
  private var deadlines: [Lane: LoopTimer] = [:]

  /// Nothing to do.
  package init() {}

  /// Whether there is nothing to do.
  package var isEmpty: Bool { lanes.isEmpty }

  /// The lanes that have something to do, the session's first.
  package var busyLanes: [Lane] { [.session, .requests].filter { lanes[$0] != nil } }

  /// Whether a request on `channel` waits or is under way.
  package func hasRequest(on channel: UInt32) -> Bool {
    lanes[.requests]?.contains { $0.channel == channel } == true
  }

  /// Adds `operation` behind those of its lane.
  package mutating func append(_ operation: Operation, to lane: Lane) {
    lanes[lane, default: []].append(operation)
  }

  /// Whose turn it is.
  package func first(of lane: Lane) -> Operation? { lanes[lane]?.first }

  /// Starts the clock of the first of `lane`; `makeDeadline` is called once in its life.
  mutating func begin(_ lane: Lane, _ makeDeadline: (Duration) -> LoopTimer) {
    guard deadlines[lane] == nil else { return }
    deadlines[lane] = patience(of: lane).map(makeDeadline)
  }

  /// How long the first of `lane` may take. What has no limit of its own has that of the one that
  /// waits for it to end.
  package func patience(of lane: Lane) -> Duration? {
    lanes[lane]?.lazy.compactMap(\.timeout).first
  }

  /// Gives the first of `lane` a later deadline.
  mutating func extend(_ lane: Lane, _ deadline: LoopTimer) { deadlines[lane] = deadline }

  /// Its turn is over.
  package mutating func removeFirst(of lane: Lane) {
    deadlines.removeValue(forKey: lane)?.cancel()
    lanes[lane]?.removeFirst()
    if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
  }

  /// Nothing is carried on.
  package mutating func removeAll() {
    for deadline in deadlines.values { deadline.cancel() }
    deadlines = [:]
    lanes = [:]
  }
}
