package import BridgeErrors
package import BridgeFiles
package import BridgeSessionProtocol
package import BridgeTransport
import BridgeWaiting

/// One copy to or from a host, over one channel after the other: each goes on where the last one
/// ended. It dials nothing and retries nothing by itself.
package actor FileTransfer {
  /// How a channel ended.
  package enum Outcome: Sendable, Equatable {
    /// All is settled.
    case finished
    /// The copy goes on over another channel.
    case ended(ByteChannelEnding)
    /// The host has no `bridge-host` that copies files; where it is not there at all, or is too
    /// old, other tools of the host may do.
    case unavailable(reason: String, isMissing: Bool)
  }

  /// Reports what happened; it holds the copy up.
  package typealias Report = @Sendable ([FileEvent]) async -> Void

  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.serialExecutor }

  let job: Job
  let host: String
  private nonisolated let executor: any PinnedExecutor
  private let report: Report
  let sender: FileSender?
  let receiver: FileReceiver?
  /// Where the host was in this copy.
  private var site: FileSite?
  /// Whether a part of a tree was in place when the channel began.
  private var hasBegun = false
  /// What the host said of itself when it was ready.
  private var remembered = FilePoint()
  private var claim = FilePoint()
  private var parser = FileFrameParser()
  private var answer = MarkedBytes(marker: "")
  private var watch: AnswerWatch?
  private var opening: [UInt8] = []
  /// There was something for the sender of frames, or it is over.
  let changes = Changes()
  private var isOver = false
  /// The host's own tools, in place of `bridge-host`.
  private var plain: PlainChannel?
  private var hasReportedTools = false
  /// Whether the copy lies inside the destination; nil where that is not known yet.
  private(set) var isInside: Bool?
  private var hasReportedPlace = false
  private var held: (any ByteChannel)?
  /// What the receiver said of itself last.
  private var origin: [UInt8] = []
  /// Whether the source was changed while it was read; nil where no file is copied yet.
  private var hasChanged: Bool?
  let clock: SessionClock
  /// Whether the host's end has said anything on this channel.
  private var isAnswered = false
  private let unheard: UnheardLinks?
  /// The key of the check, as long as the host knows one.
  private var key: [UInt8]?
  /// Whether the `bridge-host` there is of a version without a check with a key.
  private var isOld = false
  /// Whether it was closed since the host's end had not said anything in time.
  private var isLate = false
  /// Whether there is a channel now.
  private(set) var isCarrying = false
  var givingUp: GivingUp?
  /// Whether the host's end has ended by itself.
  private(set) var hasEnded = false
  /// What ended the copy for good, where one of the ends has found it, and at which path.
  package internal(set) var ended: (fault: FileFault, place: String)?

  /// A copy that reads and writes files on `executor`, which it holds up.
  ///
  /// - Parameters:
  ///   - unheard: the same for all streams of one copy; nil where a host is dialed for ever.
  ///   - clock: for the time that the host has for its first answer.
  package init<C: Clock>(
    _ job: Job, host: String, on executor: any PinnedExecutor,
    unheard: UnheardLinks? = nil, clock: C = ContinuousClock(),
    report: @escaping Report
  ) where C.Duration == Duration {
    self.clock = SessionClock(clock)
    self.job = job
    key = job.key
    self.host = host
    self.executor = executor
    self.unheard = unheard
    self.report = report
    if job.isInto { remembered.isInside = true }
    switch job.role {
    case .put:
      sender = FileSender(
        job.local, isRecursive: job.isRecursive, excluding: job.exclusion, stripe: job.stripe,
        key: job.key, isPaced: job.isRecursive)
      receiver = nil
    case .get, .join:
      sender = nil
      receiver = FileReceiver(
        job.local, name: job.name, isRecursive: job.isRecursive, transfer: job.transfer,
        isInto: job.isInto, striping: job.stripe.map { .init($0, run: job.run, salt: job.channel) },
        key: job.key)
    }
  }

  /// What is settled, and written of the file under way.
  package var progress: FileProgress {
    sender?.progress ?? receiver?.progress ?? FileProgress()
  }

  /// A command that runs the host's end, with a marker of its own.
  package nonisolated func command(usesTools: Bool) -> HostCommand {
    guard !usesTools else { return PlainChannel.command() }
    return HostCommand(.files(run: job.channel), program: nil)
  }

  /// Copies until all is settled or the channel ends.
  ///
  /// - Throws: what ends the copy for good.
  package func carry(
    over channel: any ByteChannel, _ command: HostCommand, usesTools: Bool = false
  ) async throws(AppError) -> Outcome {
    isCarrying = true
    defer {
      isCarrying = false
      changes.announce()
    }
    let channel =
      job.pace.map { PacedChannel(channel, $0, isPut: job.role == .put) } ?? channel
    if usesTools { useSHA256() }
    plain = usesTools ? PlainChannel(channel, marker: command.marker, run: job.channel) : nil
    receiver?.acceptsNoDigest = usesTools
    return try await carry(over: plain ?? channel, marker: command.marker)
  }

  private func carry(
    over channel: any ByteChannel, marker: String
  ) async throws(AppError) -> Outcome {
    answer = MarkedBytes(marker: marker + FileLimits.greeting)
    parser = FileFrameParser()
    (isOver, isAnswered, isLate, isOld, hasEnded) = (false, false, false, false, false)
    do throws(FileFault) {
      opening = try open()
    } catch {
      await channel.close()
      receiver?.disconnect()
      throw failure(error, isTarget: true)
    }
    let watch = AnswerWatch(clock)
    self.watch = watch
    let result = await withTaskGroup(of: Void.self) { group -> Result<Void, AppError> in
      group.addTask { await self.limitFirstAnswer(of: channel) }
      group.addTask { await watch.run(closing: channel) }
      let result = await exchange(over: channel)
      group.cancelAll()
      return result
    }
    var ending = ByteChannelEnding.closed
    let isClosedHere = watch.isLate || isLate || Task.isCancelled
    if case .success = result, !isFinished, !isClosedHere { ending = await end(of: channel) }
    if isFinished, job.stripe != nil, job.role == .put {
      held = channel
    } else {
      await channel.close()
    }
    sender?.disconnect()
    receiver?.disconnect()
    try result.get()
    if isFinished {
      job.site?.settle()
      return .finished
    }
    if watch.isLate { throw watch.error(host: host) }
    if isOld {
      useSHA256()
      return .ended(.closed)
    }
    guard !isLate else { throw .sshTimeout(seconds: Int(clamping: answerLimit / 1000)) }
    return try unavailable(ending) ?? .ended(ending)
  }

  private func end(of channel: any ByteChannel) async -> ByteChannelEnding {
    // One that was not heard may wait for what it is never sent.
    if !answer.hasBegun { try? await channel.finish() }
    return await channel.ending(clock)
  }

  /// Whether the check of all bytes is SHA-256.
  package var usesSHA256: Bool { key == nil }

  private func useSHA256() {
    key = nil
    sender?.useSHA256()
    receiver?.useSHA256()
  }

  /// Closes the channel of a stream that is whole, which keeps the part there for this run.
  package func closeChannel() async { await held.take()?.close() }

  /// The file has its name, or will not get one in this run.
  package func release() async {
    await closeChannel()
    receiver?.release()
  }

  private func exchange(over channel: any ByteChannel) async -> Result<Void, AppError> {
    await withTaskGroup(of: Void.self) { group -> Result<Void, AppError> in
      group.addTask { await self.sendAll(to: channel) }
      let result = await receiveAll(from: channel)
      isOver = true
      changes.announce()
      if !isFinished { group.cancelAll() }
      // A write that waits for the host's window ends with the channel only.
      if Task.isCancelled { await channel.close() }
      return result
    }
  }

  /// The host's end has its time until it says something: it may have to hash what is there of a
  /// file, or to count a tree.
  private func limitFirstAnswer(of channel: any ByteChannel) async {
    await channel.hostHasHad(answerLimit, clock)
    guard !Task.isCancelled, !isAnswered, !isOver else { return }
    isLate = true
    await channel.close()
  }

  var isFinished: Bool { sender?.isFinished ?? receiver?.isFinished ?? false }

  /// The host ended before its first frame, where it is not the link.
  private func unavailable(_ ending: ByteChannelEnding) throws(AppError) -> Outcome? {
    if answer.hasBegun { unheard?.hear() }
    guard !answer.hasBegun else { return nil }
    guard case .finished(let status) = ending else {
      unheard?.hearOthers(answer.preamble)
      if let error = unheard?.lose(host: host) { throw error }
      return nil
    }
    let printed = answer.preamble
    if SessionFailure.saysMissing(printed) {
      return .unavailable(reason: SessionFailure.notInstalled, isMissing: true)
    }
    // A status is the word of a program; without one the host may just be going down.
    guard let status else { return nil }
    if plain == nil, SessionFailure.saysBroken(status) {
      return .unavailable(reason: "its bridge-host is damaged", isMissing: true)
    }
    let isOld = [64, 66, 78].contains(status)
    // A login that runs no command ends as one that did would.
    let program = plain == nil ? "the command that runs bridge-host" : "a shell without it"
    let text = String(decoding: printed, as: UTF8.self).trimmedLines
    let reason =
      isOld
      ? "its bridge-host is too old for it"
      : "\(program) ended with status \(status)\(text.isEmpty ? "" : ": \(text)")"
    return .unavailable(reason: reason, isMissing: isOld)
  }

  // MARK: The stream

  private func open() throws(FileFault) -> [UInt8] {
    var request = FileRequest(job.role, path: job.remote, transfer: job.transfer)
    request.name = job.name
    request.isRecursive = job.isRecursive
    if job.role == .get { request.exclusion = job.exclusion }
    request.stripe = job.stripe
    if job.stripe != nil { request.run = job.run }
    request.key = key
    request.asksSite = job.site != nil
    defer { hasBegun = job.isRecursive && request.point?.after != nil }
    if let receiver {
      let point = try receiver.connect()
      isInside = point.isInside
      origin = point.boot
      request.point = FilePoint(after: point.after)
      return FileFrame.open(request).encoded + FileFrame.ready(point).encoded
    }
    claim = sender?.point ?? FilePoint()
    claim.boot = remembered.boot
    claim.isInside = remembered.isInside
    if claim.after == nil, claim.part == nil, !job.isRecursive {
      // What an earlier run may have left.
      let none = [UInt8](repeating: 0, count: FileLimits.state)
      claim.part = FilePoint.Part(path: [], offset: 0, state: none)
    }
    request.point = claim
    return FileFrame.open(request).encoded
  }

  private func receiveAll(from channel: any ByteChannel) async -> Result<Void, AppError> {
    while !isFinished {
      let bytes: [UInt8]?
      do throws(AppError) {
        bytes = try await channel.read()
      } catch {
        // The reason of the end is requested next.
        return .success(())
      }
      guard let bytes else {
        hasEnded = true
        return .success(())
      }
      do throws(AppError) {
        try await take(bytes)
      } catch {
        await channel.close()
        return .failure(error)
      }
    }
    return .success(())
  }

  private func take(_ bytes: [UInt8]) async throws(AppError) {
    watch?.hear()
    guard let bytes = answer.take(bytes) else {
      throw SessionFailure.error(.noMarker, host: host)
    }
    if answer.hasBegun { watch?.stop() }
    parser.append(bytes)
    var isElsewhere = false
    do throws(ProtocolError) {
      while !isElsewhere, let frame = try parser.next() {
        if case .site(let site) = frame {
          isElsewhere = !enter(site)
        } else {
          isAnswered = true
          try take(frame)
        }
      }
    } catch {
      throw FileFailure.error(error, host: host)
    }
    if isElsewhere { throw elsewhere }
    changes.announce()
    await reportEvents()
    if let failure = sender?.failure {
      throw self.failure(failure, of: sender?.failurePath ?? [], isTarget: true)
    }
    if let failure = receiver?.failure {
      throw self.failure(failure.fault, of: failure.path, isTarget: failure.isTarget)
    }
  }

  private func take(_ frame: FileFrame) throws(ProtocolError) {
    if key != nil, case .failed(let fault) = frame, fault.code == .version {
      isOld = true
      return
    }
    if let receiver { return try receiver.take(frame) }
    guard case .ready(let point) = frame else {
      return try sender?.take(frame, at: clock.now()) ?? ()
    }
    sender?.connect(try verified(point))
    remembered = point
    isInside = point.isInside
    origin = point.boot
  }

  /// A host answers that is there. Whether the copy can go on at it.
  private func enter(_ new: FileSite) -> Bool {
    // The streams of a file are one copy.
    guard !hasBegun || site.map(new.hasDirectory) ?? true,
      job.site?.enter(new, isBound: hasBegun || job.stripe != nil) ?? true
    else { return false }
    site = new
    return true
  }

  /// A host can only go on where it was known to be.
  private func verified(_ point: FilePoint) throws(ProtocolError) -> FilePoint {
    guard point.after == claim.after else { throw .malformedFields("after") }
    var point = point
    if let part = point.part {
      let isKnown = part.offset == claim.part?.offset && part.state == claim.part?.state
      point.part?.identity = isKnown ? claim.part?.identity ?? [] : []
    }
    return point
  }

  /// Of a file in several streams: what this one says of it, once it is settled.
  package var part: FileParts.Part? {
    guard isFinished, let hasChanged, let start = sender?.start ?? receiver?.start else {
      return nil
    }
    return FileParts.Part(start, origin: origin, hasChanged: hasChanged)
  }

  /// Gives a file its name here that came in several streams.
  package func complete(_ parts: FileParts) throws(AppError) {
    do throws(FileFault) {
      try FileJoin(job.join(parts, isInside: isInside ?? false, isRepeated: false))?.perform()
    } catch {
      throw failure(error, isTarget: true)
    }
  }

  private func reportEvents() async {
    var events = sender?.takeEvents() ?? receiver?.takeEvents() ?? []
    for case .copied(_, _, _, let hasChanged) in events { self.hasChanged = hasChanged }
    if key != nil { events = events.map(\.checkedWithKey) }
    if let isInside, !hasReportedPlace {
      hasReportedPlace = true
      events.insert(.placed(isInside: isInside), at: 0)
    }
    if let tools = await plain?.tools {
      if !tools.digests { events = events.map(\.withoutDigest) }
      if !hasReportedTools {
        // A time can be set without a tool that reads one.
        let times = tools.times || job.role == .put
        events.insert(.hostTools(digests: tools.digests, times: times), at: 0)
      }
      hasReportedTools = true
    }
    if !events.isEmpty { await report(events) }
  }

  /// Sends what there is to send: the next bytes are read while the last ones go.
  private func sendAll(to channel: any ByteChannel) async {
    var writing: Task<Bool, Never>?
    while !Task.isCancelled {
      let seen = changes.version
      let bytes = nextBytes()
      if let last = writing {
        guard await last.value else { return }
        writing = nil
        // Something may have come meanwhile.
        if bytes.isEmpty { continue }
      }
      if !bytes.isEmpty {
        writing = Task(executorPreference: nil) { await Self.write(bytes, to: channel) }
      } else if isOver {
        return
      } else {
        try? await changes.wait(after: seen)
      }
    }
    _ = await writing?.value
  }

  private static func write(_ bytes: [UInt8], to channel: any ByteChannel) async -> Bool {
    do throws(AppError) {
      try await channel.write(bytes)
      return true
    } catch {
      // The receiver of the channel sees its end.
      return false
    }
  }

  private func nextBytes() -> [UInt8] {
    // Before the greeting another program may read what is sent.
    guard answer.hasBegun else { return [] }
    if !opening.isEmpty {
      defer { opening = [] }
      return opening
    }
    switch givingUp {
    case .wanted:
      givingUp = .sent
      return FileFrame.failed(FileFault(.unreadable, "the copy was ended")).encoded
    case .sent: return []
    case nil: break
    }
    if let receiver { return receiver.takeOutbox(isIdle: true) }
    return sender?.next(at: clock.now()) ?? []
  }
}
