import BridgeErrors
import BridgeFiles
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

// The sources of a copy: which there are, and one after the other.
extension CopyWork {
  /// Names what is known to be missing before anything is dialed.
  func reportFaulty() {
    for faulty in survey.faulty {
      let error = request.error(of: faulty)
      state.withLock { $0.ledger.fail(error) }
      reporter.log("bridgectl: \(request.words(of: faulty))")
      let path = PeerText.escaped(faulty.place.text, limit: 1024)
      reporter.event(.copy(.failed(path: path, error)))
    }
  }

  /// Copies one source after the other.
  func copyAll() async -> Result<Void, AppError> {
    do throws(AppError) {
      let sources = try await sources()
      for (index, source) in sources.enumerated() { try await copy(source.place, at: index) }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  /// What there is to copy, with what the patterns of the host stand for.
  private func sources() async throws(AppError) -> [CopyRequest.Survey.Ready] {
    let patterns = survey.ready.map(\.place).filter(request.isPattern)
    var names = patterns.isEmpty ? [] : try await names(of: patterns.map(\.path))[...]
    var sources: [CopyRequest.Survey.Ready] = []
    var unmatched: [CopyPlace] = []
    for source in survey.ready {
      guard request.isPattern(source.place), let paths = names.popFirst() else {
        sources.append(source)
        continue
      }
      let matches = source.place.matches(paths, on: request.host)
      if matches.isEmpty { unmatched.append(source.place) }
      sources += matches.map { .init(place: $0, size: nil) }
    }
    let places = sources.map(\.place)
    if request.isSeveral(places) {
      try request.check(places)
      try request.checkDestination()
      state.withLock { state in
        state.isInto = true
        state.totals = CopyTotals(sources.count)
        for (index, source) in sources.enumerated() {
          guard let size = source.size else { continue }
          state.totals.set(index, files: 1, bytes: Int(clamping: size))
        }
      }
    }
    for pattern in unmatched { await report(unmatched: pattern) }
    return sources
  }

  /// The names of the host that match; over one link after the other.
  private func names(of patterns: [[UInt8]]) async throws(AppError) -> [[[UInt8]]] {
    let host = context.settings.givenHost
    let search = HostPatterns(patterns, host: host, unheard: unheard)
    var attempts = CopyAttempts()
    while true {
      let command = search.command()
      let channel: any ByteChannel
      do throws(AppError) {
        channel = try await links[0].channel(running: command.text)
      } catch {
        guard case .sshOutcomeUnknown = error,
          attempts.goesOn(after: .finished(status: nil), .init())
        else { throw error }
        continue
      }
      switch try await search.carry(over: channel, command) {
      case .found(let names): return names
      case .unavailable(let reason):
        logNoShell()
        throw .featureUnavailable(feature: "A pattern of names (\(host): \(reason))")
      case .ended(let ending):
        if Task.isCancelled || state.withLock({ $0.isLeaving }) { throw .cancelled }
        guard attempts.goesOn(after: ending, FileProgress()) else { throw endsAtOnce }
      }
    }
  }

  /// Nothing on the host matches a pattern.
  private func report(unmatched pattern: CopyPlace) async {
    let path = PeerText.escaped(pattern.text, limit: 1024)
    let reason = "nothing there matches it"
    let error = AppError.fileReadError(path: path, reason: reason)
    state.withLock { $0.ledger.fail(error) }
    // The last line says it of the only one.
    if request.sources.count > 1 { reporter.log("bridgectl: \(path): \(reason)") }
    await reporter.writtenEvent(.copy(.failed(path: path, error)))
  }

  /// Copies one source; one that fails by itself leaves the others to be copied.
  private func copy(_ place: CopyPlace, at index: Int) async throws(AppError) {
    let isInto = state.withLock { $0.isInto }
    var job = makeJob(place, index, isInto)
    if state.withLock({ $0.usesSHA256 }) { job.key = nil }
    job.hasDirectory = state.withLock { $0.settled.files > 0 }
    let current = Current(place: place, job: job, index: index)
    state.withLock { state in
      state.current = current
      (state.hasStarted, state.goesOn, state.isInside) = (false, true, isInto)
    }
    do throws(AppError) {
      try await copy()
    } catch {
      guard isInto, let transfer = state.withLock({ $0.transfers.first }),
        let fault = await transfer.ended?.fault, fault.code == .busy
      else { throw error }
      await report([], fault, true)
    }
    if isInto { await settle(index) }
  }

  /// One of several sources is over.
  private func settle(_ index: Int) async {
    let (transfers, settled) = state.withLock { ($0.transfers, $0.settled) }
    let sum = await Self.progress(of: transfers, after: settled)
    state.withLock { state in
      (state.transfers, state.route, state.settled) = ([], [], sum)
      (state.progress.files, state.progress.bytes) = (
        Int(clamping: sum.files), Int(clamping: sum.bytes)
      )
      state.totals.settle(
        index, files: Int(clamping: sum.files - settled.files),
        bytes: Int(clamping: sum.bytes - settled.bytes))
    }
    for transfer in transfers {
      // An older `bridge-host` refuses the key once, and not for each source.
      if await transfer.usesSHA256 { state.withLock { $0.usesSHA256 = true } }
      await transfer.release()
    }
  }
}
