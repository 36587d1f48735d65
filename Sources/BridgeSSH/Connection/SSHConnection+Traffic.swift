import BridgeReactor
public import BridgeTransport

extension SSHConnection {
  /// Never paused as a whole: a channel that nobody reads fills its own window, and a probe passes
  /// beside it.
  public var traffic: TrafficState {
    TrafficState(acknowledged: session?.wire.socket.acknowledged ?? 0)
  }
}
