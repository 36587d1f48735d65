extension FailureKind: CustomStringConvertible {
  /// The name in events and logs: `dropped`, `tls.expired`, `refusedUpgrade.503`.
  public var description: String {
    switch self {
    case .nameUnknown: "nameUnknown"
    case .nameTimeout: "nameTimeout"
    case .offline: "offline"
    case .refused: "refused"
    case .unreachable: "unreachable"
    case .dialTimeout: "dialTimeout"
    case .localResource: "localResource"
    case .silent: "silent"
    case .throttled: "throttled"
    case .dropped: "dropped"
    case .notTheProtocol: "notTheProtocol"
    case .algorithmMismatch: "algorithmMismatch"
    case .corrupted: "corrupted"
    case .hostKeyProof: "hostKeyProof"
    case .rejected: "rejected"
    case .hostKeyUnknown: "hostKeyUnknown"
    case .hostKeyChanged: "hostKeyChanged"
    case .hostKeyNewType: "hostKeyNewType"
    case .authenticationRefused: "authenticationRefused"
    case .keyUnusable: "keyUnusable"
    case .agentUnavailable: "agentUnavailable"
    case .channelDenied: "channelDenied"
    case .targetRefused: "targetRefused"
    case .outcomeUnknown: "outcomeUnknown"
    case .linkLost: "linkLost"
    case .linkSilent: "linkSilent"
    case .internalFault: "internalFault"
    case .tls(let cause): "tls.\(cause.rawValue)"
    case .refusedUpgrade(let status): "refusedUpgrade.\(status)"
    case .closedByPeer: "closedByPeer"
    case .closedByApplication: "closedByApplication"
    case .cancelled: "cancelled"
    }
  }
}
