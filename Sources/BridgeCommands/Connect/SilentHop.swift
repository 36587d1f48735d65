import BridgeErrors
package import BridgeRecovery
package import BridgeTransport

/// The first host on the way that is silent now: nothing behind it has an answer in time either.
package struct SilentHop: Sendable {
  /// Its number, from 0.
  package private(set) var index: Int?
  private var since = ContinuousClock.now

  /// None is.
  package init() {}

  /// Takes in a step of the link to the host with this number.
  package mutating func see(
    _ step: RecoveryEvent.Step, of hop: Int, at now: ContinuousClock.Instant
  ) {
    switch step {
    case .suspected(let time) where index.map({ hop <= $0 }) ?? true:
      (index, since) = (hop, now - time)
    case .cleared, .recovered, .failed, .switched:
      if index == hop { index = nil }
    default: break
    }
  }

  /// What a link has failed by: the silence, where it is behind that and had no answer in time.
  /// Where none is known, because the keepalive of the hosts on the way is slower than the dial,
  /// the last one before the link is named as what it may be, too.
  ///
  /// - Parameters:
  ///   - link: the number of the host on the way; nil for a link to the host itself.
  ///   - hops: the hosts on the way, as the user named them and as they are reached.
  package func failure(
    of link: Int?, _ failure: CommandFailure, at now: ContinuousClock.Instant,
    _ hops: [(name: String, endpoint: Endpoint)]
  ) -> CommandFailure {
    guard case .sshTimeout = failure.error else { return failure }
    guard let index, hops.indices.contains(index), link.map({ $0 > index }) ?? true else {
      return unknown(failure, behind: hops.prefix(link ?? hops.count).last?.name)
    }
    let hop = hops[index]
    let seconds = Int((now - since) / .seconds(1))
    return CommandFailure(
      error: .sshTimeout(seconds: seconds),
      context: FailureContext(
        kind: .linkSilent, phase: .stream, host: hop.name, address: hop.endpoint.host,
        port: hop.endpoint.port), endsSession: failure.endsSession)
  }

  private func unknown(_ failure: CommandFailure, behind hop: String?) -> CommandFailure {
    guard let hop, failure.context?.kind == .dialTimeout else { return failure }
    var failure = failure
    failure.remedy = CommandAdvice.toReachBehind(hop)
    return failure
  }
}
