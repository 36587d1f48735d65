import BridgeDiagnostics
import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// What one run over a link shares with the work on it.
struct RunContext: Sendable {
  /// How a run ends.
  typealias Ending = Result<ExitCode, CommandFailure>

  let request: ConnectRequest
  let settings: ConnectSettings
  let local: LocalEnvironment
  let reporter: Reporter
  let reactor: Reactor
  let output = DescriptorWriter(1)
  /// Standard input. A read that fails ends the run: a part of a file must not be taken for all of
  /// it.
  let input: DescriptorReader
  let clock = ContinuousClock()
  /// The user's keyboard, where a shell may own it.
  let keyboard: Keyboard?
  /// The terminal on standard output, where it is one.
  let screen: OutputScreen?
  let view: LinkView
  let resizes = Resizes()
  let facts: Mutex<LinkFacts>
  let counters = Counters()
  /// How the run goes to the background, where it does.
  let detachment: Detachment?
  /// What shares the connection with other runs, where that is wanted.
  let sharing: (any ConnectionSharer)?
  /// The first ending counts.
  let endings: AsyncStream<Ending>
  let end: AsyncStream<Ending>.Continuation

  /// A context whose keyboard may be owned by a shell where it is `interactive`, and whose
  /// connection is shared by what `share` makes.
  init(
    request: ConnectRequest, settings: ConnectSettings, local: LocalEnvironment,
    reporter: Reporter, reactor: Reactor, interactive: Bool,
    share: ((RunBeginning.Sharing) -> any ConnectionSharer)? = nil
  ) {
    self.request = request
    self.settings = settings
    self.local = local
    self.reporter = reporter
    self.reactor = reactor
    detachment = request.detachDescriptor.map { descriptor in
      let hasPorts = settings.forwards.contains { $0.side == .remote }
      return Detachment(
        to: descriptor, isIdle: request.isIdle,
        waitsForForwards: hasPorts && settings.exitsOnForwardFailure)
    }
    let tilde: UInt8? = if case .byte(let byte) = settings.escape { byte } else { nil }
    let keyboard = interactive && local.inputIsTerminal ? Keyboard(tilde: tilde) : nil
    self.keyboard = keyboard
    if keyboard == nil, local.inputIsTerminal { reporter.makeSpaceForTyping() }
    let screen = Self.outputScreen(reporter.style, local, hasKeyboard: keyboard != nil)
    self.screen = screen
    reporter.draw(on: screen)
    view = LinkView(
      host: PeerText.escaped(settings.givenHost, limit: 128), reporter: reporter,
      keyboard: keyboard, reactor: reactor, clock: clock,
      isUnicode: local.isUnicode,
      retriesFirstDial: request.recovery.wait != nil,
      jumpHost: { settings.jumpHost(in: $0) })
    facts = Mutex(LinkFacts(retriesFirstDial: request.recovery.wait != nil))
    let (endings, end) = AsyncStream.makeStream(
      of: Ending.self, bufferingPolicy: .bufferingOldest(1))
    (self.endings, self.end) = (endings, end)
    sharing = share?(
      RunBeginning.Sharing(
        reporter: reporter, isIdle: request.isIdle, reactor: reactor,
        // What it does itself has not ended, then.
        end: {
          end.yield(
            .success(request.isIdle ? .success : ExitCode(rawValue: ExitReport.failureOfSSH)))
        }))
    input = DescriptorReader(0) { errno in
      end.yield(.failure(CommandFailure(error: StandardInput.error(errno))))
    }
  }

  /// The host, escaped for a person.
  var host: String { PeerText.escaped(settings.givenHost, limit: 128) }

  /// How the run ends when standard output takes no more.
  var outputEnding: Ending {
    let error = StandardOutput.error(output.failure, isTerminal: local.outputIsTerminal)
    return error.map { .failure(CommandFailure(error: $0)) } ?? .success(.outputClosed)
  }

  func finish(_ ending: Ending) { end.yield(ending) }

  func fail(_ error: AppError, _ context: FailureContext? = nil) {
    finish(.failure(CommandFailure(error: error, context: context)))
  }

  /// The user ended the link: no error.
  func logDisconnect() {
    reporter.log("bridgectl: disconnected from \(host).")
  }

  /// Says that the link is back, where `event` is that.
  func reportReturn(_ event: RecoveryEvent) {
    guard case .recovered(let time, let attempts, isFirst: false) = event.step else { return }
    reporter.log("bridgectl: \(LinkStatus.back(after: time, attempts))")
  }

  /// Reports the negotiated algorithms and the problems beside them.
  func report(_ connection: SSHConnection) async {
    let agreement = await connection.agreement
    reporter.event(
      .connected(
        host: settings.endpoint.host, port: settings.endpoint.port, user: settings.user,
        agreement.map { CommandEvent.Algorithms($0) }))
    reporter.detail("bridgectl: connected" + (agreement.map { ": \($0.words)" } ?? ""))
    await reportProblems(of: connection, settings.host)
  }

  /// Reports the problems beside the connection to the host of `settings`, and a host key that was
  /// added.
  func reportProblems(of connection: SSHConnection, _ settings: HostSettings) async {
    for problem in await connection.warnings {
      let reason = PeerText.escaped(problem.shownMessage())
      reporter.warn("the host key could not be saved: \(reason)")
    }
    if let key = await connection.addedHostKey { report(key, of: settings) }
  }

  /// An added host key is worth a line to a person; a script finds it among the events.
  private func report(_ key: AddedHostKey, of settings: HostSettings) {
    let file = PeerText.escaped(key.file)
    let host = PeerText.escaped(settings.givenHost)
    reporter.event(
      .hostKeyAdded(
        host: settings.endpoint.host, port: settings.endpoint.port, keyType: key.keyType,
        fingerprint: key.fingerprint, file: key.file))
    let words = "bridgectl: added the \(key.keyType) key \(key.fingerprint) of \(host) to \(file)."
    if reporter.style.isTerminal { reporter.log(words) } else { reporter.detail(words) }
  }
}

extension CommandEvent.Algorithms {
  fileprivate init(_ agreement: Agreement) {
    self.init(
      keyExchange: agreement.keyExchange, hostKey: agreement.hostKey, cipher: agreement.cipher,
      mac: agreement.mac)
  }
}

extension Agreement {
  /// The algorithms in one line.
  var words: String { [keyExchange, hostKey, cipher, mac].joined(separator: ", ") }
}
