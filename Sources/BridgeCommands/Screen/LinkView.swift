import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeTransport
import BridgeWaiting

/// Shows a person how the link is: a banner on a terminal that counts down and goes when all is
/// well, else a line where something changed.
final class LinkView: Sendable {
  private struct State {
    var status: LinkStatus
    /// How many typed bytes were sent, and have not reached the program as far as is known.
    var untaken = 0
    var ticker: Task<Void, Never>?
    var display = Display.on
  }

  private enum Display {
    case on
    /// The process is stopped, or will be at once.
    case suspended
    case over
  }

  private let state: Mutex<State>
  private let reporter: Reporter
  private let keyboard: Keyboard?
  private let reactor: Reactor
  private let clock: any Clock<Duration> & Sendable
  private let host: String
  private let isUnicode: Bool
  /// Whether trouble before the first connection is shown too.
  private let retriesFirstDial: Bool

  init(
    host: String, reporter: Reporter, keyboard: Keyboard?, reactor: Reactor,
    clock: any Clock<Duration> & Sendable, isUnicode: Bool, retriesFirstDial: Bool,
    jumpHost: @escaping @Sendable (FailureContext?) -> CommandFailure.JumpHost?
  ) {
    self.host = host
    self.reporter = reporter
    self.keyboard = keyboard
    self.reactor = reactor
    self.clock = clock
    self.isUnicode = isUnicode
    self.retriesFirstDial = retriesFirstDial
    state = Mutex(
      State(
        status: LinkStatus(host: host, escape: keyboard?.escape ?? "~", jumpHost: jumpHost)))
  }

  /// Shows what follows from `event`.
  ///
  /// - Parameter untaken: how many typed bytes were sent, and are not known to have arrived.
  func see(_ event: RecoveryEvent, untaken: Int = 0) {
    let message = state.withLock { state -> String? in
      state.status.see(event)
      state.untaken = untaken
      guard !reporter.style.showsProgress else { return nil }
      return state.status.message(for: event)
    }
    if let message { say(message) }
    draw()
    tick()
  }

  /// Changes what is shown.
  func change(_ body: (inout LinkStatus) -> Void) {
    state.withLock { body(&$0.status) }
    draw()
  }

  /// Asks whether what was typed in an outage of so many `seconds` is sent, until nil is set.
  func ask(after seconds: Int?) {
    change { $0.ask(after: seconds) }
    tick()
  }

  /// Says something about the screen for a while; nothing where nothing is drawn.
  func hint(_ text: String) {
    change { $0.hint = LinkStatus.Hint(text, for: Self.readingTime, at: ContinuousClock.now) }
    tick()
  }

  /// Shows that the session of a link that is up does not go on, until nil is set.
  func stall(_ stall: LinkStatus.Stall?) {
    change { $0.stall = stall }
    tick()
  }

  /// Says why it does not. Where nothing is drawn, once.
  func explainStall(_ reason: String) {
    let isNew = state.withLock { state in
      defer { state.status.stall?.reason = reason }
      return state.status.stall?.reason == nil
    }
    if isNew, !reporter.style.showsProgress { say("\(reason) It is asked again.") }
    draw()
  }

  /// Takes away what `hint` has said.
  func dropHint() { change { $0.hint = nil } }

  /// How long a line that goes by itself is to be read.
  static let readingTime = Duration.seconds(5)

  /// Draws again what is shown: output was written, and has taken its place.
  func drawAgain() {
    if state.withLock(\.status.isTicking) { draw() }
  }

  /// Takes the banner away for good.
  func end() {
    state.withLock { state in
      state.ticker?.cancel()
      state.ticker = nil
      state.display = .over
    }
    reporter.overlay([])
  }

  /// Takes the banner away until `resume`.
  func suspend() {
    state.withLock { if $0.display == .on { $0.display = .suspended } }
    draw()
  }

  /// Draws the banner again.
  func resume() {
    state.withLock { if $0.display == .suspended { $0.display = .on } }
    draw()
  }

  /// Shows within the banner what the user has asked for.
  ///
  /// - Returns: false where there is no banner.
  func show(_ answer: LinkStatus.Answer) -> Bool {
    guard isDrawn, isOut else { return false }
    change { $0.toggle(answer) }
    return true
  }

  /// Whether it is a banner that shows how the link is.
  private var isDrawn: Bool {
    let style = reporter.style
    return style.showsProgress && style.loudness != .quiet
  }

  /// Whether the link was up, and does not answer or is down.
  var isOut: Bool { state.withLock { $0.status.isOut } }

  /// The answer to `~s` while the link is not up; nil while it is.
  func report() -> [String]? {
    let held = keyboard?.waiting ?? 0
    return state.withLock { $0.status.report(at: ContinuousClock.now, held: held + $0.untaken) }
  }

  /// Draws the banner again: something was written over it.
  func draw() {
    guard isDrawn else { return }
    let style = reporter.style
    let (held, keys) = (keyboard?.waiting ?? 0, keyboard?.keys ?? .none)
    let (lines, wasUp) = state.withLock { state -> ([String], Bool) in
      let wasUp = state.status.wasUp
      guard state.display == .on, wasUp || retriesFirstDial else { return ([], wasUp) }
      let lines = state.status.lines(
        at: ContinuousClock.now, held: held + state.untaken, unsent: held, keys: keys,
        color: style.usesColor, unicode: isUnicode)
      return (lines, wasUp)
    }
    // How far a first dial came is old then; how far a copy is stays true.
    if !lines.isEmpty, !wasUp { reporter.progress(nil) }
    reporter.overlay(lines)
  }

  /// Counts down once a second while there is something to count, or says what is due.
  private func tick() {
    state.withLock { state in
      guard state.status.isTicking, state.display != .over else {
        state.ticker?.cancel()
        state.ticker = nil
        return
      }
      guard state.ticker == nil else { return }
      state.ticker = Task(executorPreference: reactor) { [weak self, clock] in
        while (try? await clock.sleep(for: .seconds(1))) != nil { self?.update() }
      }
    }
  }

  private func update() {
    state.withLock { $0.status.dropHint(at: ContinuousClock.now) }
    tick()
    guard !reporter.style.showsProgress else { return draw() }
    let message = state.withLock { $0.display == .over ? nil : $0.status.overdueMessage() }
    if let message { say(message) }
  }

  private func say(_ message: String) {
    // The cursor stands behind a prompt of the remote side.
    if reporter.style.isTerminal, keyboard?.wasOpened == true { reporter.leaveLine() }
    reporter.log("bridgectl: \(message)")
  }
}
