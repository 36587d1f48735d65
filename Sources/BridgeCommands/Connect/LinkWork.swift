import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeTransport
import BridgeWaiting

/// What a run does over its link while `ConnectRun` keeps the link up: a shell, a command,
/// messages, a durable session, one question to the host. It ends the run through its context.
protocol LinkWork<Link>: Sendable {
  /// The connection that it needs.
  associatedtype Link: RunLink

  /// Whether replacing a link that may still answer loses nothing.
  var losesNothing: Bool { get }

  /// Whether a link is of use to it when it is there, whatever comes over it.
  var servesWhileUp: Bool { get }

  /// What goes on beside the generations; canceled at the end of the run.
  func run() async

  /// Works on a generation that is in use from now on; canceled when that ends.
  func use(_ connection: Link, _ generation: Int) async

  /// How many links to the host it wants beside the first one, dialed once that is up; they are
  /// numbered from 1 on.
  var sideLinks: Int { get }

  /// Uses a generation of a link beside the first one from now on.
  func use(_ connection: Link, side: Int, _ generation: Int) async

  /// No other link of that number follows, because of `failure`: the work goes on without it.
  func giveUp(_ failure: CommandFailure, side: Int) async

  /// Keeps back what is typed or read while the link is only suspected.
  func hold(_ isHeld: Bool)

  /// How many typed bytes were sent and are not known to have reached the program.
  var untakenInput: Int { get async }

  /// Takes an event of the link in, after it was reported.
  func see(_ event: RecoveryEvent)

  /// How far it has come over the link of that number, 0 for the first one.
  func progress(over link: Int) async -> LinkUse.Progress

  /// No other link follows, because of `failure`.
  func giveUp(_ failure: CommandFailure) async

  /// Executes `~d`.
  func detach()
  /// Moves the window that is shown of a screen by a key of `ViewKeys`.
  func move(_ key: UInt8)

  /// Sends what was typed while the link was down, or drops it.
  func answer(sendsHeld: Bool)

  /// Passes on that Ctrl-C was typed; true where the run goes on until the work has ended.
  func interrupt() async -> Bool

  /// A signal, or input that cannot be read any more, ends the run before the work: `close`
  /// follows.
  func abandon()

  /// What the user should know when the run ends before its work did; nil for nothing.
  var farewell: String? { get }

  /// Ends the work in order while the link may still be up: a signal or the user ends the run.
  func close() async
}

extension LinkWork {
  func run() async {}

  func hold(_ isHeld: Bool) {}

  var untakenInput: Int { 0 }

  func see(_ event: RecoveryEvent) {}

  var servesWhileUp: Bool { false }

  func progress(over link: Int) async -> LinkUse.Progress { LinkUse.Progress() }

  var sideLinks: Int { 0 }

  func use(_ connection: Link, side: Int, _ generation: Int) async {}

  func giveUp(_ failure: CommandFailure, side: Int) async {}

  func detach() {}

  func answer(sendsHeld: Bool) {}

  func interrupt() async -> Bool { false }
  func move(_ key: UInt8) {}

  func abandon() {}

  var farewell: String? { nil }

  func close() async {}
}

/// Nothing runs on the link: it is only kept up (`-N`).
struct IdleWork: LinkWork {
  let context: RunContext

  var losesNothing: Bool { true }

  func use(_ connection: SSHConnection, _ generation: Int) async {
    await context.report(connection)
    let back = context.facts.withLock { $0.back }
    // In the background it gets no Ctrl-C.
    let first = context.detachment == nil ? "connected; Ctrl-C disconnects." : "connected."
    context.reporter.log("bridgectl: " + (back ?? first))
  }

  func giveUp(_ failure: CommandFailure) { context.finish(.failure(failure)) }
}
