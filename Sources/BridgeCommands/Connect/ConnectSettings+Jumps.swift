import BridgeErrors
import BridgeSSH
import BridgeTransport

extension ConnectSettings {
  /// The jump host that a failure is about; nil where it is the host's, or no host's.
  func jumpHost(in failure: FailureContext?) -> CommandFailure.JumpHost? {
    guard let failure, !host.isMeant(by: failure),
      let index = host.jumps.firstIndex(where: { $0.isMeant(by: failure) })
    else { return nil }
    let place = host.jumps.count > 1 ? " \(index + 1) of \(host.jumps.count)" : ""
    let hop = host.jumps[index]
    let name = hop.givenHost == hop.endpoint.host ? "" : "\(hop.givenHost) "
    let address = name.isEmpty ? "\(hop.endpoint)" : "(\(hop.endpoint))"
    return CommandFailure.JumpHost(
      login: SSHWords.Login(user: hop.user, host: hop.endpoint.host),
      words: "jump host\(place) on the way to \(host.givenHost) failed: \(name)\(address).")
  }
}

extension HostSettings {
  /// Whether `failure` is about this host, which it names as the user did.
  fileprivate func isMeant(by failure: FailureContext) -> Bool {
    guard (failure.address ?? failure.host) == endpoint.host, failure.port == endpoint.port else {
      return false
    }
    // Two accounts of one machine, where one leads to the other.
    guard failure.kind == .authenticationRefused, let refused = failure.detail else { return true }
    return refused == user
  }
}
