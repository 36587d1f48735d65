import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTerminalState
import BridgeWaiting

/// The user's terminal where what is typed is shown before its echo: all that a session writes to
/// it goes through here, in the order of what is seen.
final class PredictedTerminal: Sendable {
  private struct State {
    /// Nil while the link is fast.
    var echo: PredictiveEcho?
    /// What tells of the link may be drawn.
    var isHeld = false
    /// Takes back what is not echoed in time.
    var expiry: Task<Void, Never>?
  }

  private let context: RunContext
  private let prediction: Prediction
  private let start = ContinuousClock.now
  private let state: Mutex<State>

  /// Nil where nothing is to be shown before its echo: no person types on a terminal that is drawn
  /// on, or wants that.
  init?(_ context: RunContext) {
    prediction = context.request.screen.prediction
    guard prediction != .never, context.keyboard != nil, context.screen != nil,
      context.reporter.style.showsProgress, TerminalSize(of: 1) != nil
    else { return nil }
    self.context = context
    state = Mutex(State())
    context.reporter.precede(
      with: TextPrelude(
        bytes: { [weak self] in self?.state.withLock { $0.echo?.lose() } ?? [] },
        forget: { [weak self] in self?.state.withLock { $0.echo?.forget() } }))
  }

  /// The link has this round trip from now on; nil where it is not known.
  func setRoundTrip(_ time: Duration?) {
    let isWanted = prediction.isWanted(over: time)
    change { state, _ in
      guard isWanted, let size = TerminalSize(of: 1) else {
        defer { state.echo = nil }
        return state.echo?.withdraw() ?? []
      }
      let time = time ?? Prediction.leastRoundTrip
      state.echo?.roundTrip = time
      guard state.echo == nil else { return [] }
      var echo = PredictiveEcho(rows: size.rows, columns: size.columns, roundTrip: time)
      echo.isHidden = state.isHeld
      state.echo = echo
      return []
    }
  }

  /// Writes output, which nothing is drawn over.
  /// - Parameter before: what moves the rows of the terminal before it.
  func write(_ parts: [[UInt8]], behind before: [UInt8]) async -> DescriptorWriter.Outcome {
    if !before.isEmpty { change { state, _ in (state.echo?.withdraw() ?? []) + before } }
    for bytes in parts {
      change { state, now in state.echo?.take(bytes, at: now) ?? bytes }
    }
    return await context.output.drain()
  }

  /// Shows what is typed, where its echo is known.
  func type(_ bytes: [UInt8]) {
    change { state, now in
      guard var echo = state.echo.take() else { return [] }
      defer { state.echo = echo }
      let shown = echo.type(bytes, at: now)
      if echo.isPredicting, state.expiry == nil { state.expiry = expiring() }
      return shown
    }
  }

  /// The terminal has another size.
  func resize(_ size: TerminalSize) {
    change { state, _ in state.echo?.resize(rows: size.rows, columns: size.columns) ?? [] }
  }

  /// Takes back what is shown, and shows nothing, as long as what is typed is held back: it may not
  /// be sent for a while, and what tells of the link is drawn from where output left the cursor.
  func hold(_ isHeld: Bool) {
    change { state, _ in
      state.isHeld = isHeld
      state.echo?.isHidden = isHeld
      return isHeld ? state.echo?.withdraw() ?? [] : []
    }
  }

  /// Takes back what is shown: the session is over.
  func withdraw() { change { state, _ in state.echo?.withdraw() ?? [] } }

  private func expiring() -> Task<Void, Never> {
    Task(executorPreference: context.reactor) { [weak self, clock = context.clock] in
      while (try? await clock.sleep(for: Self.interval)) != nil, self?.expire() == true {}
    }
  }

  private static let interval = Duration.milliseconds(50)

  /// Returns whether more may be overdue later.
  private func expire() -> Bool {
    var goesOn = false
    change { state, now in
      let bytes = state.echo?.expire(at: now) ?? []
      goesOn = state.echo?.isPredicting ?? false
      if !goesOn { state.expiry = nil }
      return bytes
    }
    return goesOn
  }

  private func change(_ body: (inout State, Duration) -> [UInt8]) {
    state.withLock { state in
      let bytes = body(&state, ContinuousClock.now - start)
      if !bytes.isEmpty { context.output.post(bytes, isUnbounded: true) }
    }
  }
}

extension RunContext {
  /// Writes what a program printed to standard output, behind all that was said before.
  ///
  /// - Parameter predicted: the terminal, where what is typed is shown before its echo.
  func write(
    _ parts: [[UInt8]], through predicted: PredictedTerminal? = nil
  ) async -> DescriptorWriter.Outcome {
    let write = { (before: [UInt8]) async -> DescriptorWriter.Outcome in
      await self.reporter.makeWay()
      if let predicted { return await predicted.write(parts, behind: before) }
      return await self.output.write(before.isEmpty ? parts : [before] + parts)
    }
    guard let screen else { return await write([]) }
    return await screen.write(parts, by: write)
  }
}

/// Input that is shown when it is typed.
struct PredictedInput<Target: InputTarget>: InputTarget {
  let target: Target
  /// Nil where nothing is shown before its echo.
  let terminal: PredictedTerminal?
  /// Takes away what was written over the screen of a program: who types has read it.
  let repaint: @Sendable () -> Void

  func write(_ bytes: [UInt8]) async throws(AppError) {
    repaint()
    terminal?.type(bytes)
    try await target.write(bytes)
  }

  func finishInput() async throws(AppError) { try await target.finishInput() }
}
