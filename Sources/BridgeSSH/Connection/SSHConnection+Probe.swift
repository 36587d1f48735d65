import BridgeErrors
import BridgeReactor
import BridgeTransport

extension SSHConnection {
  func measureRoundTrip(within deadline: Duration) async throws(AppError) -> Duration {
    if let ending { throw AppError(sshError: ending) }
    guard life.state == .connected else {
      throw .internalError(detail: "A probe was asked for before the connection was there.")
    }
    let begun = ContinuousClock.now
    let outcome: Outcome<Void> = await wait(phase: .stream, within: deadline) {
      connection, id, answer in
      connection.queueRoundTrip(id) { answer(.success(())) }
      connection.pump()
    }
    switch outcome {
    case .success:
      let time = ContinuousClock.now - begun
      note(roundTrip: time)
      return time
    case .failure(var failure) where failure.observation == .deadline:
      failure.timeout = max(1, Int((deadline / .seconds(1)).rounded(.up)))
      throw AppError(sshError: failure)
    case .failure(let failure):
      throw AppError(sshError: failure)
    }
  }

  /// A request whose refusal is the answer. The operation goes on when its caller has gone: what is
  /// asked must be answered before the next may ask.
  func queueRoundTrip(_ id: Int, done: @escaping @Sendable () -> Void) {
    guard let session else { return }
    var isBegun = false
    let step = OperationQueue.Step.onLoop { connection in
      if !isBegun { session.prepareOpen() }
      isBegun = true
      switch session.roundTrip() {
      case .again:
        return false
      // libssh2's own patience of a minute: how long is waited is decided elsewhere.
      case .failed(-9, _):
        return false
      case .done:
        if connection.callers.take(id) != nil { done() }
        return true
      case .failed(let code, let text):
        connection.fail(id, with: connection.failure(code: code, text: text, phase: .stream))
        return true
      }
    }
    operations.append(
      .init(id: id, channel: nil, phase: .stream, timeout: nil, step: step),
      to: .session)
  }

  /// The fastest one tells the distance; the others tell of load.
  func note(roundTrip time: Duration) {
    roundTrip = min(time, roundTrip ?? time)
  }
}
