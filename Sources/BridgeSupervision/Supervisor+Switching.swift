public import BridgeErrors
public import BridgeTransport

extension Supervisor {
  /// Changes what is lost when a live connection is replaced, from now on: some work knows only
  /// once it is connected whether it outlives its link.
  public func setSwitching(_ cost: LivenessPolicy.SwitchingCost, for id: ConnectionID) {
    guard plans[id]?.options.liveness?.switching != cost else { return }
    plans[id]?.options.liveness?.switching = cost
    if var policy = watches[id]?.liveness.policy {
      policy.switching = cost
      watches[id]?.liveness.policy = policy
    }
  }
}
