import BridgeErrors
import BridgeFiles
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

// What a copy reports: to a person, and as events.
extension CopyWork {
  /// The first thing that is reported of a source: what the host copies with.
  private func begin() {
    let (isFirst, usesTools, source) = state.withLock { state in
      defer { state.hasStarted = true }
      return (!state.hasStarted, state.usesTools, state.current.place.text)
    }
    guard isFirst else { return }
    reporter.event(
      .copy(
        .started(
          source: source, destination: request.destination.text,
          tool: usesTools ? "shell" : "bridge-host")))
  }

  func finish() async {
    let (ledger, progress) = state.withLock { ($0.ledger, $0.progress) }
    let time = ContinuousClock.now - start
    reportEnd()
    state.withLock { $0.isOver = true }
    // Of a single file the error says all.
    if ledger.copied > 0 || !isOnly {
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

  func fail(_ error: AppError) async {
    let (gaveUp, newest) = state.withLock { ($0.gaveUp, $0.newest) }
    if let gaveUp, gaveUp.error == error {
      reportEnd()
      return context.finish(.failure(gaveUp))
    }
    guard error != .cancelled else { return }
    // What the other streams of a file find after the first failure follows from that.
    let error = (isOnly ? state.withLock { $0.ledger.first } : nil) ?? error
    // Either end removes the part of a file that it could not copy.
    state.withLock { $0.goesOn = false }
    reportEnd()
    reportPartOfAll()
    await reportDisk(error)
    context.fail(error, await newest?.lastRefusal)
  }

  /// Which disk is full: the error has the sizes alone.
  private func reportDisk(_ error: AppError) async {
    guard case .insufficientDiskSpace = error else { return }
    for transfer in state.withLock({ $0.transfers }) {
      guard let place = await transfer.ended?.place else { continue }
      let shown = PeerText.escaped(place, limit: 1024)
      return reporter.log("bridgectl: there is no space for \(shown).")
    }
  }

  /// What there is of several sources or a tree that are not all copied, and where it ended.
  private func reportPartOfAll() {
    guard !isOnly else { return }
    let state = state.withLock(\.self)
    guard state.ledger.copied > 0 || state.isInto else { return }
    let summary = state.ledger.summary(state.progress, after: ContinuousClock.now - start)
    reporter.log("bridgectl: " + summary)
    guard state.isInto else { return }
    let place = PeerText.escaped(state.current.place.text, limit: 1024)
    reporter.log("bridgectl: \(place) is not, nor what comes after it.")
  }

  func report(_ events: [FileEvent], ofStream stream: Int) async {
    begin()
    for event in events {
      switch event {
      case .totals(let files, let bytes):
        state.withLock { state in
          let bytes = Int(clamping: bytes)
          state.totals.set(state.current.index, files: Int(clamping: files), bytes: bytes)
        }
      case .placed(let isInside): state.withLock { $0.isInside = isInside }
      case .hostTools(let digests, let times):
        let isNews = state.withLock { state in
          state.goesOn = digests
          defer { state.hasLimits = true }
          return !state.hasLimits
        }
        guard isNews else { continue }
        reporter.log(
          "bridgectl: "
            + CopyLedger.limits(
              context.host, target: context.shownHost, digests: digests, times: times))
      case .begun(let size):
        guard !request.isRecursive else { continue }
        state.withLock { state in
          let part = state.isInto ? state.current.index : stream
          state.totals.set(part, files: state.isInto ? 1 : nil, bytes: Int(clamping: size))
        }
      case .continued(let path, let offset):
        await report(path, continuedAt: offset, ofStream: stream)
      case .copied(let path, let bytes, let digest, let hasChanged):
        // One of several streams is not a file.
        guard sideLinks == 0 || isWhole else { continue }
        await report(path, bytes, digest, hasChanged, isVerified: digest != nil)
      case .missing(let path, let fault, let isTarget):
        await report(path, fault, isTarget)
      }
    }
  }

  /// Whether one file is all that is copied.
  private var isOnly: Bool { !request.isRecursive && !state.withLock { $0.isInto } }

  /// Whether one stream carries all.
  private var isWhole: Bool { state.withLock { $0.transfers.count == 1 } }

  private func report(
    _ path: FilePath, continuedAt offset: UInt64, ofStream stream: Int
  ) async {
    let place = shown(path, isTarget: false)
    let number = isWhole ? nil : stream + 1
    let subject = number.map { "stream \($0) of \(place)" } ?? place
    reporter.detail("bridgectl: \(subject) goes on at byte \(offset)")
    await reporter.writtenEvent(
      .copy(.continued(path: place, from: Int(clamping: offset), stream: number)))
  }

  /// A file is in place.
  func report(
    _ path: FilePath, _ bytes: UInt64, _ digest: [UInt8]?, _ hasChanged: Bool, isVerified: Bool
  ) async {
    state.withLock { state in
      state.ledger.copied += 1
      if !isVerified { state.ledger.unverified += 1 }
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
          sha256: digest.flatMap { $0.isEmpty ? nil : Hexadecimal.text($0) },
          hasChanged: hasChanged)))
  }

  func report(_ path: FilePath, _ fault: FileFault, _ isTarget: Bool) async {
    let place = shown(path, isTarget: isTarget)
    let host = context.settings.givenHost
    let error = FileFailure.error(fault, path: place, isTarget: isTarget, host: host)
    let isOnly = isOnly
    let isNews = state.withLock { state in
      // Each stream of a file may find the same.
      guard !isOnly || state.ledger.failed == 0 else { return false }
      state.ledger.fail(error)
      return true
    }
    guard isNews else { return }
    // The last line says it of a single file.
    if !isOnly {
      reporter.log(
        "bridgectl: \(place): \(PeerText.escaped(FileFailure.reason(fault, host: host)))")
    }
    await reporter.writtenEvent(.copy(.failed(path: place, error)))
  }

  func shown(_ path: FilePath, isTarget: Bool) -> String {
    let isInside = state.withLock { $0.isInside }
    let place = FileTransfer.place(
      of: path, isTarget: isTarget, job: job, host: context.host, isInside: isInside)
    return PeerText.escaped(place, limit: 1024)
  }

  func showProgress() async {
    var ticks = 0
    while (try? await context.clock.sleep(for: .milliseconds(250))) != nil {
      await takeProgress()
      // The banner below says how the link is.
      let isOut = context.view.isOut
      let progress = state.withLock { state in
        state.progress.isWaiting = isOut
        return state.progress
      }
      reporter.progress(progress.text)
      guard !isOut else { continue }
      ticks += 1
      if ticks.isMultiple(of: 4) { reporter.event(.copy(.progress(progress))) }
    }
  }

  /// What several streams have brought together, after what was settled before them.
  static func progress(
    of transfers: [FileTransfer], after settled: FileProgress = FileProgress()
  ) async -> FileProgress {
    var sum = settled
    for transfer in transfers {
      let progress = await transfer.progress
      sum.files += progress.files
      sum.bytes += progress.bytes
    }
    return sum
  }

  func takeProgress() async {
    let (transfers, settled) = state.withLock { ($0.transfers, $0.settled) }
    var progress = await Self.progress(of: transfers, after: settled)
    // The streams of a file are one.
    if transfers.count > 1 { progress.files = UInt64(state.withLock { $0.ledger.copied }) }
    let time = ContinuousClock.now - start
    state.withLock { state in
      state.progress.files = Int(clamping: progress.files)
      state.progress.bytes = Int(clamping: progress.bytes)
      (state.progress.totalFiles, state.progress.totalBytes) = (
        state.totals.files, state.totals.bytes
      )
      state.progress.rate = state.rate.add(state.progress.bytes, at: time)
    }
  }
}
