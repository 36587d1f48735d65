public import BridgeErrors
public import BridgeSessionProtocol
public import BridgeTransport

/// The durable sessions of one host, without attaching to one: what `bridge-host` answers to list,
/// start, wait, kill, read and version. One exec each, over any source of byte channels.
public struct SessionHost: Sendable {
  private let source: any ByteChannelSource
  private let host: String
  private let program: String?
  private let agent: Identifier?
  private let unheard: UnheardLinks
  /// How long the host may be silent before it answers, in milliseconds.
  private let silence: Milliseconds
  /// Where the host that answered first keeps sessions.
  private let place: StartPlace

  /// The sessions behind `source`.
  ///
  /// - Parameters:
  ///   - host: the host, as errors name it.
  ///   - program: the path of `bridge-host` there; nil to look where it is installed.
  public init(_ source: any ByteChannelSource, host: String, program: String? = nil) {
    self.init(source, host: host, program: program, unheard: UnheardLinks())
  }

  /// The sessions behind one of the links of a run, to a host that may be silent for `answerLimit`
  /// before it answers; those that are started have the agent of the client with the token `agent`.
  ///
  /// - Parameter place: the same for all links of a run: under one name several hosts may answer.
  package init(
    _ source: any ByteChannelSource, host: String, program: String? = nil,
    agent: Identifier? = nil, unheard: UnheardLinks, place: StartPlace = StartPlace(),
    answerLimit: Duration = .seconds(30)
  ) {
    self.place = place
    silence = Milliseconds(max(0, answerLimit / .milliseconds(1)))
    self.source = source
    self.host = host
    self.program = program
    self.agent = agent
    self.unheard = unheard
  }

  /// All sessions of the user, as their files have them.
  ///
  /// - Throws: `durableSessionHostUnusable`, also for an answer of more than 4 MiB; what ended the
  ///   link; `cancelled`.
  public func list() async throws(AppError) -> [SessionStatus] {
    var found: [SessionStatus] = []
    try await ask(.list, of: nil) { frame in
      if case .status(let status) = frame { found.append(status) }
      return true
    }
    return found
  }

  /// More than the sessions of a user take: a host that never stops must not fill the memory here.
  private static let answerLimit = 4 << 20

  /// Starts a program and attaches to nothing; starting it again gives the same answer.
  ///
  /// - Throws: `validationError` for a command or an environment that is too long;
  ///   `durableSessionConflict`, `durableSessionHostUnusable`, `fileWriteError`; what ended the
  ///   link, after which it may have been started: start it again under the same id.
  public func start(_ spec: SessionSpec) async throws(AppError) -> SessionStatus {
    try await start(spec, at: StartPlace())
  }

  /// Likewise, where it may have been started at a place before.
  package func start(
    _ spec: SessionSpec, at place: StartPlace
  ) async throws(AppError) -> SessionStatus {
    try SessionFailure.requireFit(spec)
    let opening = HostExchange.Opening(bytes: Frame.start(spec).encoded, place: place)
    var answer: SessionStatus?
    // What comes behind the answer may be of a program that a start-up file left running.
    try await ask(.start, of: spec.session, opening) { frame in
      if case .status(let status) = frame, status.session == spec.session { answer = status }
      return answer == nil
    }
    guard let answer else { throw SessionFailure.unknownStart(unanswered, host: host) }
    return answer
  }

  private func exchange(
    _ verb: HostCommand.Verb, _ opening: HostExchange.Opening? = nil
  ) async throws(AppError) -> HostExchange {
    let command = HostCommand(verb, program: program, agent: verb == .start ? agent : nil)
    return try await HostExchange(
      verb, command, source, host, unheard, place, silence: silence, opening)
  }

  private var unanswered: AppError {
    .durableSessionHostUnusable(host: host, reason: "bridge-host did not answer")
  }

  /// Waits for the end of a session's program.
  ///
  /// - Parameter stalled: is called when the program waits for a reader of its output, without
  ///   which it does not end; once.
  /// - Throws: `durableSessionNotFound`; what ended the link; `cancelled`.
  public func wait(
    for session: SessionID, stalled: () -> Void = {}
  ) async throws(AppError) -> SessionStatus {
    try await status(.wait(session), of: session) { status in
      if status.state == .running, status.waitsForReader { stalled() }
    }
  }

  /// Signals a session's program; without a signal HUP and CONT at once, TERM after 2 seconds and
  /// KILL after 5 more. Answers when the first was sent.
  ///
  /// - Throws: `durableSessionNotFound`; what ended the link; `cancelled`.
  public func kill(
    _ session: SessionID, _ signal: SessionSignal? = nil
  ) async throws(AppError) -> SessionStatus {
    try await status(.kill(session, signal), of: session)
  }

  /// Gives a session another name, of 1 to `SessionSpec.longestName` bytes.
  ///
  /// - Throws: `durableSessionNotFound`; `durableSessionConflict` where another one that runs has
  ///   the name; `durableSessionHostUnusable`, also where it is too old for that; what ended the
  ///   link; `cancelled`.
  public func rename(
    _ session: SessionID, to name: [UInt8]
  ) async throws(AppError) -> SessionStatus {
    try await status(.rename(session, to: name), of: session)
  }

  /// Removes a session that has ended, or all of them: their output and how they ended are gone
  /// then, but for readers that are attached.
  ///
  /// - Returns: the sessions that were removed; none where the one that was named runs, or its
  ///   keeper has not ended.
  /// - Throws: `durableSessionNotFound`; `durableSessionHostUnusable`, also where it is too old for
  ///   that; what ended the link; `cancelled`.
  public func forget(_ session: SessionID? = nil) async throws(AppError) -> [SessionStatus] {
    var found: [SessionStatus] = []
    try await ask(.forget(session), of: session) { frame in
      if case .status(let status) = frame { found.append(status) }
      return true
    }
    return found
  }

  /// The protocol versions that the `bridge-host` there reports.
  ///
  /// - Throws: `durableSessionHostUnusable`; what ended the link; `cancelled`.
  public func version() async throws(AppError) -> String {
    let exchange = try await exchange(.version)
    return try await exchange.text()
  }

  /// Output from an offset on, without attaching: it is neither acknowledged nor committed.
  ///
  /// - Parameters:
  ///   - follows: whether to go on until the program has ended.
  ///   - stalled: is called when the program waits for a reader that attaches; once.
  ///   - take: gets each chunk in order; false ends the reading.
  /// - Returns: the offset after the last chunk that was taken, how the program ended where it has,
  ///   and what is not among it because a full disk did not take it: only `attach` has that.
  /// - Throws: `durableSessionNotFound`; what ended the link; `cancelled`.
  public func read(
    _ session: SessionID, from offset: UInt64 = 0, follows: Bool = false,
    stalled: () -> Void = {}, _ take: (SessionChunk) async -> Bool
  ) async throws(AppError) -> (end: UInt64, ending: ProgramEnd?, memory: SessionStatus.Memory?) {
    var (position, ending) = (offset, ProgramEnd?.none)
    var status: SessionStatus?
    let verb = HostCommand.Verb.read(session, from: offset, follows: follows)
    let exchange = try await exchange(verb)
    while let frame = try await exchange.next(of: session) {
      var chunk: SessionChunk?
      guard ending == nil else { throw await exchange.unexpected(frame) }
      switch frame {
      case .output(let start, let stream, let bytes):
        chunk = SessionChunk(offset: start, content: .bytes(bytes, stream))
      case .gap(let from, let to): chunk = SessionChunk(offset: from, content: .gap(to: to))
      case .ended(let end, _) where end != position:
        throw await exchange.violation(.hole(expected: position, found: end))
      case .ended(_, let end): ending = end
      case .status(let seen):
        status = seen
        if follows, seen.state == .running, seen.waitsForReader { stalled() }
      case .notice: break
      case .hello, .welcome, .refused, .input, .acknowledge, .control, .ping, .pong, .start,
        .screen, .size:
        throw await exchange.unexpected(frame)
      }
      guard let chunk else { continue }
      guard chunk.offset == position else {
        throw await exchange.violation(.hole(expected: position, found: chunk.offset))
      }
      position = chunk.end
      guard await take(chunk) else {
        await exchange.close()
        return (position, nil, nil)
      }
    }
    // What the host said it has must have come.
    let isWhole = status.map { position >= $0.newest && (!follows || $0.state != .running) }
    guard ending != nil || isWhole == true else {
      throw .sshProtocolError(host: host, detail: "bridge-host ended before the output was whole")
    }
    return (position, ending, follows ? nil : status?.memory)
  }

  private func status(
    _ verb: HostCommand.Verb, of session: SessionID, seen: (SessionStatus) -> Void = { _ in }
  ) async throws(AppError) -> SessionStatus {
    var last: SessionStatus?
    try await ask(verb, of: session) { frame in
      if case .status(let status) = frame {
        last = status
        seen(status)
      }
      return true
    }
    guard let last, last.session == session else { throw unanswered }
    return last
  }

  /// The frames of an answer, until `take` wants no more.
  private func ask(
    _ verb: HostCommand.Verb, of session: SessionID?, _ opening: HostExchange.Opening? = nil,
    _ take: (Frame) -> Bool
  ) async throws(AppError) {
    let exchange = try await exchange(verb, opening)
    var size = 0
    while let frame = try await exchange.next(of: session) {
      size += frame.encoded.count
      guard size <= Self.answerLimit else {
        await exchange.close()
        let reason = "its answer has more than \(Self.answerLimit >> 20) MiB"
        throw await exchange.unreadable(.durableSessionHostUnusable(host: host, reason: reason))
      }
      guard take(frame) else { return await exchange.close() }
    }
  }
}

/// One verb on one channel.
private actor HostExchange {
  private let channel: any ByteChannel
  private let verb: HostCommand.Verb
  private let command: HostCommand
  private let host: String
  private var answer: AnswerReader
  private let unheard: UnheardLinks
  private let place: StartPlace
  private let watch: AnswerWatch
  private let watching: Task<Void, Never>
  private var waiting: Task<Void, Never>?
  private var phase: Phase
  /// Whether an answer is whole with status 0 only; wait and kill also pass on how a program ended.
  private let isWhole: Bool

  private enum Phase {
    /// Nothing was sent. The opening waits until bridge-host answers: before that another program
    /// may read it.
    case silent(Opening?)
    /// What begins the request was sent, once.
    case begun(Start?)
  }

  /// A program may have been started.
  private struct Start {
    let place: StartPlace
    /// Whether that was so before.
    let couldHaveStarted: Bool
  }

  /// What starts a program.
  struct Opening {
    let bytes: [UInt8]
    /// Where it may have been started.
    let place: StartPlace
  }

  init(
    _ verb: HostCommand.Verb, _ command: HostCommand, _ source: any ByteChannelSource,
    _ host: String, _ unheard: UnheardLinks, _ place: StartPlace, silence: Milliseconds,
    _ opening: Opening? = nil
  ) async throws(AppError) {
    (self.verb, self.command, self.place) = (verb, command, place)
    (self.host, self.phase, self.unheard) = (host, .silent(opening), unheard)
    switch verb {
    case .list, .rename, .forget, .read, .files, .agent, .version: isWhole = true
    case .start, .startAndAttach, .attach, .wait, .kill: isWhole = false
    }
    answer = AnswerReader(marker: command.marker)
    let channel = try await source.channel(running: command.text)
    self.channel = channel
    let watch = AnswerWatch(SessionClock(ContinuousClock()), silence: silence)
    self.watch = watch
    watching = Task(executorPreference: nil) { await watch.run(closing: channel) }
  }

  /// The next frame; nil at the end of a whole answer.
  func next(of session: SessionID?) async throws(AppError) -> Frame? {
    do throws(AppError) {
      while true {
        if let frame = try parse() {
          await acknowledge(frame)
          return try accept(frame, session)
        }
        // Why there are no more is asked next.
        guard let bytes = try? await channel.read() else { return try await end() }
        watch.hear()
        do throws(AnswerReader.Failure) {
          try answer.append(bytes)
        } catch {
          throw unreadable(SessionFailure.error(error, host: host))
        }
        switch answer.progress {
        case .preamble: continue
        case .marked: waitForGreeting()
        case .begun: try await begin()
        }
      }
    } catch {
      await close()
      throw watch.isLate ? watch.error(host: host) : error
    }
  }

  /// Tells the host that the end is here: a link that is lost before it is one of a reader that
  /// comes back.
  private func acknowledge(_ frame: Frame) async {
    switch (verb, frame) {
    case (.read(_, _, follows: true), .ended): break
    case (.wait, .status(let status)) where status.state != .running: break
    case _: return
    }
    try? await channel.write([HostAnswer.taken])
  }

  private func waitForGreeting() {
    guard waiting == nil else { return }
    waiting = Task(executorPreference: nil) {
      try? await ContinuousClock().sleep(for: .milliseconds(AnswerWatch.greeting))
      await self.acceptSilence()
    }
  }

  private func acceptSilence() async {
    answer.acceptSilence()
    if answer.hasBegun { try? await begin() }
  }

  private func begin() async throws(AppError) {
    stopWaiting()
    guard case .silent(let opening) = phase else { return }
    phase = .begun(nil)
    place.see(answer.places)
    switch verb {
    // A host that has answered all may be gone already.
    case .wait, .read(_, _, follows: true): try? await channel.write([HostAnswer.takes])
    case .start, .startAndAttach, .attach, .list, .read, .kill, .rename, .forget, .files, .agent,
      .version:
      break
    }
    guard let opening else { return }
    guard opening.place.isAmong(answer.places) else { throw SessionFailure.otherPlace(host: host) }
    let couldHaveStarted = opening.place.enter(answer.places)
    phase = .begun(Start(place: opening.place, couldHaveStarted: couldHaveStarted))
    try await channel.write(opening.bytes)
  }

  private func stopWaiting() {
    if answer.hasBegun { unheard.hear() }
    watch.stop()
    watching.cancel()
    waiting?.cancel()
  }

  private func parse() throws(AppError) -> Frame? {
    do throws(AnswerReader.Failure) {
      return try answer.next()
    } catch {
      throw unreadable(SessionFailure.error(error, host: host))
    }
  }

  func unreadable(_ error: AppError) -> AppError {
    guard case .begun(_?) = phase else { return error }
    return SessionFailure.unknownStart(error, host: host)
  }

  /// The text of an answer without frames.
  func text() async throws(AppError) -> String {
    var marked = MarkedBytes(marker: command.marker)
    var text: [UInt8] = []
    while text.count < Self.textLimit, let bytes = try? await channel.read() {
      watch.hear()
      guard let more = marked.take(bytes) else {
        await close()
        throw SessionFailure.error(.noMarker, host: host)
      }
      if marked.hasBegun {
        unheard.hear()
        stopWaiting()
      }
      text += more
    }
    let ending = await channel.ending(SessionClock(ContinuousClock()))
    await close()
    guard !watch.isLate else { throw watch.error(host: host) }
    let printed = marked.hasBegun ? text.suffix(1024) : marked.preamble.suffix(1024)
    guard marked.hasBegun, ending == .finished(status: 0) else {
      throw error(of: ending, printed: printed, hasBegun: false)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let textLimit = 64 << 10

  func close() async {
    stopWaiting()
    await channel.close()
  }

  func violation(_ violation: ProtocolError) async -> AppError {
    await close()
    return SessionFailure.error(.violation(violation), host: host)
  }

  func unexpected(_ frame: Frame) async -> AppError {
    await violation(.unexpectedFrame(type: frame.type.rawValue))
  }

  private func accept(
    _ frame: Frame, _ session: SessionID?
  ) throws(AppError) -> Frame {
    guard case .refused(let refusal) = frame else { return frame }
    // It was there over the link before.
    if refusal.code == .unknownSession, place.isGone(from: answer.places) {
      throw SessionFailure.otherPlace(host: host)
    }
    if case .begun(let start?) = phase {
      start.place.decline(couldHaveStarted: start.couldHaveStarted)
    }
    throw SessionFailure.error(
      refusal, host: host, session: session ?? Identifier(high: 0, low: 0))
  }

  private func end() async throws(AppError) -> Frame? {
    let ending = await channel.ending(SessionClock(ContinuousClock()))
    await close()
    // One without a greeting may have nothing to say.
    answer.acceptSilence()
    // A program that was killed between two frames has not said all.
    guard case .finished(let status?) = ending, answer.isComplete, status == 0 || !isWhole else {
      throw unreadable(
        error(of: ending, printed: answer.preamble, hasBegun: answer.hasBegun))
    }
    return nil
  }

  private func error(
    of ending: ByteChannelEnding, printed: some Sequence<UInt8>, hasBegun: Bool
  ) -> AppError {
    let printed = Array(printed)
    if !hasBegun { unheard.hearOthers(printed) }
    return switch ending {
    case .lost(let error): error
    case .closed: .cancelled
    case .finished(let status):
      SessionFailure.unanswered(
        status: status, printed: printed, hasBegun: hasBegun, host: host)
    }
  }
}
