/// What happens by itself after a failure: a column of the failure table.
public enum RetryClass: String, Sendable, CaseIterable {
  /// Reconnect; delays stay under one second, because nothing answers yet.
  case reconnectSoon
  /// Wait until the network is back, then as `reconnectSoon`.
  case awaitNetwork
  /// Reconnect with backoff to 30 seconds.
  case reconnect
  /// Reconnect after at least 15 seconds, or the wait that the server requires, doubling to 600
  /// seconds.
  case reconnectLater
  /// One more try on a new session, then only a person.
  case reconnectOnce
  /// Run the operation again, after 2, 4 and 8 seconds.
  case repeatOperation
  /// Wait as long as the peer requires (or until it is free), then run the operation again.
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
    case .reconnectLater:
      "reconnects after 15 s or the wait that the server requires, doubling to 10 min"
    case .reconnectOnce: "tries once more on a new session, then asks"
    case .repeatOperation: "tries again after 2, 4 and 8 s"
    case .waitThenRepeat: "waits as long as it must, then tries again"
    case .needsPerson: "waits for your choice"
    case .never: "is not tried again"
    }
  }
}
