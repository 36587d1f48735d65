import BridgeErrors
import BridgeReactor

/// Native calls that take more than one turn, in order: one at a time in each lane.
///
/// libssh2 keeps the state of an open, an authentication or a request in the session or the
/// channel, so the next of the same lane starts only when the one before has come to its end – also
/// when nobody waits for it any more.
struct OperationQueue {
  /// Operations that must not be under way at the same time.
  enum Lane: Hashable, Sendable {
    /// Their state lives in the session: handshake, authentication, opening a channel.
    case session
    /// The server answers with one of the same two messages: libssh2 1.10 gives up a request when
    /// the answer to another channel's comes first (`_libssh2_packet_requirev`).
    case requests
  }

  /// How an operation is carried on.
  enum Step {
    /// Called in each turn until it returns true.
    case onLoop((isolated SSHConnection) -> Bool)
    /// Like that, but `work` may block and runs on a helper thread first, which owns the session
    /// meanwhile.
    case helped(work: @Sendable () -> Void, (isolated SSHConnection) -> Bool)
  }

  struct Operation {
    let id: Int
    /// The channel it is a request on.
    let channel: UInt32?
    let phase: ConnectionPhase
    /// How long it may take once it is its turn; nil for as long as nothing waits behind it.
    let timeout: Duration?
    let step: Step
  }

  private var lanes: [Lane: [Operation]] = [:]
  /// The deadlines of those whose turn it is.
  private var deadlines: [Lane: LoopTimer] = [:]

  var isEmpty: Bool { lanes.isEmpty }

  /// The lanes that have something to do, sessions first.
  var busyLanes: [Lane] { Array(lanes.keys) }

  /// Whether a request on `channel` waits or is under way.
  func hasRequest(on channel: UInt32) -> Bool {
    lanes[.requests]?.contains { $0.channel == channel } == true
  }

  mutating func append(_ operation: Operation, to lane: Lane) {
    lanes[lane, default: []].append(operation)
  }

  func first(of lane: Lane) -> Operation? { lanes[lane]?.first }

  /// Starts the clock of the first of `lane`; `makeDeadline` is called once in its life.
  mutating func begin(_ lane: Lane, _ makeDeadline: (Duration) -> LoopTimer) {
    guard deadlines[lane] == nil else { return }
    // What has no deadline of its own has that of the one that waits for it to end.
    let timeout = lanes[lane]?.lazy.compactMap(\.timeout).first
    deadlines[lane] = timeout.map(makeDeadline)
  }

  mutating func removeFirst(of lane: Lane) {
    deadlines.removeValue(forKey: lane)?.cancel()
    lanes[lane]?.removeFirst()
    if lanes[lane]?.isEmpty == true { lanes[lane] = nil }
  }

  mutating func removeAll() {
    for deadline in deadlines.values { deadline.cancel() }
    deadlines = [:]
    lanes = [:]
  }
}
