import BridgeErrors
import BridgeFiles
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// A copy over the generations of a link: each goes on where the last one ended. Several sources
/// are copied one after the other.
final class CopyWork: LinkWork {
  struct State {
    var newest: SSHConnection?
    /// What is copied now, or is next.
    var current: Current
    /// Whether several are copied, each into a destination that is a directory.
    var isInto: Bool
    /// What of the sources before is in place.
    var settled = FileProgress()
    var totals = CopyTotals(1)
    /// One for each stream of the source.
    var transfers: [FileTransfer] = []
    /// Which link carries a stream, or carried it last.
    var route: [Int] = []
    /// What ended the link for good.
    var gaveUp: CommandFailure?
    /// Whether the host copies with its own tools.
    var usesTools = false
    /// Whether the host knows no check with a key.
    var usesSHA256 = false
    /// Whether it was reported what the source is copied with.
    var hasStarted = false
    /// Whether it was said what the host cannot do.
    var hasLimits = false
    /// Whether a part of a file is of use to a later run.
    var goesOn = true
    /// Whether the copy lies inside the destination.
    var isInside = false
    /// Whether all is settled.
    var isOver = false
    /// Whether the run ends, complete or not.
    var isLeaving = false
    var progress = CopyProgress()
    var rate = CopyRate()
    var ledger = CopyLedger()

    init(_ current: Current, isInto: Bool) { (self.current, self.isInto) = (current, isInto) }
  }

  /// One source.
  struct Current {
    let place: CopyPlace
    var job: FileTransfer.Job
    /// Its place among all.
    let index: Int
  }

  let context: RunContext
  let request: CopyRequest
  let survey: CopyRequest.Survey
  /// Makes the job of a source: by its place among all, and whether it is one of several.
  let makeJob: @Sendable (CopyPlace, Int, _ isInto: Bool) -> FileTransfer.Job
  /// The link to the host, and those beside it: one for each stream.
  let links: [SessionLinks<SSHConnection>]
  let state: Mutex<State>
  /// Reading and writing files holds a thread up, and not that of a link: one for each stream.
  private let files: [Reactor]
  let unheard = UnheardLinks()
  let start = ContinuousClock.now

  /// - Parameters:
  ///   - first: the first source of `survey` that can be copied.
  ///   - makeJob: makes the job of a source.
  init(
    _ context: RunContext, _ request: CopyRequest, _ survey: CopyRequest.Survey, first: CopyPlace,
    makeJob: @escaping @Sendable (CopyPlace, Int, _ isInto: Bool) -> FileTransfer.Job
  ) {
    self.context = context
    (self.request, self.survey, self.makeJob) = (request, survey, makeJob)
    let isInto = request.isSeveral([])
    let current = Current(place: first, job: makeJob(first, 0, isInto), index: 0)
    state = Mutex(State(current, isInto: isInto))
    links = (0..<request.streams).map { _ in SessionLinks<SSHConnection>() }
    files = (0..<request.streams).map { Reactor(name: "bridge-copy-\($0 + 1)") }
  }

  /// The copy of the source that is copied now, or is next.
  var job: FileTransfer.Job { state.withLock { $0.current.job } }

  var reporter: Reporter { context.reporter }

  /// What is copied goes on over another link.
  var losesNothing: Bool { true }

  // MARK: The link

  func use(_ connection: SSHConnection, _ generation: Int) async {
    await context.report(connection)
    context.expectHost(of: connection, unheard)
    state.withLock { $0.newest = connection }
    await links[0].use(connection, generation: generation)
  }

  func giveUp(_ failure: CommandFailure) async {
    state.withLock { $0.gaveUp = failure }
    await links[0].fail(failure.error)
    // A copy ends by itself then.
    if state.withLock({ $0.transfers.isEmpty }) { context.finish(.failure(failure)) }
  }

  var sideLinks: Int { links.count - 1 }

  func use(_ connection: SSHConnection, side: Int, _ generation: Int) async {
    reporter.detail("bridgectl: connection \(side + 1) is up")
    await links[side].use(connection, generation: generation)
  }

  func giveUp(_ failure: CommandFailure, side: Int) async { await links[side].fail(failure.error) }

  func see(_ event: RecoveryEvent) { context.reportReturn(event) }

  func progress(over link: Int) async -> LinkUse.Progress {
    let (carried, settled) = state.withLock { state in
      (zip(state.transfers, state.route).filter { $0.1 == link }.map(\.0), state.settled)
    }
    let progress = await Self.progress(of: carried, after: settled)
    return LinkUse.Progress(bytes: progress.bytes, files: progress.files)
  }

  var farewell: String? {
    guard !request.isRecursive else { return nil }
    let (isKept, isInto) = state.withLock { state in
      let hasPart = state.progress.bytes > Int(clamping: state.settled.bytes)
      return (!state.isOver && state.hasStarted && state.goesOn && hasPart, state.isInto)
    }
    guard isKept else { return nil }
    guard isInto else { return "what was copied is kept; the same command goes on with it." }
    let place = shown([], isTarget: true)
    return "what was copied of \(place) is kept; the same command goes on with it."
  }

  // MARK: The copy

  func run() async {
    let result = await withTaskGroup(of: Void.self) { group -> Result<Void, AppError> in
      group.addTask { await self.showProgress() }
      let result = await copyAll()
      group.cancelAll()
      return result
    }
    await takeProgress()
    for transfer in state.withLock({ $0.transfers }) { await transfer.release() }
    reporter.progress(nil)
    switch result {
    case .success: await finish()
    case .failure(let error):
      for transfer in state.withLock({ $0.transfers }) { await transfer.abandon() }
      await fail(error)
    }
  }

  func close() async {
    let transfers = state.withLock { state in
      state.isLeaving = true
      return state.transfers
    }
    for transfer in transfers where await transfer.giveUp() {
      // Now: the time for an orderly end may be over before the rest of it.
      reporter.log(
        "bridgectl: \(context.settings.givenHost) did not say that it removed the part of a file: "
          + "a .bridge-copy-* may be left there.")
    }
  }

  /// How often another copy of the same file may take the part of this one while its links are
  /// down.
  private static let losses = 10

  /// Copies the current source.
  func copy() async throws(AppError) {
    for _ in 0..<Self.losses {
      do throws(AppError) {
        return try await copyOnce()
      } catch {
        guard FileFailure.isOfAnotherCopy(error), await hasLostPart else { throw error }
        await beginAgain()
      }
    }
    try await copyOnce()
  }

  /// Whether streams of this run wrote the part which another run has now. One that never had it
  /// has waited for its end.
  private var hasLostPart: Bool {
    get async {
      let (transfers, role) = state.withLock { ($0.transfers, $0.current.job.role) }
      guard transfers.count > 1, role == .put else { return false }
      for transfer in transfers where await transfer.progress.bytes > 0 { return true }
      return false
    }
  }

  /// As another run: what is there of the file is compared, and goes on.
  private func beginAgain() async {
    for transfer in state.withLock({ $0.transfers }) { await transfer.release() }
    state.withLock { state in
      let run = state.current.job.run
      state.current.job.run = Identifier(high: run.high &+ 1 << 32, low: run.low)
    }
  }

  private func copyOnce() async throws(AppError) {
    let stripes: [FileStripe?] = links.count == 1 ? [nil] : FileStripe.all(of: links.count)
    try await carry(stripes)
    if stripes.count > 1, state.withLock({ $0.usesTools }) {
      reporter.log(
        "bridgectl: without bridge-host a file comes over one connection, not \(stripes.count).")
      for transfer in state.withLock({ $0.transfers }) { await transfer.release() }
      try await carry([nil])
    }
    try await complete()
  }

  /// Copies by as many streams, over all links that are up.
  private func carry(_ stripes: [FileStripe?]) async throws(AppError) {
    let (job, host) = (job, context.settings.givenHost)
    let transfers = stripes.enumerated().map { index, stripe in
      FileTransfer(
        stripe.map(job.stream) ?? job, host: host, on: files[index], unheard: unheard
      ) { [weak self] events in await self?.report(events, ofStream: index) }
    }
    state.withLock { state in
      state.transfers = transfers
      state.route = Array(transfers.indices)
      if !state.isInto { state.totals = CopyTotals(transfers.count) }
    }
    let queue = StreamQueue(transfers.count)
    let failure = await withTaskGroup(of: AppError?.self) { group -> AppError? in
      for link in transfers.indices { group.addTask { await self.carry(over: link, queue) } }
      var failure: AppError?
      for await next in group {
        // What a canceled one ends with is no reason.
        failure = failure ?? next
        if queue.isOver || next != nil { group.cancelAll() }
      }
      return failure
    }
    if Task.isCancelled { throw .cancelled }
    if let failure, !queue.isOver { throw failure }
  }

  /// Carries streams over one link until all are settled; returns what ends the copy.
  private func carry(over link: Int, _ queue: StreamQueue) async -> AppError? {
    var attempts = CopyAttempts()
    var generation = 0
    while true {
      let connection: SSHConnection
      do throws(AppError) {
        (connection, generation) = try await links[link].link(after: generation)
      } catch {
        return drop(link, error)
      }
      var isUp = true
      while isUp {
        guard let stream = await queue.next(for: link) else { return nil }
        let transfer = state.withLock { state in
          state.route[stream] = link
          return state.transfers[stream]
        }
        let step = await carry(transfer, over: (connection, link), &attempts)
        if step == .useless { queue.stop() }
        queue.release(stream, isSettled: step == .settled)
        switch step {
        case .settled, .again, .useless: break
        case .lost: isUp = false
        case .refused(let error): return drop(link, error)
        case .failed(let error): return error
        }
      }
    }
  }

  /// The copy goes on without a link beside the first one.
  private func drop(_ link: Int, _ error: AppError) -> AppError? {
    guard link > 0, error != .cancelled else { return error }
    let reason = PeerText.escaped(error.shownMessage())
    reporter.log("bridgectl: the copy goes on without connection \(link + 1): \(reason)")
    return nil
  }

  /// What came of a channel.
  private enum Step: Equatable {
    /// Its stream is settled.
    case settled
    /// It ended before.
    case again
    /// Its link has ended.
    case lost
    /// Its link goes on, and refused it.
    case refused(AppError)
    /// No stream can bring the copy further: the file is not to be read or written, or the host
    /// takes one stream only.
    case useless
    case failed(AppError)
  }

  private func carry(
    _ transfer: FileTransfer, over link: (connection: SSHConnection, index: Int),
    _ attempts: inout CopyAttempts
  ) async -> Step {
    let usesTools = state.withLock { $0.usesTools && $0.transfers.count == 1 }
    let command = transfer.command(usesTools: usesTools)
    // A host may allow one channel.
    let others = state.withLock { state in
      zip(state.transfers, state.route).filter { $0.1 == link.index && $0.0 !== transfer }
    }
    for (other, _) in others { await other.closeChannel() }
    let channel: any ByteChannel
    do throws(AppError) {
      let links = links[link.index]
      guard let opened = try await links.open(command.text, on: link.connection) else {
        return .lost
      }
      channel = opened
    } catch {
      guard case .sshOutcomeUnknown = error else { return .refused(error) }
      return await end(.finished(status: nil), of: transfer, &attempts)
    }
    do throws(AppError) {
      let outcome = try await transfer.carry(over: channel, command, usesTools: usesTools)
      return try await step(after: outcome, of: transfer, &attempts)
    } catch {
      return .failed(error)
    }
  }

  /// A channel that was closed in place of an answer, as Dropbear does at times where another one
  /// has just ended: what copies may begin again.
  private func end(
    _ ending: ByteChannelEnding, of transfer: FileTransfer, _ attempts: inout CopyAttempts
  ) async -> Step {
    do throws(AppError) {
      return try await step(after: .ended(ending), of: transfer, &attempts)
    } catch {
      return .failed(error)
    }
  }

  private func step(
    after outcome: FileTransfer.Outcome, of transfer: FileTransfer, _ attempts: inout CopyAttempts
  ) async throws(AppError) -> Step {
    let host = context.settings.givenHost
    let isStriped = state.withLock { $0.transfers.count > 1 }
    switch outcome {
    case .finished:
      guard isStriped else { return .settled }
      return await transfer.part == nil ? .useless : .settled
    case .unavailable(_, isMissing: true) where !state.withLock({ $0.usesTools }) || isStriped:
      state.withLock { $0.usesTools = true }
      return isStriped ? .useless : .again
    case .unavailable(let reason, let isMissing):
      if isMissing {
        reporter.log("bridgectl: `bridgectl install \(context.shownHost)` puts bridge-host there.")
      } else {
        logNoShell()
      }
      throw .featureUnavailable(feature: "Copying files without bridge-host (\(host): \(reason))")
    case .ended(let ending):
      if Task.isCancelled || state.withLock({ $0.isLeaving }) { throw .cancelled }
      guard attempts.goesOn(after: ending, await transfer.progress) else { throw endsAtOnce }
      return .again
    }
  }

  /// Where no command runs, for SFTP only for instance, bridge-host would not either.
  func logNoShell() {
    reporter.log(
      "bridgectl: cp needs a shell there, and no command of it was run: the account has none "
        + "(SFTP only, a forced command, a restricted shell), or its login ends before.")
  }

  var endsAtOnce: AppError {
    let host = context.settings.givenHost
    return .featureUnavailable(
      feature: "Copying files (\(host): its end of the copy ends as soon as it begins; "
        + "`bridgectl install` replaces a bridge-host that is damaged)")
  }

  // MARK: The end

  /// Gives a file its name that came in several streams.
  private func complete() async throws(AppError) {
    let (transfers, ledger, isInside) = state.withLock { ($0.transfers, $0.ledger, $0.isInside) }
    // Several sources have one stream each.
    guard transfers.count > 1, ledger.failed == 0 else { return }
    var settled: [FileParts.Part] = []
    for transfer in transfers {
      guard let part = await transfer.part else {
        throw .internalError(detail: "a stream of a file is not settled")
      }
      settled.append(part)
    }
    let parts: FileParts
    do throws(FileFault) {
      parts = try FileParts(settled)
    } catch {
      let isTarget = error.code == .busy
      throw FileFailure.error(
        error, path: shown([], isTarget: isTarget), isTarget: isTarget,
        host: context.settings.givenHost)
    }
    switch job.role {
    case .get: try await transfers[0].complete(parts)
    case .put, .join: try await completeThere(parts, isInside: isInside)
    }
    await report([], parts.size, nil, parts.hasChanged, isVerified: true)
  }

  /// A host may allow one channel at a time, and the first stream's still keeps the part.
  private func joiningChannel(_ command: String) async throws(AppError) -> any ByteChannel {
    for _ in 0..<10 {
      do throws(AppError) {
        return try await links[0].channel(running: command)
      } catch {
        guard !Task.isCancelled, state.withLock({ $0.gaveUp == nil }) else { throw error }
        for transfer in state.withLock({ $0.transfers }) { await transfer.closeChannel() }
        // The host needs a moment to see that.
        try? await context.clock.sleep(for: .milliseconds(200))
      }
    }
    return try await links[0].channel(running: command)
  }

  private func completeThere(_ parts: FileParts, isInside: Bool) async throws(AppError) {
    let request = HostJoin(
      job, host: context.settings.givenHost, parts, isInside: isInside)
    var attempts = CopyAttempts()
    var isRepeated = false
    while true {
      let command = request.command()
      let channel = try await joiningChannel(command.text)
      let ending = try await request.carry(over: channel, command, isRepeated: isRepeated)
      guard let ending else { return }
      if Task.isCancelled { throw .cancelled }
      guard attempts.goesOn(after: ending, FileProgress()) else { throw endsAtOnce }
      isRepeated = true
    }
  }
}
