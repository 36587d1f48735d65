package import BridgeErrors
import BridgeReactor

/// Native calls that take more than one turn, in order: one at a time in each group.
///
/// libssh2 keeps the state of an open, an authentication or a request in the session or the
/// channel, so the next of the same group starts only when the one before has ended, even
/// when its caller no longer waits.
package struct OperationQueue {
  /// Operations that must not be under way at the same time.
  package enum Group: Hashable, Sendable {
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
    /// The phase of the connection meanwhile.
    package let phase: ConnectionPhase
    /// How long it may take once it is its turn; nil for as long as nothing waits behind it.
    package let timeout: Duration?
    /// Whether its answer depends on a third machine: what waits behind it does not end it.
    package let isFar: Bool
    /// The step of each turn.
    package let step: Step

    /// An operation that is not begun.
    package init(
      id: Int, channel: UInt32?, phase: ConnectionPhase, timeout: Duration?, isFar: Bool = false,
      step: Step
    ) {
      self.id = id
      self.channel = channel
      self.phase = phase
      self.timeout = timeout
      self.isFar = isFar
      self.step = step
    }
  }

  private var groups: [Group: [Operation]] = [:]
  /// The deadlines of those whose turn it is.
  private var deadlines: [Group: LoopTimer] = [:]

  /// An empty queue.
  package init() {}

  /// Whether no operation is queued.
  package var isEmpty: Bool { groups.isEmpty }

  /// The groups with operations, the session's first.
  package var busyGroups: [Group] { [.session, .requests].filter { groups[$0] != nil } }

  /// Whether a request on `channel` waits or is under way.
  package func hasRequest(on channel: UInt32) -> Bool {
    groups[.requests]?.contains { $0.channel == channel } == true
  }

  /// Whether one whose answer depends on a third machine waits or is under way.
  package var hasFar: Bool { groups[.session]?.contains(where: \.isFar) == true }

  /// Appends `operation` to its group.
  package mutating func append(_ operation: Operation, to group: Group) {
    groups[group, default: []].append(operation)
  }

  /// The operation whose turn it is.
  package func first(of group: Group) -> Operation? { groups[group]?.first }

  /// Starts the clock of the first of `group`; `makeDeadline` is called once in its life.
  mutating func begin(_ group: Group, _ makeDeadline: (Duration) -> LoopTimer) {
    guard deadlines[group] == nil else { return }
    deadlines[group] = timeLimit(of: group).map(makeDeadline)
  }

  /// How long the first of `group` may take. What has no limit of its own has that of the one that
  /// waits for it to end.
  package func timeLimit(of group: Group) -> Duration? {
    if first(of: group)?.isFar == true { return nil }
    return groups[group]?.compactMap(\.timeout).first
  }

  /// Gives the first of `group` a later deadline.
  mutating func extend(_ group: Group, _ deadline: LoopTimer) { deadlines[group] = deadline }

  /// Removes the first operation of `group`.
  package mutating func removeFirst(of group: Group) {
    deadlines.removeValue(forKey: group)?.cancel()
    groups[group]?.removeFirst()
    if groups[group]?.isEmpty == true { groups[group] = nil }
  }

  /// Removes all operations.
  package mutating func removeAll() {
    for deadline in deadlines.values { deadline.cancel() }
    deadlines = [:]
    groups = [:]
  }
}
