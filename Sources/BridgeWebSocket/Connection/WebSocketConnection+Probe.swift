import BridgeErrors
import BridgeReactor
import BridgeTransport

extension WebSocketConnection {
  func measureRoundTrip(within deadline: Duration) async throws(AppError) -> Duration {
    if let ending { throw AppError(webSocketFailure: ending) }
    guard life.state == .connected else {
      throw .internalError(detail: "A probe was asked for before the connection was there.")
    }
    let begun = ContinuousClock.now
    let outcome: Outcome<Void> = await wait(phase: .stream, within: deadline) {
      connection, id, answer in
      connection.probes.insert({ answer(.success(())) }, as: id)
      connection.link?.ping(ProbeTable.payload(id))
    }
    switch outcome {
    case .success:
      return ContinuousClock.now - begun
    case .failure(let failure) where failure.observation == .deadline:
      unanswered = begun
      throw .webSocketPingTimeout
    case .failure(let failure):
      throw AppError(webSocketFailure: failure)
    }
  }
}
