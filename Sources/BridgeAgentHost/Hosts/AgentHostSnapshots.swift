import BridgeErrors
import BridgeWaiting

/// The snapshots of an agent host, for one reader: the present one first, then the newest whenever
/// it differs. A slow reader misses those in between. It ends behind the last one of a host whose
/// run is over, and when its task is canceled.
public struct AgentHostSnapshots: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = AgentHostSnapshot
  /// It does not fail.
  public typealias Failure = Never

  let host: AgentHost

  /// A reader.
  public func makeAsyncIterator() -> Iterator { Iterator(host: host) }

  /// One pass over the snapshots.
  public struct Iterator: AsyncIteratorProtocol {
    let host: AgentHost
    private var last: AgentHostSnapshot?

    init(host: AgentHost) { self.host = host }

    /// The next snapshot; nil when the host's run is over or the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Never) -> AgentHostSnapshot? {
      guard let snapshot = await host.snapshot(otherThan: last) else { return nil }
      last = snapshot
      return snapshot
    }
  }
}

extension AgentHost {
  /// What the host does now.
  public func snapshot() -> AgentHostSnapshot {
    AgentHostSnapshot(
      of: name, leases, watch, reach.reached, answering: timing.lasting, at: clock.now(),
      epoch: clock.epoch)
  }

  /// Whether the host can do its work now.
  public var health: AgentHostHealth { snapshot().health }

  /// What the host does from now on, whenever that changes.
  public nonisolated func snapshots() -> AgentHostSnapshots { AgentHostSnapshots(host: self) }

  /// Waits for a snapshot that differs; nil behind the last one, or where the task is canceled.
  func snapshot(otherThan last: AgentHostSnapshot?) async -> AgentHostSnapshot? {
    while !Task.isCancelled {
      let version = changes.version
      let snapshot = snapshot()
      if snapshot != last { return snapshot }
      guard leases.phase != .over else { return nil }
      try? await changes.wait(after: version)
    }
    return nil
  }
}
