import BridgeErrors
import BridgeReactor
import BridgeTransport

extension WebSocketConnection {
  /// The kernel reports in its own ticks when bytes arrived, as much as this too late.
  private static let tick = Duration.milliseconds(10)

  func measureRoundTrip(within deadline: Duration) async throws(AppError) -> Duration {
    if let ending { throw AppError(webSocketFailure: ending) }
    guard life.state == .connected else {
      throw .internalError(detail: "A probe was requested before the connection was up.")
    }
    let begun = ContinuousClock.now
    let outcome: Outcome<Void> = await wait(phase: .stream, within: deadline) {
      connection, id, answer in
      connection.probes.insert({ answer(.success(())) }, as: id)
      connection.webSocket?.ping(id)
    }
    switch outcome {
    case .success:
      return ContinuousClock.now - begun
    case .failure(let failure) where failure.observation == .deadline:
      unanswered = begun + Self.tick
      throw .webSocketPingTimeout
    case .failure(let failure):
      throw AppError(webSocketFailure: failure)
    }
  }

  func awaitDelivery(within deadline: Duration?) async throws(AppError) {
    if let ending { throw AppError(webSocketFailure: ending) }
    var refusal: AppError?
    let outcome: Outcome<Void> = await wait(phase: .stream, within: deadline) {
      connection, id, answer in
      connection.probes.insert({ answer(.success(())) }, as: id)
      do throws(AppError) {
        try connection.sendQueue.append(ping: .init(ping: id))
      } catch {
        refusal = error
        connection.answer(id, with: .cancelled, in: .stream)
      }
    }
    if let refusal { throw refusal }
    guard case .failure(let failure) = outcome else { return }
    // The ping may not even be written: that says nothing about the server.
    if failure.observation == .deadline { throw .webSocketPingTimeout }
    throw AppError(webSocketFailure: failure)
  }
}
