import BridgeErrors
import BridgeFiles
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport

/// A copy over the generations of a link: each goes on where the last one ended.
final class CopyWork: LinkWork {
  private struct State {
    var newest: SSHConnection?
    var transfer: FileTransfer?
    /// How far it was when the link was lost last.
    var last = FileProgress()
    /// What ended the link for good.
    var gaveUp: CommandFailure?
    var isDown = false
    /// Whether the host copies with its own tools.
    var usesTools = false
    /// Whether it was reported what it copies with.
    var hasStarted = false
    /// Whether a part of a file is of use to a later run.
    var goesOn = true
    /// Whether the copy lies inside the destination.
    var isInside = false
    /// Whether all is settled.
    var isOver = false
    var progress = CopyProgress()
    var rate = CopyRate()
    var ledger = CopyLedger()
  }

  private let context: RunContext
  private let job: FileTransfer.Job
  private let operands: (source: String, destination: String)
  private let links = SessionLinks<SSHConnection>()
  private let state = Mutex(State())
  /// Reading and writing files holds a thread up, and not that of the link.
  private let files = Reactor(name: "bridge-copy")
  private let start = ContinuousClock.now

  init(_ context: RunContext, _ job: FileTransfer.Job, source: String, destination: String) {
    self.context = context
    self.job = job
    operands = (source, destination)
  }

  private var reporter: Reporter { context.reporter }

  /// What is copied goes on over another link.
  var losesNothing: Bool { true }

  // MARK: The link

  func use(_ connection: any Connection, _ generation: Int) async {
    guard let ssh = connection as? SSHConnection else { return }
    await context.report(ssh)
    state.withLock { $0.newest = ssh }
    await links.use(ssh, generation: generation)
  }

  func giveUp(_ failure: CommandFailure) async {
    state.withLock { $0.gaveUp = failure }
    await links.fail(failure.error)
    // A copy ends by itself then.
    if state.withLock({ $0.transfer == nil }) { context.finish(.failure(failure)) }
  }

  func see(_ event: RecoveryEvent) {
    switch event.step {
    case .failed, .waiting, .suspended, .suspected: state.withLock { $0.isDown = true }
    case .recovered(let time, let attempts, let isFirst):
      state.withLock { $0.isDown = false }
      if !isFirst { reporter.log("bridgectl: \(LinkStatus.back(after: time, attempts))") }
    case .cleared, .switched, .becameHealthy: state.withLock { $0.isDown = false }
    case .attempted, .entered, .classified, .resumed, .gaveUp, .surfaced, .withdrawn, .lingered,
      .changed, .closed, .missed:
      break
    }
  }

  func hasMoved() async -> Bool {
    guard let progress = await state.withLock({ $0.transfer })?.progress else { return false }
    return state.withLock { state in
      defer { state.last = progress }
      return progress != state.last
    }
  }

  var farewell: String? {
    guard !job.isRecursive else { return nil }
    let isKept = state.withLock { state in
      !state.isOver && state.hasStarted && state.goesOn && state.progress.bytes > 0
    }
    return isKept ? "what was copied is kept; the same command goes on with it." : nil
  }

  // MARK: The copy

  func run() async {
    let host = context.settings.endpoint.host
    let transfer = FileTransfer(job, host: host, on: files) { [weak self] events in
      await self?.report(events)
    }
    state.withLock { $0.transfer = transfer }
    let result = await withTaskGroup(of: Void.self) { group -> Result<Void, AppError> in
      group.addTask { await self.showProgress(of: transfer) }
      let result = await copy(transfer)
      group.cancelAll()
      return result
    }
    await takeProgress(of: transfer)
    reporter.progress(nil)
    switch result {
    case .success: await finish()
    case .failure(let error):
      await transfer.abandon()
      await fail(error)
    }
  }

  private func copy(_ transfer: FileTransfer) async -> Result<Void, AppError> {
    var attempts = CopyAttempts()
    do throws(AppError) {
      while try await !carry(transfer, &attempts) {}
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// Copies over one channel; true where all is settled.
  private func carry(
    _ transfer: FileTransfer, _ attempts: inout CopyAttempts
  ) async throws(AppError) -> Bool {
    let host = context.settings.endpoint.host
    let usesTools = state.withLock { $0.usesTools }
    let command = transfer.command(usesTools: usesTools)
    let channel = try await links.channel(running: command.text)
    switch try await transfer.carry(over: channel, command, usesTools: usesTools) {
    case .finished: return true
    case .unavailable(_, isMissing: true) where !usesTools:
      state.withLock { $0.usesTools = true }
      return false
    case .unavailable(let reason, _):
      reporter.log("bridgectl: `bridgectl install \(context.shownHost)` puts bridge-host there.")
      throw .featureUnavailable(feature: "Copying files without bridge-host (\(host): \(reason))")
    case .ended(let ending):
      if Task.isCancelled { throw .cancelled }
      guard attempts.goesOn(after: ending, await transfer.progress) else {
        throw .featureUnavailable(
          feature: "Copying files (\(host): its end of the copy ends as soon as it begins)")
      }
      return false
    }
  }

  /// The first thing that is reported: what the host copies with.
  private func begin() {
    let (isFirst, usesTools) = state.withLock { state in
      defer { state.hasStarted = true }
      return (!state.hasStarted, state.usesTools)
    }
    guard isFirst else { return }
    reporter.event(
      .copy(
        .started(
          source: operands.source, destination: operands.destination,
          tool: usesTools ? "shell" : "bridge-host")))
  }

  private func finish() async {
    let (ledger, progress) = state.withLock { ($0.ledger, $0.progress) }
    let time = ContinuousClock.now - start
    reportEnd()
    state.withLock { $0.isOver = true }
    // Of a single file the error says all.
    if ledger.copied > 0 || job.isRecursive {
      reporter.log("bridgectl: " + ledger.summary(progress, after: time))
    }
    guard let first = ledger.first else { return context.finish(.success(.success)) }
    context.fail(first)
  }

  /// The last event of a copy, however it ended.
  private func reportEnd() {
    begin()
    let (ledger, progress) = state.withLock { ($0.ledger, $0.progress) }
    let time = ContinuousClock.now - start
    reporter.event(
      .copy(
        .ended(
          files: progress.files, bytes: progress.bytes, failed: ledger.failed,
          milliseconds: time.milliseconds)))
  }

  private func fail(_ error: AppError) async {
    let (gaveUp, newest) = state.withLock { ($0.gaveUp, $0.newest) }
    if let gaveUp, gaveUp.error == error {
      reportEnd()
      return context.finish(.failure(gaveUp))
    }
    guard error != .cancelled else { return }
    // Either end removes the part of a file that it could not copy.
    state.withLock { $0.goesOn = false }
    reportEnd()
    context.fail(error, await newest?.lastRefusal)
  }

  // MARK: What is said

  private func report(_ events: [FileEvent]) async {
    begin()
    for event in events {
      switch event {
      case .totals(let files, let bytes):
        state.withLock { state in
          state.progress.totalFiles = Int(clamping: files)
          state.progress.totalBytes = Int(clamping: bytes)
        }
      case .placed(let isInside): state.withLock { $0.isInside = isInside }
      case .hostTools(let digests, let times):
        state.withLock { $0.goesOn = digests }
        reporter.log(
          "bridgectl: " + CopyLedger.limits(context.shownHost, digests: digests, times: times))
      case .begun(let size):
        guard !job.isRecursive else { continue }
        state.withLock { $0.progress.totalBytes = Int(clamping: size) }
      case .continued(let path, let offset):
        let place = shown(path, isTarget: false)
        reporter.detail("bridgectl: \(place) goes on at byte \(offset)")
        await reporter.writtenEvent(.copy(.continued(path: place, from: Int(clamping: offset))))
      case .copied(let path, let bytes, let digest, let hasChanged):
        await report(path, bytes, digest, hasChanged)
      case .missing(let path, let fault, let isTarget):
        await report(path, fault, isTarget)
      }
    }
  }

  private func report(
    _ path: FilePath, _ bytes: UInt64, _ digest: [UInt8]?, _ hasChanged: Bool
  ) async {
    state.withLock { state in
      state.ledger.copied += 1
      if digest == nil { state.ledger.unverified += 1 }
    }
    if hasChanged {
      reporter.warn(
        "\(shown(path, isTarget: false)) was changed while it was read: "
          + "the copy has what was read")
    }
    await reporter.writtenEvent(
      .copy(
        .file(
          path: shown(path, isTarget: true), bytes: Int(clamping: bytes),
          sha256: digest.map(FileTransfer.hexadecimal), hasChanged: hasChanged)))
  }

  private func report(_ path: FilePath, _ fault: FileFault, _ isTarget: Bool) async {
    let place = shown(path, isTarget: isTarget)
    let host = context.settings.endpoint.host
    let error = FileFailure.error(fault, path: place, isTarget: isTarget, host: host)
    let isOnly = state.withLock { state in
      state.ledger.fail(error)
      return !job.isRecursive
    }
    // The last line says it of a single file.
    if !isOnly {
      reporter.log(
        "bridgectl: \(place): \(PeerText.escaped(FileFailure.reason(fault, host: host)))")
    }
    await reporter.writtenEvent(.copy(.failed(path: place, error)))
  }

  private func shown(_ path: FilePath, isTarget: Bool) -> String {
    let isInside = state.withLock { $0.isInside }
    let place = FileTransfer.place(
      of: path, isTarget: isTarget, job: job, host: context.host, isInside: isInside)
    return PeerText.escaped(place, limit: 1024)
  }

  private func showProgress(of transfer: FileTransfer) async {
    var ticks = 0
    while (try? await context.clock.sleep(for: .milliseconds(250))) != nil {
      await takeProgress(of: transfer)
      let (progress, isDown) = state.withLock { ($0.progress, $0.isDown) }
      guard !isDown else { continue }
      reporter.progress(progress.text)
      ticks += 1
      if ticks.isMultiple(of: 4) { reporter.event(.copy(.progress(progress))) }
    }
  }

  private func takeProgress(of transfer: FileTransfer) async {
    let progress = await transfer.progress
    let time = ContinuousClock.now - start
    state.withLock { state in
      state.progress.files = Int(clamping: progress.files)
      state.progress.bytes = Int(clamping: progress.bytes)
      state.progress.rate = state.rate.add(state.progress.bytes, at: time)
    }
  }
}
