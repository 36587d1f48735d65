import BridgeErrors
import BridgeReactor
import BridgeTransport

/// One connection that carries forwarded ones, as `Forwarder` uses it: on the forwarder's actor
/// only.
final class ForwardSession {
  /// The number of those that carry what comes to ports of the host.
  static let remoteNumber = 0

  let connection: SSHConnection
  let number: Int
  let begin = ContinuousClock.now
  /// An open of ours is under way.
  var isOpening = false
  /// How many connections it carries.
  var carried = 0
  /// Runs while nothing uses it.
  var idle: LoopTimer?
  /// Whether its host is alive, as long as that is evaluated.
  var liveness: Liveness?
  /// When it is evaluated next.
  var watch: LoopTimer?
  /// Waits for the answer to the newest probe.
  var probe: Task<Void, Never>?

  init(_ connection: SSHConnection, number: Int) {
    self.connection = connection
    self.number = number
  }

  /// Whether it has ended.
  var isOver: Bool { connection.assumeIsolated { $0.ending != nil } }

  /// Whether an open has nothing to wait for: libssh2 asks one question at a time, and one whose
  /// asker has gone still has its answer to come.
  var isFree: Bool { !isOpening && !connection.assumeIsolated { $0.operations.hasFar } }

  /// Whether an answer would wait behind much that is not sent.
  var hasBacklog: Bool { connection.assumeIsolated { $0.hasBacklog } }

  var isUnused: Bool { !isOpening && carried == 0 }

  /// Whether its host has left a probe without an answer for long.
  var isSuspected: Bool { liveness?.isSuspecting ?? false }

  /// Ends the evaluation of its host.
  func stopWatching() {
    watch?.cancel()
    probe?.cancel()
    (liveness, watch, probe) = (nil, nil, nil)
  }
}
