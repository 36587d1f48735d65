import BridgeDiagnostics
import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTerminal
import BridgeTransport

// What is done about the steps of the links, and about what the user types.
extension ConnectRun {
  /// Follows the links until the supervisor is done.
  func watch(
    _ events: some AsyncSequence<RecoveryEvent, Never> & Sendable, _ forwards: RunForwards?
  ) async {
    let hops = RunLinks.hops(of: settings)
    let sides = RunLinks.sides(of: id, count: work.sideLinks)
    for await event in events {
      reporter.event(.link(event))
      let hop = hops.first { $0.id.description == event.source }
      let side = sides.firstIndex { $0.description == event.source }
      let place: LinkFacts.Place = hop != nil ? .hop : side != nil ? .side : .host
      let actions = context.facts.withLock { $0.see(event.step, of: place) }
      for action in actions {
        if let side {
          await perform(action, ofSide: side + 1, sides[side])
        } else {
          await perform(action, event, of: hop?.settings ?? settings, forwards)
        }
      }
    }
  }

  /// Of a link beside that to the host.
  private func perform(
    _ action: LinkFacts.Action, ofSide side: Int, _ id: ConnectionID
  ) async {
    switch action {
    case .count(let error): await context.counters.count(error)
    case .countReconnect: await context.counters.countReconnect()
    case .settle: prompter.keepAnswers()
    case .giveUp(let failure): await work.giveUp(failure, side: side)
    case .work:
      if await work.hasMoved(side: side) { await supervisor.reconnectNow(id) }
    case .show, .hold, .redraw, .view, .loseForwards, .retryForwards: break
    }
  }

  private func perform(
    _ action: LinkFacts.Action, _ event: RecoveryEvent, of settings: ConnectSettings,
    _ forwards: RunForwards?
  ) async {
    switch action {
    case .count(let error): await context.counters.count(error)
    case .countReconnect: await context.counters.countReconnect()
    case .show(let phase): show(phase, of: settings)
    case .settle:
      prompter.keepAnswers()
      reporter.progress(nil)
    case .hold(let isHeld): work.hold(isHeld)
    case .redraw: redraw()
    case .giveUp(let failure): await work.giveUp(failure)
    case .view: view.see(event)
    case .work:
      work.see(event)
      if case .waiting = event.step, await work.hasMoved() { await supervisor.reconnectNow(id) }
    case .loseForwards: await forwards?.linkLost()
    case .retryForwards: await forwards?.linkIsBack()
    }
  }

  /// A program that has the screen to itself does not know what was shown over it.
  private func redraw() {
    guard let keyboard, keyboard.isFullScreen, reporter.style.loudness != .quiet,
      let size = TerminalSize(of: 0)
    else { return }
    context.resizes.yield(.init(size: size, isRedraw: true))
  }

  private func show(_ phase: ConnectionPhase, of settings: ConnectSettings) {
    let words = phase.words(settings)
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
      reporter.show("\r\nProbing the host; reconnecting if it does not answer.\r\n")
      await supervisor.reconnectNow(id)
    case .escape(.detach): work.detach()
    case .escape(.help): reporter.show("\r\n" + (keyboard?.help ?? ""))
    case .escape(.status): requestDisplay.yield(.status)
    case .escape(.forwards): requestDisplay.yield(.forwards)
    case .escape(.suspend): Signals.suspend()
    case .escape(.background):
      reporter.show(
        "\r\nA shell cannot go to the background: -f starts there, and ~^Z suspends.\r\n")
    case .escape(.bytes): break
    case .sendsHeld(let sends): work.answer(sendsHeld: sends)
    case .key(.explain): view.change { $0.isExplained.toggle() }
    case .key(.confirmDisconnect): view.change { $0.isDisconnecting = true }
    }
  }

  private func disconnect() {
    view.end()
    reporter.show("\r\n")
    context.logDisconnect()
    context.finish(.success(.interrupted))
  }

  /// `~s` and `~#`. They wait, the one for the host, and the keyboard does not wait for them.
  func show(_ display: Display, _ forwards: RunForwards?) async {
    switch display {
    case .status: await showStatus()
    case .forwards:
      let lines = await forwards?.lines() ?? ["Nothing is forwarded."]
      reporter.show("\r\n" + lines.map { $0 + "\r\n" }.joined())
    }
  }

  private func showStatus() async {
    var link: StatusText.Link?
    if let connection = try? await supervisor.connection(id) {
      link = await StatusText.Link(probing: connection)
    }
    guard !Task.isCancelled, !context.facts.withLock({ $0.isOver }) else { return }
    let text = StatusText(user: settings.user, endpoint: "\(settings.endpoint)", link: link)
    reporter.show("\r\n" + text.lines.map { $0 + "\r\n" }.joined())
  }
}
