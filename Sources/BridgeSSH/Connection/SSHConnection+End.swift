import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting

extension SSHConnection {
  /// Takes `input` into the connection's life and does what follows from it.
  func step(_ input: ConnectionStateMachine.Input) {
    if life.step(input) { tearDown() }
  }

  /// Ends the connection because of `failure`. The first cause counts.
  func end(now failure: SSHFailure) {
    guard ending == nil else { return }
    ending = failure
    let failed = failure.typed
    lastFailure = failed.context
    publishLoss()
    step(.fail(failed))
  }

  /// Ends the connection when its socket has ended or when nothing that comes can be believed any
  /// more: noticed here for all calls, because some of libssh2's do not report it.
  func endIfBroken() {
    guard ending == nil, let session else { return }
    let broken =
      session.brokenBy
      ?? (session.wire.hasEnded && !session.wire.reportsEnd
        ? (.socketReceive, "") : nil)
    guard let (code, text) = broken else { return }
    for group in operations.busyGroups where ending == nil {
      guard let operation = operations.first(of: group) else { continue }
      fail(operation.id, with: failure(code: code, text: text, phase: operation.phase))
    }
    if ending == nil { end(now: failure(code: code, text: text, phase: .stream)) }
  }

  /// Disconnects at the owner's request.
  func disconnect() async {
    if ending == nil {
      ending = failure(observation: .cancelled, phase: .close)
      if !mayHoldInput { session?.sendDisconnect() }
      // Nothing is torn down before the first step: a caller that waits for known_hosts is resumed
      // here.
      if life.state == .idle, let ending {
        for caller in callers.takeAll() { caller.fail(ending) }
      }
      step(.close)
    }
    guard isUsedElsewhere else { return }
    let released = Promise<Void>()
    let timer = LoopTimer(after: configuration.timeouts.close, on: reactor) {
      released.fulfill()
    }
    whenReleased.append {
      timer.cancel()
      released.fulfill()
    }
    await released.value()
  }

  /// Whether the server may have input of a channel that it has not passed on. sshd forgets it when
  /// it reads a disconnect message (packet.c), and writes it before it sees the end of the stream
  /// (serverloop.c).
  private var mayHoldInput: Bool {
    channels.values.contains { $0.native.hasInput } || closing.contains(where: \.hasInput)
  }

  /// Whether the program of a channel gets what is written last, although the connection is closed
  /// before anything answers: as far as is known, only OpenSSH writes it first.
  package var deliversLastInput: Bool {
    guard proxy == nil, identification.versionLine?.hasPrefix("SSH-2.0-OpenSSH_") == true else {
      return false
    }
    return bastion?.assumeIsolated { $0.deliversLastInput } ?? true
  }

  /// Whether a person notices a round trip.
  package var isFar: Bool { roundTrip.map { $0 > .milliseconds(10) } ?? false }

  /// Resumes all callers, then releases session and descriptor – unless a helper thread or a dial
  /// has them, which gives them back when it is done and is made to end.
  private func tearDown() {
    guard let ending else { return }
    drainChannels()
    for channel in Array(channels.values) { settle(channel, with: ending) }
    for caller in callers.takeAll() { caller.fail(ending) }
    operations.removeAll()
    turns.readUnrequested()?.cancel()
    starting = [:]
    closing = []
    listeners = []
    if case .helper(let session, _) = owner {
      promptExchange?.cancel()
      session.wire.carrier.shutDown()
    } else if case .underWay(let task) = dialing {
      task.cancel()
    } else {
      release()
    }
  }

  /// Whether a helper thread or a dial has what must be released at the end.
  private var isUsedElsewhere: Bool {
    if case .helper = owner { return true }
    if case .underWay = dialing { return true }
    return false
  }

  func release() {
    owner.release()?.release()
    dialing.takeSocket()?.close()
    let waiters = whenReleased
    whenReleased = []
    for waiter in waiters { waiter() }
    step(.tornDown)
  }
}
