package import ArgumentParser
package import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTerminalState
import BridgeTransport
import BridgeWaiting

/// `bridgectl logs`.
package struct LogsCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "logs",
    abstract: "Print the output of a durable session.",
    discussion: """
      Prints from the oldest output that is kept, from the offset of --from, or the last lines \
      with -n: standard output on standard output, standard error on standard error. With -f \
      until the program ends. It attaches to nothing and commits nothing. A lost link is restored, \
      and printing continues at the next byte.

      The exit status is 0, or 74 if bytes from --from on, or in the middle, or all of them are no \
      longer kept.

      EXAMPLES:
          bridgectl logs build.example build
          bridgectl logs -f build.example 3f2a > build.log
          bridgectl logs -f -n 20 build.example build
          bridgectl logs --from 1048576 build.example build
      """)

  @Flag(name: .customShort("f"), help: "Follow the output until the program ends.")
  package var follow = false

  @Option(help: ArgumentHelp("The offset of the first byte to print.", valueName: "OFFSET"))
  package var from: String?

  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Only the last lines, of both streams together.", valueName: "LINES"))
  package var tail: String?

  @OptionGroup package var link: LinkArguments

  @Argument(help: SessionArgument.help)
  package var session: String

  /// Creates the command with its defaults.
  package init() {}

  /// What is printed first.
  package enum Beginning: Sendable, Equatable {
    case oldest
    case offset(UInt64)
    case lastLines(Int)
  }

  /// More lines than a person reads, few enough to remember where they begin.
  private static let mostLines = 1_000_000

  /// What is printed first, as the options have it.
  ///
  /// - Throws: `validationError` for what is no offset or no number of lines, and for both.
  package static func beginning(
    from: String?, tail: String?
  ) throws(AppError) -> Beginning {
    switch (from, tail) {
    case (nil, nil): return .oldest
    case (let text?, nil):
      return .offset(try number(text, below: Limits.offset, "--from", "an offset"))
    case (nil, let text?):
      let limit = UInt64(mostLines) + 1
      let lines = try number(text, below: limit, "-n", "a number of lines up to \(mostLines)")
      return .lastLines(Int(lines))
    case (.some, .some):
      throw .validationError(field: "-n", message: "It does not go with --from.")
    }
  }

  private static func number(
    _ text: String, below limit: UInt64, _ field: String, _ meaning: String
  ) throws(AppError) -> UInt64 {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt64(text),
      number < limit
    else {
      let shown = PeerText.escaped(text, limit: 64)
      throw .validationError(field: field, message: "\"\(shown)\" is not \(meaning).")
    }
    return number
  }

  /// Ends the process with the exit code.
  package func run() async throws {
    let (link, session, from, tail, follow) = (link, session, from, tail, follow)
    let options = { () throws(AppError) in try Self.beginning(from: from, tail: tail) }
    // Over all generations of the link.
    let progress = Mutex(OutputProgress())
    await SessionArgument.run(link, session, options) { (selector, start) in
      SessionQuery.Body(
        ask: { scope async throws(AppError) -> RunContext.Ending in
          let id = try await scope.resolve(selector)
          let printer = LogPrinter(scope: scope, progress: progress)
          try await printer.begin(id, at: start)
          return try await printer.print(id, follows: follow)
        }, progress: { progress.withLock { $0.position } })
    }
  }
}

/// Prints the output of a session.
private struct LogPrinter: Sendable {
  let scope: SessionQuery.Scope
  let progress: Mutex<OutputProgress>
  /// On a terminal, what it would answer is taken out.
  let filter = Mutex(MuteFilter())

  /// Finds where to begin, over the first link that brings the answer.
  func begin(_ session: SessionID, at start: LogsCommand.Beginning) async throws(AppError) {
    guard !progress.withLock(\.hasBegun) else { return }
    let offset: UInt64?
    switch start {
    case .oldest: offset = nil
    case .offset(let from): offset = from
    case .lastLines(let count): offset = try await beginning(ofLast: count, in: session)
    }
    progress.withLock { $0.begin(at: offset) }
  }

  /// So much is read first for each line that is wanted, in bytes.
  private static let usualLine: UInt64 = 128
  private static let smallestLook: UInt64 = 16 << 10

  /// Where the last lines begin; nil for the oldest output that is kept. Looks from the end
  /// backwards, further each time.
  private func beginning(
    ofLast count: Int, in session: SessionID
  ) async throws(AppError) -> UInt64? {
    let listed = try await scope.sessions.list().first { $0.session == session }
    guard let status = listed else {
      throw .durableSessionNotFound(host: scope.context.settings.givenHost, id: "\(session)")
    }
    let (oldest, newest) = (status.oldest, status.newest)
    var look = max(Self.smallestLook, UInt64(count) * Self.usualLine)
    while newest > oldest {
      let isAll = look >= newest - oldest
      let from = isAll ? oldest : newest - look
      var lines = LastLines(count, from: from, beginsLine: isAll)
      _ = try await scope.sessions.read(session, from: from) { chunk in
        lines.take(chunk)
        return true
      }
      if let offset = lines.beginning { return offset }
      guard !isAll else { return nil }
      look *= 8
    }
    return count == 0 ? newest : nil
  }

  func print(
    _ session: SessionID, follows: Bool
  ) async throws(AppError) -> RunContext.Ending {
    let context = scope.context
    // What the link before brought may be in the queues: nothing is read before it is written.
    await context.reporter.drain()
    if await context.output.drain() == .queued { throw .cancelled }
    var last = DescriptorWriter.Outcome.written
    let (_, ending, memory) = try await scope.sessions.read(
      session, from: progress.withLock { $0.position }, follows: follows,
      stalled: { scope.warnOfStall(session) }
    ) { chunk in
      last = await take(chunk)
      return last == .written
    }
    switch last {
    case .written: break
    // The link was lost while a reader was slow: reading goes on over the next.
    case .queued: throw .cancelled
    case .failed: return context.outputEnding
    }
    if memory != nil {
      context.reporter.warn("the host's disk is full: the newest output is there in memory only.")
    }
    switch ending {
    case .unknownKeeperDied, .orphaned, .unknownRebooted:
      // Who follows waits for an end.
      if follows { return context.ending(ending) }
      context.reporter.log("bridgectl: \(ending.map(SessionText.end) ?? "")")
    case .exited, .signaled:
      if follows, context.reporter.style.isTerminal, let ending {
        context.reporter.log("bridgectl: the program has ended: \(SessionText.end(ending)).")
      }
    case nil: break
    }
    guard let missing = progress.withLock({ $0.missing }) else { return .success(.success) }
    return .failure(
      CommandFailure(
        error: .durableSessionGap(from: missing.lowerBound, to: missing.upperBound)))
  }

  /// Prints a chunk. What is queued will be written, and counts as printed.
  private func take(_ chunk: SessionChunk) async -> DescriptorWriter.Outcome {
    let context = scope.context
    var outcome = DescriptorWriter.Outcome.written
    switch chunk.content {
    case .screen, .omitted, .size: return .written
    case .gap(let end):
      context.warnOfGap(chunk.offset, end)
      progress.withLock { $0.skip(to: end) }
      return .written
    case .bytes(let bytes, .standardError):
      outcome = await context.reporter.remoteError(bytes)
      // A closed standard error means that no output is wanted there.
      if outcome == .failed { outcome = .written }
    case .bytes(let bytes, let stream):
      let isMuted = stream == .terminal && context.local.outputIsTerminal
      let shown = isMuted ? filter.withLock { $0.filter(bytes) } : bytes
      outcome = await context.write([shown])
    }
    if outcome != .failed { progress.withLock { $0.print(through: chunk.end) } }
    return outcome
  }
}

extension RunContext {
  /// Says that output is no longer kept.
  func warnOfGap(_ from: UInt64, _ to: UInt64) {
    reporter.event(.gap(from: from, to: to))
    reporter.log("bridgectl: \(Self.gapText(from..<to))")
  }
}
