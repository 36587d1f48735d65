/// All that follows from one kind of failure, in one place.
///
/// A column that a row does not name has the value that most rows have: tried again with backoff, a
/// dial that cost all of its tokens, and no remedy beside the one of the error's catalogue row.
package struct FailureRow: Sendable {
  /// The name in events and logs: `dropped`, `tls.expired`, `refusedUpgrade.503`.
  package let name: String
  /// What has happened, as a sentence.
  package let meaning: String
  /// What happens by itself after a connection that was up once.
  package let retry: RetryClass
  /// What happens by itself after the first dial.
  package let firstRetry: RetryClass
  /// The exit code of a program that ends with this failure.
  package let exit: ExitCode
  /// How a program ends that lost a running shell or command with the connection.
  package let sessionExit: ExitCode
  /// What a dial that ended so costs.
  package let cost: DialCost
  /// What stops until a person has decided.
  package let stops: FailureScope
  /// Which connections can end so.
  package let protocols: Protocols
  private let advice: @Sendable (FailureContext) -> String?

  /// The transports whose failures are classified as this kind.
  package enum Protocols: String, Sendable {
    case all = "all"
    case ssh = "SSH"
    case webSocket = "WebSocket"
  }

  init(
    _ name: String, _ meaning: String, _ protocols: Protocols = .all,
    retry: RetryClass = .reconnect, first: RetryClass? = nil, exit: ExitCode,
    endingSession: ExitCode? = nil, cost: DialCost = .spent, stops: FailureScope = .connection,
    remedy: String? = nil
  ) {
    self.init(
      name, meaning, protocols, retry: retry, first: first, exit: exit,
      endingSession: endingSession, cost: cost, stops: stops, advice: { _ in remedy })
  }

  init(
    _ name: String, _ meaning: String, _ protocols: Protocols = .all,
    retry: RetryClass = .reconnect, first: RetryClass? = nil, exit: ExitCode,
    endingSession: ExitCode? = nil, cost: DialCost = .spent, stops: FailureScope = .connection,
    advice: @escaping @Sendable (FailureContext) -> String?
  ) {
    self.name = name
    self.meaning = meaning
    self.protocols = protocols
    self.retry = retry
    firstRetry = first ?? retry
    self.exit = exit
    sessionExit = endingSession ?? exit
    self.cost = cost
    self.stops = stops
    self.advice = advice
  }

  /// What to do about a failure of this kind; nil where the error's own remedy says it.
  package func remedy(in context: FailureContext) -> String? { advice(context) }
}
