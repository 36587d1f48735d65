import BridgeReactor
public import BridgeTransport

extension SSHConnection {
  /// Paused only while what was read before waits for slow readers and more would be held without a
  /// bound: a channel without a reader fills its own window, and a probe passes beside it.
  public var traffic: TrafficState {
    guard let wire = session?.wire else { return TrafficState() }
    let isBastionPaused = bastion?.assumeIsolated { $0.traffic.isPaused } ?? false
    return TrafficState(
      isPaused: wire.isPaused || isBastionPaused, acknowledged: wire.carrier.acknowledged)
  }
}
