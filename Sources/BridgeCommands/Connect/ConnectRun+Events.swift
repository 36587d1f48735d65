import BridgeDiagnostics
import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

// What is done about the steps of the links, and about what the user types.
extension ConnectRun {
  /// Follows the links until the supervisor is done.
  func watch(
    _ events: some AsyncSequence<RecoveryEvent, Never> & Sendable, _ forwards: RunForwards?
  ) async {
    let hops = RunDialer.hops(of: settings)
    let sides = RunLinks<Work.Link>.sides(of: id, count: work.sideLinks)
    var uses: [ConnectionID: LinkUse] = [:]
    var silent = SilentHop()
    for await event in events {
      reporter.event(.link(event))
      let hop = hops.first { $0.id.description == event.source }
      let side = sides.firstIndex { $0.description == event.source }
      let place: LinkFacts.Place = hop != nil ? .hop : side != nil ? .side : .host
      let number = side.map { $0 + 1 } ?? 0
      let link = hop?.id ?? side.map { sides[$0] } ?? id
      if let pause = await pause(event.step, &uses[link, default: LinkUse()], number, forwards) {
        await supervisor.redial(link, after: pause)
      }
      if let hop { silent.see(event.step, of: hop.index, at: context.clock.now) }
      let actions = context.facts.withLock { $0.see(event.step, of: place) }
      for var action in actions {
        if case .giveUp(let failure) = action {
          let way = hops.map { ($0.settings.givenHost, $0.settings.endpoint) }
          action = .giveUp(
            silent.failure(of: hop?.index, failure, at: context.clock.now, way))
        }
        if number > 0 {
          await perform(action, ofSide: number)
        } else {
          await perform(action, event, of: hop?.settings ?? settings.host, forwards)
        }
      }
    }
  }

  /// How long a link that waits for its next dial really has to; nil where it is not known to have
  /// been of use.
  ///
  /// - Parameter number: the link to the host whose work it carries, 0 for the first one.
  private func pause(
    _ step: RecoveryEvent.Step, _ use: inout LinkUse, _ number: Int, _ forwards: RunForwards?
  ) async -> Duration? {
    switch step {
    case .recovered: use.begin(at: .now)
    case .attempted(_, isStandby: false): use.dialed(await progress(over: number, forwards))
    case .waiting:
      return use.pause(
        await progress(over: number, forwards),
        serves: number == 0 && (forwards != nil || work.servesWhileUp), at: .now)
    default: break
    }
    return nil
  }

  /// What is forwarded comes with the first link.
  private func progress(over number: Int, _ forwards: RunForwards?) async -> LinkUse.Progress {
    let progress = await work.progress(over: number)
    guard number == 0, let forwards else { return progress }
    return progress + LinkUse.Progress(bytes: await forwards.carried)
  }

  /// Of a link beside that to the host.
  private func perform(_ action: LinkFacts.Action, ofSide side: Int) async {
    switch action {
    case .count(let error): await context.counters.count(error)
    case .countReconnect: await context.counters.countReconnect()
    case .giveUp(let failure): await work.giveUp(failure, side: side)
    case .show, .settle, .hold, .view, .work, .loseForwards, .retryForwards: break
    }
  }

  private func perform(
    _ action: LinkFacts.Action, _ event: RecoveryEvent, of host: HostSettings,
    _ forwards: RunForwards?
  ) async {
    switch action {
    case .count(let error): await context.counters.count(error)
    case .countReconnect: await context.counters.countReconnect()
    case .show(let phase): show(phase, of: host)
    case .settle: reporter.progress(nil)
    case .hold(let isHeld): work.hold(isHeld)
    case .giveUp(let failure): await work.giveUp(failure)
    case .view: view.see(event, untaken: await work.untakenInput)
    case .work: work.see(event)
    case .loseForwards: await forwards?.linkLost()
    case .retryForwards: await forwards?.linkIsBack()
    }
  }

  private func show(_ phase: ConnectionPhase, of host: HostSettings) {
    let words = phase.words(host, through: settings.proxy)
    reporter.detail("bridgectl: \(words)")
    if reporter.style.loudness != .verbose {
      reporter.progress("\(words) \(context.local.isUnicode ? "…" : "...")")
    }
  }

  /// How often what happened (G-65): shown with `-v`, and an event.
  func reportCounters() async {
    let dropped = await supervisor.dropped
    if dropped > 0 { await context.counters.countQueueDrops(dropped) }
    let values = await context.counters.values
    reporter.event(
      .counters(
        retries: values.retries, reconnects: values.reconnects, queueDrops: values.queueDrops,
        errors: values.errorsByType))
    for line in values.lines where !line.hasSuffix(" 0") { reporter.detail("bridgectl: \(line)") }
  }

  /// Executes a typed escape or key.
  func obey(_ command: Keyboard.Command) async {
    switch command {
    case .escape(.disconnect), .key(.disconnect): disconnect()
    case .key(.retry): await supervisor.reconnectNow(id)
    case .escape(.reconnect):
      // The banner says what is done.
      if !view.isOut { answer(["Probing the host; reconnecting if it does not answer."]) }
      await supervisor.reconnectNow(id)
    case .escape(.detach):
      signals.exitSoon(ExitCode.success.rawValue)
      work.detach()
    case .escape(.help):
      let rows = (TerminalSize(of: 2) ?? TerminalSize()).rows
      answer((view.isOut ? keyboard?.shortHelp : keyboard?.help(rows: rows)) ?? [])
    case .escape(.status): requestDisplay.yield(.status)
    case .escape(.forwards): requestDisplay.yield(.forwards)
    case .escape(.suspend): Signals.suspend()
    case .escape(.background):
      let words = "A shell cannot go to the background: -f starts there, and ~^Z suspends."
      answer([keyboard?.spelled(words) ?? words])
    case .escape(.move(let key)): work.move(key)
    case .escape(.bytes), .escape(.report): break
    case .sendsHeld(let sends): work.answer(sendsHeld: sends)
    case .key(.explain): _ = view.show(.status(login: login))
    case .key(.confirmDisconnect(let way)): view.change { $0.disconnecting = way }
    }
  }

  private func disconnect() {
    signals.exitSoon(ExitCode.interrupted.rawValue)
    view.end()
    reporter.show("\r\n")
    // It is said when the terminal is the user's again.
    context.facts.withLock { $0.hasDisconnected = true }
    context.finish(.success(.interrupted))
  }

  /// `~s` and `~#`. They wait, the one for the host, and the keyboard does not wait for them.
  func show(_ display: RunDisplay, _ forwards: RunForwards?) async {
    switch display {
    case .status: await showStatus()
    case .forwards:
      answer(await forwards?.lines() ?? ["Nothing is forwarded."])
    }
  }

  /// Answers a key in lines: beside the program, or within the banner of an outage, with which they
  /// go.
  private func answer(_ lines: [String]) {
    guard !view.show(.lines(lines)) else { return }
    reporter.show("\r\n")
    say(lines)
  }

  /// Who logs in where.
  private var login: String { StatusText.login(settings.user, at: "\(settings.endpoint)") }

  private func showStatus() async {
    // What waits for a connection would answer when the outage is over.
    guard !view.show(.status(login: login)) else { return }
    if let outage = view.report() { return answer(StatusText(login, outage: outage).lines) }
    guard let connection = await connectionNow() else {
      let outage = view.report() ?? [StatusText.roundTrip(nil)]
      return answer(StatusText(login, outage: outage).lines)
    }
    answer(StatusText(login, link: await StatusText.Link(connection)).lines)
    say([StatusText.roundTrip(try? await connection.probe(within: StatusText.probeTime))])
  }

  /// The connection in use; nil where the link was lost just now.
  private func connectionNow() async -> (any Connection)? {
    await withTaskGroup(of: (any Connection)?.self) { group in
      group.addTask { try? await supervisor.connection(id) }
      group.addTask {
        try? await context.clock.sleep(for: StatusText.probeTime)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  /// Says lines beside the shell; the banner stays below them.
  private func say(_ lines: [String]) {
    guard !Task.isCancelled, !context.facts.withLock({ $0.isOver }) else { return }
    reporter.show(lines: lines)
    view.draw()
  }
}
