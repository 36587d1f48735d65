import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting
import BridgeWebSocket

/// `ws://` and `wss://`: messages instead of a shell.
final class MessageWork: LinkWork {
  /// A WebSocket connection that is in use.
  private struct Opened: Sendable {
    let connection: WebSocketConnection
    let generation: Int
  }

  /// Links that ended when all of the input had been sent.
  private struct LinksAfterInput {
    var isUp = false
    private var lost = 0
    private static let limit = 3

    /// Counts a link that was up; true where it was one too many.
    mutating func lose() -> Bool {
      if isUp { lost += 1 }
      isUp = false
      return lost >= Self.limit
    }
  }

  private let context: RunContext
  private let messages: MessageSession
  /// Connections whose messages are to be written out, oldest first.
  private let links: AsyncStream<Opened>
  private let opened: AsyncStream<Opened>.Continuation
  private let afterInput = Mutex(LinksAfterInput())
  /// How the run ends once all that came is written.
  private let outcome = Mutex(CommandFailure?.none)

  init(_ context: RunContext) {
    self.context = context
    let framing = MessageFraming(
      isBinary: context.request.messages?.isBinary ?? false,
      isForTerminal: context.local.outputIsTerminal)
    messages = MessageSession(
      framing: framing, input: context.input, output: context.output, reporter: context.reporter,
      clock: context.clock, on: context.reactor)
    (links, opened) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(16))
  }

  var losesNothing: Bool { context.request.recovery.isIdempotent }

  func hold(_ isHeld: Bool) { messages.hold(isHeld) }

  func giveUp(_ failure: CommandFailure) {
    outcome.withLock { $0 = failure }
    opened.finish()
  }

  /// Sends over a generation until it ends; `run` receives the messages.
  func use(_ connection: WebSocketConnection, _ generation: Int) async {
    let (reporter, settings) = (context.reporter, context.settings)
    reporter.event(
      .connected(host: settings.endpoint.host, port: settings.endpoint.port, user: nil, nil))
    if generation == 1, context.local.inputIsTerminal {
      reporter.log("bridgectl: connected; each line is sent as a message, Ctrl-D ends.")
    }
    let link = Opened(connection: connection, generation: generation)
    if case .dropped = opened.yield(link) {
      reporter.warn("standard output is so slow that the messages of a connection were lost")
    }
    if let end = await messages.send(to: connection, generation) {
      warnOfDoubt(generation)
      return finish(end)
    }
    await warnOfDoubt(about: connection, generation)
  }

  /// Says that messages flow again: a shell's prompt would, messages need not come. After the input
  /// a few links more may bring answers, and a server that closes them all will not.
  func see(_ event: RecoveryEvent) {
    switch event.step {
    case .recovered(let time, let attempts, let isFirst):
      afterInput.withLock { $0.isUp = true }
      if !isFirst { context.reporter.log("bridgectl: \(LinkStatus.back(after: time, attempts))") }
    case .failed(let failure):
      guard messages.isAllSent else { return afterInput.withLock { $0.isUp = false } }
      if afterInput.withLock({ $0.lose() }) { giveUp(CommandFailure(failure)) }
    default: break
    }
  }

  /// What went into a link that was lost may be lost too: only the server knows. Of one that
  /// was closed as agreed that is known when all that came over it was read.
  private func warnOfDoubt(about connection: WebSocketConnection, _ generation: Int) async {
    guard await connection.lastFailure?.kind != .closedByPeer else { return }
    warnOfDoubt(generation)
  }

  private func warnOfDoubt(_ generation: Int) {
    let count = messages.takeDoubtful(of: generation)
    guard count > 0, !context.facts.withLock({ $0.isOver }) else { return }
    let subject = count == 1 ? "a message that was" : "\(count) messages that were"
    context.reporter.warn("\(subject) sent just before may not have arrived; not sent again")
  }

  /// Writes out the messages of all generations, one after the other and each to its last: not
  /// canceled when a generation ends, for what has come is written even so. Then says how the run
  /// ended, where there is no more to come.
  func run() async {
    var last: Opened?
    for await link in links {
      last = link
      if let end = await messages.receive(from: link.connection, link.generation) { finish(end) }
    }
    guard let failure = outcome.withLock({ $0 }) else { return }
    guard let last else { return context.finish(.failure(failure)) }
    let isAgreed = await last.connection.lastFailure?.kind == .closedByPeer
    if !isAgreed || !messages.isAnswered(last.generation) { warnOfDoubt(last.generation) }
    context.finish(conclusion(failure))
  }

  private func finish(_ ending: MessageSession.End) {
    switch ending {
    case .finished: context.finish(conclusion(nil))
    case .outputClosed: context.finish(context.outputEnding)
    case .badInput(let error): context.fail(error)
    }
  }

  /// How the run ends after `failure`, or without one: in success only where every message that was
  /// read is known to have arrived.
  private func conclusion(_ failure: CommandFailure?) -> RunContext.Ending {
    let report = messages.report(isInputTerminal: context.local.inputIsTerminal)
    if let notSent = report.notSent { context.reporter.warn(notSent) }
    if var failure, failure.exitCode != 0 {
      failure.hasDoubtfulMessages = report.doubtful > 0
      return .failure(failure)
    }
    guard let sentence = report.sentence else {
      return failure.map { .failure($0) } ?? .success(.success)
    }
    var code: Int?
    if case .webSocketDisconnected(let seen, _) = failure?.error { code = seen }
    let context = FailureContext(
      kind: .outcomeUnknown, phase: .stream, host: context.settings.endpoint.host,
      port: context.settings.endpoint.port)
    return .failure(
      CommandFailure(
        error: .webSocketDisconnected(code: code, reason: sentence), context: context))
  }
}
