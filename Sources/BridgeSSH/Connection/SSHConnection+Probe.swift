import BridgeErrors
import BridgeReactor
import BridgeTransport

extension SSHConnection {
  func measureRoundTrip(within deadline: Duration) async throws(AppError) -> Duration {
    if let ending { throw AppError(sshError: ending) }
    guard life.state == .connected else {
      throw .internalError(detail: "A probe was requested before the connection was up.")
    }
    let begun = ContinuousClock.now
    let outcome: Outcome<Void> = await wait(phase: .stream, within: deadline) {
      connection, id, answer in
      if connection.operations.hasFar || connection.hasBacklog {
        connection.hear(id) { answer(.success(())) }
      } else {
        connection.queueRoundTrip(id) { answer(.success(())) }
      }
      connection.pump()
    }
    switch outcome {
    case .success:
      let time = ContinuousClock.now - begun
      record(roundTrip: time)
      return time
    case .failure(var failure) where failure.observation == .deadline:
      (failure.timeout, failure.limit) = (deadline.wholeSeconds, deadline)
      throw AppError(sshError: failure)
    case .failure(let failure):
      throw AppError(sshError: failure)
    }
  }

  /// Whether a question would wait behind so much that its answer may take a minute.
  var hasBacklog: Bool {
    session?.wire.carrier.unsent ?? 0 > Self.mostBacklog
  }

  /// Bytes before a question that a slow way of 2 kB/s takes in half of that minute.
  private static let mostBacklog = 64 << 10

  /// A round trip where an open holds the session's one place for questions and its answer depends
  /// on a third machine, perhaps for minutes, or on a slow way: a global request that the server
  /// refuses.
  ///
  /// libssh2 1.10 keeps the refusal forever, so this is not the usual way; and it takes it for the
  /// answer to its next request of a port. There what was sent is to be answered: the server opens
  /// the window again for what it takes.
  private func hear(_ id: Int, heard: @escaping () -> Void) {
    hearers.append((id, heard))
    if !asksForPorts { session?.sendKeepalive(wantsReply: true) }
  }

  /// Something came from the server.
  func answerHearers() {
    guard !hearers.isEmpty else { return }
    let heard = hearers
    hearers = []
    for hearer in heard where callers.take(hearer.id) != nil { hearer.heard() }
  }

  /// A request whose refusal is the answer. The operation goes on when its caller has gone: what is
  /// asked must be answered before the next may ask.
  ///
  /// libssh2 gives up an open after a minute in which the answer did not come, and cannot tell a
  /// late answer from that to a later open: the connection ends with it. But it looks at the clock
  /// only when it finds nothing to read, so it is not called before there is something.
  func queueRoundTrip(_ id: Int, done: @escaping @Sendable () -> Void) {
    guard let session else { return }
    var begun: ContinuousClock.Instant?
    var seen = 0
    let step = OperationQueue.Step.onLoop { connection in
      let wire = session.wire
      guard begun == nil || wire.generation != seen || wire.mayGive else { return false }
      let begin = begun ?? .now
      begun = begin
      let result = session.roundTrip()
      seen = wire.generation
      switch result {
      case .again:
        return false
      case .done(let accepted):
        if connection.callers.take(id) != nil { done() }
        if let accepted { connection.close(accepted: accepted) }
        return true
      case .failed(let code, let text):
        var failure = connection.failure(code: code, text: text, phase: .stream)
        failure.timeout = max(1, Int((ContinuousClock.now - begin) / .seconds(1)))
        connection.fail(id, with: failure)
        return true
      }
    }
    operations.append(
      .init(id: id, channel: nil, phase: .stream, timeout: nil, step: step),
      to: .session)
  }

  /// Closes a channel that was only to be refused. A server that does not confirm the end of such
  /// channels is given up before they are many.
  private func close(accepted channel: NativeChannel) {
    closing.append(channel)
    guard closing.count > Self.mostClosing else { return }
    end(
      now: failure(
        code: .protocolError, text: "the server accepts channels and does not close them",
        phase: .stream))
  }

  /// How many channels may wait for the server to close them when a probe adds one.
  private static let mostClosing = 64

  /// The fastest one tells the distance; the others tell of load.
  func record(roundTrip time: Duration) {
    roundTrip = min(time, roundTrip ?? time)
  }
}
