/// What may happen by itself after a failure: the action column of the failure table.
public enum RetryClass: String, Sendable, CaseIterable {
  /// Reconnect; delays stay under one second, because nothing answers yet.
  case reconnectSoon
  /// Wait until the network is back, then as `reconnectSoon`.
  case awaitNetwork
  /// Reconnect with backoff to 30 seconds.
  case reconnect
  /// Reconnect after at least 15 seconds, or what the server asks for, doubling to 600 seconds.
  case reconnectLater
  /// One more try on a new session, then only a person.
  case reconnectOnce
  /// Run the operation again, after 2, 4 and 8 seconds.
  case repeatOperation
  /// Wait as long as the other side asks for (or until it is free), then run the operation again.
  case waitThenRepeat
  /// Only a person can help; nothing is tried until one chooses.
  case needsPerson
  /// Trying again cannot help.
  case never
}

extension RetryClass {
  /// Whether anything happens without a person.
  public var isAutomatic: Bool {
    switch self {
    case .needsPerson, .never: false
    case .reconnectSoon, .awaitNetwork, .reconnect, .reconnectLater, .reconnectOnce,
      .repeatOperation, .waitThenRepeat:
      true
    }
  }

  /// What it means, in words for the catalogue.
  public var explanation: String {
    switch self {
    case .reconnectSoon: "reconnects, at most 1 s between tries"
    case .awaitNetwork: "waits for the network, then reconnects"
    case .reconnect: "reconnects, with backoff to 30 s"
    case .reconnectLater: "reconnects after 15 s or what the server asks for, doubling to 10 min"
    case .reconnectOnce: "tries once more on a new session, then asks"
    case .repeatOperation: "tries again after 2, 4 and 8 s"
    case .waitThenRepeat: "waits as long as it must, then tries again"
    case .needsPerson: "waits for your choice"
    case .never: "is not tried again"
    }
  }
}

extension FailureKind {
  /// What is done about a connection that failed for this reason.
  ///
  /// - Parameter isFirstDial: whether this connection was never up.
  public func retryClass(isFirstDial: Bool = false) -> RetryClass {
    switch self {
    case .nameUnknown: isFirstDial ? .never : .reconnect
    case .nameTimeout, .dialTimeout, .localResource, .silent, .dropped, .linkLost, .linkSilent,
      .outcomeUnknown, .closedByApplication:
      .reconnect
    case .offline: .awaitNetwork
    case .refused, .unreachable, .targetRefused: .reconnectSoon
    case .throttled: .reconnectLater
    case .corrupted, .internalFault: .reconnectOnce
    // A login page in between goes away, and the host that has been there is the same.
    case .notTheProtocol: isFirstDial ? .needsPerson : .reconnectLater
    case .hostKeyProof, .hostKeyUnknown, .hostKeyChanged, .hostKeyNewType,
      .authenticationRefused, .keyUnusable, .agentUnavailable, .tls:
      .needsPerson
    case .algorithmMismatch, .rejected, .channelDenied, .closedByPeer, .cancelled: .never
    case .refusedUpgrade(let status): Self.retryClass(upgradeStatus: status)
    }
  }

  private static func retryClass(upgradeStatus: Int) -> RetryClass {
    switch upgradeStatus {
    case 404: .never
    case 429: .reconnectLater
    case 500...599: .reconnect
    default: .needsPerson
    }
  }

  /// Whether every other dial to the same host stops as well, until a person has decided.
  public var stopsHost: Bool { self == .hostKeyChanged }
}
