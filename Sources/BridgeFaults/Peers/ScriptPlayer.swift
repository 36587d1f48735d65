import NIOCore

/// Takes the steps of a script on one socket. Lives on the socket's loop.
final class ScriptPlayer {
  let channel: any Channel
  private var run: ScriptRun
  private let start: NIODeadline
  private let done: () -> Void
  private var isReading = true
  private var clientFinished = false
  private var isDone = false
  private var isStopped = false
  private var hasWake = false

  /// Steps in one go, before other work of the loop gets its turn.
  private static let burst = 64

  /// Plays the script on the channel, with times counted from `start`; `done` is called once,
  /// when the last step is taken.
  init(
    _ script: PeerScript, on channel: any Channel, start: NIODeadline, done: @escaping () -> Void
  ) {
    self.channel = channel
    self.start = start
    self.done = done
    run = ScriptRun(script)
  }

  /// Takes bytes of the client, for the steps that wait for them.
  func take(_ bytes: [UInt8]) {
    run.take(bytes)
    play()
  }

  /// The client sent its FIN; once the script has nothing more to say the socket is closed.
  func clientDidFinish() {
    clientFinished = true
    play()
  }

  /// Reads on, unless a step says not to.
  func readMore() {
    if isReading { channel.read() }
  }

  /// The socket is closed: the rest of the script is dropped.
  func stop() { isStopped = true }

  /// Takes the steps that can be taken now.
  func play() {
    for _ in 0..<Self.burst where !isStopped {
      switch run.next(at: now, hasSpace: channel.isWritable) {
      case .write(let bytes): channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
      case .wake(let due): return wake(at: due)
      case .stopReading: isReading = false
      case .finish: afterWrites { $0.close(mode: .output, promise: nil) }
      case .reset: return afterWrites { $0.closeWithReset() }
      case .awaitSpace: return
      case .awaitBytes: return closeIfClientFinished()
      case .done:
        if !isDone { done() }
        isDone = true
        return closeIfClientFinished()
      }
    }
    if !isStopped { wake(at: now) }
  }

  private var now: Duration { .nanoseconds((NIODeadline.now() - start).nanoseconds) }

  private func closeIfClientFinished() {
    if clientFinished { channel.close(promise: nil) }
  }

  /// An empty write is done when all before it is.
  private func afterWrites(_ act: @escaping @Sendable (any Channel) -> Void) {
    let channel = channel
    channel.writeAndFlush(ByteBuffer()).whenComplete { _ in act(channel) }
  }

  private func wake(at due: Duration) {
    guard !hasWake else { return }
    hasWake = true
    channel.eventLoop.assumeIsolated().scheduleTask(deadline: start + TimeAmount(due)) {
      self.hasWake = false
      self.play()
    }
  }
}
