import BridgeErrors
import BridgeSessionProtocol
import BridgeTransport
import BridgeWaiting

// Attachments, one after the other.
extension DurableSession {
  /// Attaches until the session is over for this client.
  func carryAll() async {
    var progress = AttachProgress()
    var refusals = RefusalRetry(configuration.refusalPauses)
    var last: ByteChannelEnding?
    do throws(AppError) {
      if let spec = configuration.start { try SessionFailure.requireFit(spec) }
      while !isLeaving {
        let command = nextCommand()
        let channel = try await nextChannel(command.text, last)
        let ending = try await carry(over: channel, command)
        if isWelcome { refusals = RefusalRetry(configuration.refusalPauses) }
        if let error = stall {
          // It goes on, as a program does that reads nothing: that is waited for, however long.
          machine.sendAgain()
          sink.yield(.refused(error))
          try await RefusalRetry.rest()
          last = ending
          continue
        }
        switch Result(catching: { () throws(AppError) in try goesOn(after: ending, &progress) }) {
        case .success(true): break
        case .success(false): return finish()
        // A shell that cannot start it has no process left, for instance.
        case .failure(let error) where mayBeRefused(ending):
          sink.yield(.refused(error))
          try await refusals.wait(after: error)
        case .failure(let error): throw error
        }
        last = ending
        sink.yield(.suspended(ending))
      }
    } catch {
      failure = isLeaving ? nil : error
    }
    finish()
  }

  /// Attaches until the host has removed the session, or removes it no more.
  func removeSession() async {
    var progress = AttachProgress()
    var last: ByteChannelEnding?
    do throws(AppError) {
      repeat {
        machine.closeAgain()
        let command = nextCommand()
        let ending = try await carry(over: try await nextChannel(command.text, last), command)
        guard machine.mayRemove, farewell != .isOver else { break }
        last = ending
      } while !Task.isCancelled
        && progress.ended(
          received: machine.received, taken: machine.inputTaken,
          linkWasLost: last?.isOfTheLink == true)
    } catch {
      // It stays on the host until it is too old to be kept.
    }
    machine.disconnect()
  }

  private func finish() {
    isOver = true
    machine.disconnect()
    timer?.cancel()
    timer = nil
    changes.announce()
    sends.announce()
    outputSpace.announce()
    sink.finish()
  }

  /// Starting is repeated until an answer came: it is done once for an id.
  private func nextCommand() -> HostCommand {
    if isFirst {
      isFirst = false
      return firstCommand
    }
    return HostCommand(
      isStarting ? .startAndAttach : .attach(configuration.attachment.session),
      program: configuration.program, agent: configuration.agent)
  }

  private var isStarting: Bool { configuration.start != nil && machine.welcome == nil }

  /// One attachment, from hello to the end of its channel.
  ///
  /// - Throws: why the session is over for this client.
  private func carry(
    over channel: any ByteChannel, _ command: HostCommand
  ) async throws(AppError) -> ByteChannelEnding {
    (isWelcome, hasStatus) = (false, false)
    if haste == .taken { haste = .allowed }
    answer = AnswerReader(marker: command.marker)
    opening = isStarting ? configuration.start.map { Frame.start($0).encoded } ?? [] : []
    let couldHaveStarted = mayHaveStarted
    machine.connect()
    let limit = Milliseconds(max(0, configuration.answerLimit / .milliseconds(1)))
    let watch = AnswerWatch(clock, silence: limit)
    self.watch = watch
    let result = await withTaskGroup(of: Void.self) { group -> Result<Void, AppError> in
      group.addTask {
        let hasLeft = await self.sendAll(to: channel)
        if hasLeft { await self.stopUnanswered() }
      }
      group.addTask { await watch.run(closing: channel) }
      if machine.welcome != nil { group.addTask { await self.limitHaste(over: channel) } }
      let result = await receiveAll(from: channel)
      group.cancelAll()
      return result
    }
    timer?.cancel()
    timer = nil
    greeting?.cancel()
    greeting = nil
    // One without a greeting may have ended without a word.
    answer.acceptSilence()
    // Declined, and nothing was sent that could have started it before.
    if machine.phase.isRefused, !hasStatus {
      configuration.place.decline(couldHaveStarted: couldHaveStarted)
    }
    machine.disconnect()
    var ending = ByteChannelEnding.closed
    if case .success = result, !Task.isCancelled { ending = await channel.ending(clock) }
    // A server that is asked to close the channel closes the output of the program: for the keeper
    // the attachment ends with that, before the rest of the input.
    if machine.phase == .left, farewell == .isOver { return ending }
    if machine.phase == .left, ending == .finished(status: 0) { farewell = .isOver }
    await channel.close()
    do throws(AppError) {
      try result.get()
    } catch {
      guard isStarting, mayHaveStarted else { throw error }
      throw SessionFailure.unknownStart(error, host: configuration.host)
    }
    guard watch.isLate else { return ending }
    guard machine.welcome == nil else { return .finished(status: nil) }
    throw mayHaveStarted ? unknownStart : watch.error(host: configuration.host)
  }

  /// Whether another attachment follows.
  ///
  /// - Throws: why the session is over for this client.
  private func goesOn(
    after ending: ByteChannelEnding, _ progress: inout AttachProgress
  ) throws(AppError) -> Bool {
    guard !losesHaste(ending) else { return true }
    switch machine.phase {
    case .refused(let refusal):
      let mayRun = machine.welcome != nil || mayHaveStarted
      // It runs on another machine of the same home directory, for instance.
      if refusal.code == .directory, mayRun {
        throw .durableSessionOutcomeUnknown(host: configuration.host, reason: refusal.text)
      }
      throw SessionFailure.error(
        refusal, host: configuration.host, session: configuration.attachment.session)
    case .left: return false
    case .detached, .greeting, .attached: break
    }
    guard machine.ending == nil, !isLeaving, !Task.isCancelled else { return false }
    if case .finished(let status) = ending, !isWelcome {
      let unanswered = SessionFailure.unanswered(
        status: status, printed: answer.preamble, hasBegun: answer.hasBegun,
        host: configuration.host)
      // A status is the word of a program; without one the host may just be going down. Where the
      // keeper died under it, bridge-host knows no more: the next attachment says how that ended.
      // A command that looks for bridge-host is not run again: it may be another one there.
      let isFinal =
        status.map { !answer.hasBegun || $0 != SessionFailure.lostKeeper }
        ?? (isStarting && !answer.hasBegun)
      guard !isFinal, !SessionFailure.saysMissing(answer.preamble) else {
        throw isStarting && mayHaveStarted ? unknownStart : unanswered
      }
    }
    if answer.hasBegun {
      configuration.unheard?.hear()
    } else {
      configuration.unheard?.hearOthers(answer.preamble)
    }
    if ending.isOfTheLink, let error = configuration.unheard?.lose(host: configuration.host) {
      // To a host that is known the start is sent before it answers.
      throw mayHaveStarted
        ? SessionFailure.unknownStart(error, host: configuration.host) : error
    }
    let mayGoOn = progress.ended(
      received: machine.received, taken: machine.inputTaken, linkWasLost: ending.isOfTheLink)
    guard mayGoOn else {
      throw .durableSessionHostUnusable(
        host: configuration.host, reason: "its attachments end as soon as they begin")
    }
    return true
  }

  /// Why the host cannot go on with a session that was attached before: its keeper is stopped, or
  /// waits for a disk; nil for what is no such thing.
  private var stall: AppError? {
    guard case .refused(let refusal) = machine.phase, refusal.code == .directory,
      machine.welcome != nil, !isLeaving, !Task.isCancelled
    else { return nil }
    let error = SessionFailure.error(
      refusal, host: configuration.host, session: configuration.attachment.session)
    return SessionFailure.isOfAStoppedKeeper(error) ? error : nil
  }

  /// Whether the host, on which the session was attached before, did not run `bridge-host` this
  /// time, and has one.
  private func mayBeRefused(_ ending: ByteChannelEnding) -> Bool {
    // One that ends well is another program than it is asked for.
    guard case .finished(let status) = ending, status != 0, machine.welcome != nil, !isWelcome,
      !isLeaving
    else { return false }
    return !answer.hasBegun && !SessionFailure.saysMissing(answer.preamble)
  }

  /// Whether this attachment has failed by its haste; the next one waits for the greeting. Only
  /// once: then it is a failure like any other.
  private func losesHaste(_ ending: ByteChannelEnding) -> Bool {
    guard !isWelcome, !isLeaving, !Task.isCancelled else { return false }
    switch (haste, machine.phase) {
    case (.lost, _): break
    case (.taken, .refused(let refusal)): guard refusal.code == .violation else { return false }
    case (.taken, _): guard !ending.isOfTheLink else { return false }
    case (.allowed, _), (.refused, _): return false
    }
    haste = .refused
    machine.sendAgain()
    return true
  }

  /// Ends an attachment whose greeting came and whose hello, sent before it, has no answer: it
  /// never arrived.
  private func limitHaste(over channel: any ByteChannel) async {
    while haste == .allowed || haste == .taken, !isWelcome, !Task.isCancelled {
      await clock.sleep(Self.hasteLimit)
      guard haste == .taken, answer.hasBegun, !isWelcome, !Task.isCancelled else { continue }
      haste = .lost
      await channel.close()
    }
  }

  private static var hasteLimit: Milliseconds { 5000 }

  // MARK: Receiving

  /// Receives bytes until the channel ends or no more are required.
  private func receiveAll(from channel: any ByteChannel) async -> Result<Void, AppError> {
    while true {
      let bytes: [UInt8]?
      do throws(AppError) {
        bytes = try await channel.read()
      } catch {
        // The reason of the end is requested next.
        return .success(())
      }
      guard let bytes else { return .success(()) }
      do throws(AppError) {
        // Output is acknowledged once it is taken: it gives the sender nothing to send.
        if try take(bytes) { sends.announce() }
        // The reader has a key before this task is ready for the next one.
        if bytes.count < Self.smallRead { await Task.yield() }
        if case .refused = machine.phase { return .success(()) }
        while queue.count > OutputQueue.limit {
          try await outputSpace.wait(after: outputSpace.version)
        }
      } catch {
        return .failure(error)
      }
    }
  }

  private static var smallRead: Int { 4 << 10 }

  /// Returns whether there was something beside output.
  private func take(_ bytes: [UInt8]) throws(AppError) -> Bool {
    let now = clock.now()
    var isOutput = true
    watch?.hear()
    do throws(AnswerReader.Failure) {
      try answer.append(bytes)
    } catch {
      throw SessionFailure.error(error, host: configuration.host)
    }
    guard configuration.place.isAmong(answer.places) else {
      throw SessionFailure.otherPlace(host: configuration.host)
    }
    do throws(AnswerReader.Failure) {
      followAnswer()
      while let frame = try answer.next() {
        isOutput = isOutput && frame.type == .output
        try take(frame, at: now)
      }
    } catch {
      throw SessionFailure.error(error, host: configuration.host)
    }
    changes.announce()
    // Another client became the writer while this one was away.
    guard isWelcome, wasWriter, machine.role == .viewer else { return !isOutput }
    throw .durableSessionReplaced(
      host: configuration.host, by: machine.welcome?.writerName ?? "")
  }

  private func take(_ frame: Frame, at now: Milliseconds) throws(AnswerReader.Failure) {
    if frame.type == .status || frame.type == .welcome {
      hasStatus = true
      configuration.place.enter(answer.places)
    }
    do throws(ProtocolError) {
      for event in try machine.receive(frame, at: now) { take(event) }
    } catch {
      throw .violation(error)
    }
  }

  private func take(_ event: ClientSession.Event) {
    switch event {
    case .attached(let welcome):
      isWelcome = true
      if welcome.role == .writer { wasWriter = true }
      showScreen(welcome)
      sink.yield(.attached(welcome))
    case .output(let offset, let stream, let bytes):
      queue.append(SessionChunk(offset: offset, content: .bytes(bytes, stream)))
    case .gap(let from, let to):
      queue.append(SessionChunk(offset: from, content: .gap(to: to)))
    case .screen(let from, let to, let bytes):
      queue.append(SessionChunk(offset: from, content: .omitted(to: to, screen: bytes)))
    case .size(let size, let offset):
      queue.append(SessionChunk(offset: offset, content: .size(size)))
    case .inputDropped(let loss): sink.yield(.inputDropped(loss))
    case .notice(let notice): sink.yield(.notice(notice))
    case .inputTaken, .controlsDone, .ended, .refused, .pong: break
    }
  }

  /// Before the first byte of a client that begins in the middle of the output, and before what a
  /// terminal printed while this client was away.
  private func showScreen(_ welcome: Welcome) {
    if let size = welcome.size, configuration.attachment.followsSize {
      queue.append(SessionChunk(offset: welcome.resume, content: .size(size)))
    }
    if hasAttached {
      guard welcome.kind == .terminal, welcome.newest > welcome.resume else { return }
      return queue.append(
        SessionChunk(offset: welcome.resume, content: .screen([], live: welcome.newest)))
    }
    hasAttached = true
    guard configuration.attachment.replay == .screen, configuration.resume == nil else { return }
    queue.append(
      SessionChunk(
        offset: welcome.resume, content: .screen(welcome.modes, live: welcome.newest)))
  }

  /// The next chunks of output: one, and what is there behind it while all have at most `limit`
  /// bytes; nil after the last.
  func next(upTo limit: Int = 0) async throws(AppError) -> [SessionChunk]? {
    begin()
    while true {
      let chunks = queue.popFirst(upTo: limit)
      if let end = chunks.last?.end {
        machine.consume(through: end, at: clock.now())
        if queue.count <= OutputQueue.limit { outputSpace.announce() }
        acknowledge()
        return chunks
      }
      if machine.ending != nil { return nil }
      if isOver {
        if let failure { throw failure }
        return nil
      }
      try await change()
    }
  }

  // MARK: Sending

  /// Sends what there is to send, until canceled or the channel takes no more. Returns whether it
  /// was everything, to the wish to leave.
  private func sendAll(to channel: any ByteChannel) async -> Bool {
    do throws(AppError) {
      while !Task.isCancelled {
        let batch = nextBatch()
        if !batch.isEmpty {
          try await channel.write(batch)
        } else if machine.phase == .left {
          return true
        } else {
          try await waitToSend(over: channel)
        }
      }
    } catch {
      // The receiver sees the end of the channel.
    }
    return false
  }

  /// Ends the attachment without the host's answer to the wish to leave, where none is waited for.
  private func stopUnanswered() {
    guard farewell == .isSent else { return }
    farewell = .isOver
    carrying?.cancel()
  }

  private func waitToSend(over channel: any ByteChannel) async throws(AppError) {
    setAlarm()
    idleChannel = channel
    defer { idleChannel = nil }
    try await sends.wait(after: sends.version)
  }

  /// Sends what is due at once, where the channel takes it without waiting: a key is on its way
  /// before another task has run. Else the sender does.
  func send() {
    var isAll = false
    let isSent = idleChannel?.post {
      let batch = nextBatch()
      isAll = batch.count < Self.batchSize
      return batch
    }
    if isSent != true || !isAll { sends.announce() }
  }

  private static var batchSize: Int { 64 << 10 }

  private func nextBatch() -> [UInt8] {
    // After a lost link there is the program that has answered before. What starts one waits for
    // its answer: a login may read it, and run it.
    let isEarly = !answer.hasBegun
    guard !isEarly || machine.welcome != nil && (haste == .allowed || haste == .taken) else {
      return []
    }
    if isEarly { haste = .taken }
    var batch = opening
    if !opening.isEmpty {
      configuration.place.enter(answer.places)
      opening = []
    }
    let now = clock.now()
    while batch.count < Self.batchSize, let frame = machine.nextFrame(at: now) {
      batch += frame.encoded
    }
    return batch
  }

  /// Resumes the sender when an acknowledgement is due, or will be and no timer is set for it.
  func acknowledge() {
    guard let due = machine.acknowledgementDeadline else { return }
    if timer == nil || due <= clock.now() { sends.announce() }
  }

  private func setAlarm() {
    guard timer == nil, let due = machine.acknowledgementDeadline else { return }
    let now = clock.now()
    let delay = due > now ? due - now : 0
    timer = Task(executorPreference: executor) { [clock] in
      await clock.sleep(delay)
      if !Task.isCancelled { await self.timerFired() }
    }
  }

  private func timerFired() {
    timer = nil
    sends.announce()
  }
}

extension ByteChannelEnding {
  /// Whether the link was lost. This session closes a channel only after its end: `closed` before
  /// that is a link whose owner has given it up, as a supervisor does with a silent one.
  fileprivate var isOfTheLink: Bool {
    switch self {
    case .lost, .closed: true
    case .finished: false
    }
  }
}

extension ClientSession.Phase {
  /// Whether the host refused or replaced this client.
  var isRefused: Bool { if case .refused = self { true } else { false } }
}
