extension HostSession {
  /// The hello that `frame` brings, or that it lets the host answer; nil for any other frame.
  public func hello(in frame: Frame, from id: AttachmentID) -> Hello? {
    switch frame {
    case .hello(let hello): hello
    case .pong: attachments[id]?.waiting?.hello
    default: nil
    }
  }

  /// Takes a frame of an attachment that was not welcomed in.
  ///
  /// Bytes of a link that its client has given up may arrive late, when the network recovers. So an
  /// attachment displaces another one only after its client has answered a ping; and since the
  /// answer may be late as well, only one whose hello came before its own.
  mutating func receiveGreeting(
    _ frame: Frame, from id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    switch (frame, attachments[id]?.waiting) {
    case (.hello(let hello), nil):
      lastHello += 1
      attachments[id]?.number = lastHello
      guard hello.answersPings, isContested(hello), refusal(of: hello) == nil else {
        return try greetUnlessWriterLives(hello, from: id, at: now)
      }
      attachments[id]?.waiting = .client(hello)
      return [.send(id, .ping(UInt64(id)))]
    case (.pong(UInt64(id)), .client(let hello)):
      let number = attachments[id]?.number ?? 0
      guard displaced(by: hello).allSatisfy({ $0.number < number }) else {
        disconnect(id)
        let refusal = Refusal(.replaced, "A later attachment is there already.")
        return [.send(id, .refused(refusal)), .end(id, .declined(.replaced))]
      }
      return try greetUnlessWriterLives(hello, from: id, at: now)
    default: throw .unexpectedFrame(type: frame.type.rawValue)
    }
  }

  // MARK: A writer that may be dead

  /// Answers a hello, unless its client wants to write in the place of another one: then that is
  /// pinged first, for its link may be dead.
  private mutating func greetUnlessWriterLives(
    _ hello: Hello, from id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    guard hello.role == .writer, !mayWrite(hello), refusal(of: hello) == nil, let writer,
      attachments[writer]?.answersPings == true
    else { return try greetWithinLimit(hello, from: id, at: now) }
    attachments[id]?.waiting = .writer(hello, writer, until: now + Limits.writerSilence)
    return [.send(writer, .ping(UInt64(id)))]
  }

  /// The writer has sent something, or is gone: hellos that wait for that can be answered.
  mutating func settleWaiting(for writer: AttachmentID) {
    for (id, attachment) in attachments {
      guard case .writer(let hello, writer, _)? = attachment.waiting else { continue }
      attachments[id]?.waiting = .nothing(hello)
    }
  }

  /// The hellos that waited and can be answered now, in their order: with `answer`.
  public func answerable(at now: Milliseconds) -> [(id: AttachmentID, hello: Hello)] {
    attachments.compactMap { id, attachment -> (id: AttachmentID, hello: Hello)? in
      switch attachment.waiting {
      case .nothing(let hello): (id, hello)
      case .writer(let hello, _, let until) where until <= now: (id, hello)
      case .slot(let hello, let until) where until <= now || isSettled(hello): (id, hello)
      case .writer, .slot, .client, nil: nil
      }
    }.sorted { attachments[$0.id]?.number ?? 0 < attachments[$1.id]?.number ?? 0 }
  }

  /// When a hello that waits is answered without an event; nil where none waits.
  public var answerDeadline: Milliseconds? {
    attachments.values.compactMap { attachment -> Milliseconds? in
      switch attachment.waiting {
      case .nothing: 0
      case .writer(_, _, let until): until
      case .slot(let hello, let until): isSettled(hello) ? 0 : until
      case .client, nil: nil
      }
    }.min()
  }

  /// Answers a hello that waited. A writer that has sent nothing meanwhile is displaced, and one
  /// that was silent where no slot is free.
  public mutating func answer(_ id: AttachmentID, at now: Milliseconds) -> [Effect] {
    guard let waiting = attachments[id]?.waiting else { return [] }
    var effects: [Effect] = []
    switch waiting {
    case .writer(let hello, let writer, let until) where until <= now:
      effects = replace(
        writer, "Client \(name(of: hello.client, id)) took the session over: this one was silent.")
    case .slot(let hello, _) where !hasFreeSlot(for: hello):
      let last = longestSilent ?? id
      disconnect(last)
      let refusal = Refusal(.limit, "\(Limits.attachments) clients are attached already.")
      effects = [.send(last, .refused(refusal)), .end(last, .declined(.limit))]
      if last == id { return effects }
    case .writer, .slot, .client, .nothing: break
    }
    do throws(ProtocolError) {
      return try effects + greetWithinLimit(waiting.hello, from: id, at: now)
    } catch {
      return effects + violate(error, by: id)
    }
  }

  // MARK: As many as may be, of which some may be dead

  /// Answers a hello, unless as many are attached as may be: then those are asked for a sign of
  /// life first, for a link that died in silence is counted until the system gives it up.
  private mutating func greetWithinLimit(
    _ hello: Hello, from id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    guard !hasFreeSlot(for: hello), refusal(of: hello) == nil else {
      return try greet(hello, from: id, at: now)
    }
    attachments[id]?.waiting = .slot(hello, until: now + Limits.writerSilence)
    let asked = attachments.filter { $0.value.isAttached && $0.value.answersPings }.keys.sorted()
    for other in asked { attachments[other]?.isSilent = true }
    return asked.map { .send($0, .ping(UInt64(id))) }
  }

  /// Whether one more may be attached, beside those whose place it takes.
  private func hasFreeSlot(for hello: Hello) -> Bool {
    attachedCount - displaced(by: hello).count { $0.isAttached } < Limits.attachments
  }

  /// Whether it is known what becomes of a hello that waits for a slot.
  private func isSettled(_ hello: Hello) -> Bool { hasFreeSlot(for: hello) || longestSilent == nil }

  /// The one to go first of those that were asked and have sent nothing: a reader before the
  /// writer.
  private var longestSilent: AttachmentID? {
    let silent = attachments.filter { $0.value.isAttached && $0.value.isSilent }.keys
    return silent.filter { $0 != writer }.min() ?? silent.min()
  }

  // MARK: Greeting

  /// Whether another attachment is there, waits for its pong, or returns as the writer soon.
  private func isContested(_ hello: Hello) -> Bool {
    if !displaced(by: hello).isEmpty || attachments.values.contains(where: { $0.waiting != nil }) {
      return true
    }
    return hello.role == .writer && leaseHolder.map { $0 != hello.client } ?? false
  }

  private func displaced(by hello: Hello) -> [Attachment] {
    let takes = hello.role == .writer && takesOver(hello)
    return attachments.filter { id, attachment in
      attachment.client == hello.client || takes && id == writer
    }.map(\.value)
  }

  private mutating func greet(
    _ hello: Hello, from id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    if let refusal = refusal(of: hello) {
      disconnect(id)
      return [.send(id, .refused(refusal)), .end(id, .declined(refusal.code))]
    }
    let start = start(of: hello)
    if start > newest, ending?.isUnknown == true {
      // What a keeper sent before it died and did not write is known to its client only.
      keptEnd = min(keptEnd ?? newest, newest)
      newest = start
    }
    guard start <= newest else {
      throw .wrongAcknowledgement(through: start, sent: newest)
    }
    let role = hello.role == .writer && mayWrite(hello) ? Role.writer : .viewer
    var effects = displaceAttachments(of: hello.client)
    if role == .writer {
      effects += becomeWriter(hello.client, id, takes: takesOver(hello))
      fence = max(fence, hello.fence ?? 0)
    }
    let acknowledged = hello.resume == nil ? start : hello.acknowledged
    attachments[id] = Attachment(
      number: attachments[id]?.number ?? 0, client: hello.client,
      address: attachments[id]?.address, since: now,
      answersPings: hello.answersPings, role: role, cursor: start,
      lag: OutputLag(acknowledged: acknowledged, since: now),
      window: min(hello.window ?? Limits.window, Limits.largestWindow),
      live: newest, catchesUp: hello.catchesUp && configuration.kind == .terminal)
    if hello.followsSize, configuration.kind == .terminal {
      attachments[id]?.sizes = TerminalSizes()
    }
    if role == .writer, hello.resume != nil { attachments[id]?.pace = writersPace }
    if role == .writer { committed = max(committed, hello.committed) }
    effects.append(.send(id, .welcome(welcome(for: hello, role: role, resume: start, at: now))))
    if role == .writer {
      (acknowledgedInput, acknowledgedControl) = (inputTaken, lastControl)
      acknowledgementSince = nil
      if let size = hello.size { effects += resize(to: size) }
    }
    return effects
  }

  private func refusal(of hello: Hello) -> Refusal? {
    guard hello.session == configuration.session else {
      return Refusal(.unknownSession, "No session \(hello.session) here.")
    }
    guard hello.versions.contains(where: Limits.versions.contains) else {
      let versions = Limits.versions.map { "\($0)" }.joined(separator: ", ")
      return Refusal(.version, "This keeper speaks protocol version \(versions) only.")
    }
    if let resume = hello.resume, resume.epoch != configuration.epoch {
      return Refusal(.conflict, "The offsets belong to another run of this session.")
    }
    if hello.role == .writer, let number = hello.fence, number < fence {
      return Refusal(.replaced, "Another host has a later lease of this agent.")
    }
    return nil
  }

  private func start(of hello: Hello) -> UInt64 {
    if let resume = hello.resume { return resume.received }
    switch hello.replay {
    case .everything: return 0
    case .screen: return min(max(replayPoint.offset, oldest), newest)
    }
  }

  /// Whether a writer displaces another client: since it wants to, or by a later lease.
  private func takesOver(_ hello: Hello) -> Bool { hello.takes || hello.fence ?? 0 > fence }

  private func mayWrite(_ hello: Hello) -> Bool {
    if takesOver(hello) { return true }
    // It was away when another one took over, which may be away itself now.
    if hello.lease != nil, displacedWriters.contains(hello.client) { return false }
    return writingClient.map { $0 == hello.client } ?? true
  }

  /// A client has one attachment: its connection may be half open, and it knows that it is.
  private mutating func displaceAttachments(of client: ClientID) -> [Effect] {
    let old = attachments.filter { $0.value.client == client }.keys.sorted()
    return old.flatMap {
      replace($0, "A later attachment of the same client replaced this one.")
    }
  }

  private mutating func replace(_ id: AttachmentID, _ text: String) -> [Effect] {
    disconnect(id)
    return [.send(id, .refused(Refusal(.replaced, text))), .end(id, .replaced)]
  }

  private mutating func becomeWriter(
    _ client: ClientID, _ id: AttachmentID, takes: Bool
  ) -> [Effect] {
    var effects: [Effect] = []
    if let old = writer {
      effects = replace(old, "Client \(name(of: client, id)) took the session over.")
    }
    if leaseHolder != client {
      if let holder = leaseHolder { remember(holder, isDisplaced: takes) }
      displacedWriters.removeAll { $0 == client }
      leaseHolder = client
      lease += 1
    }
    writer = id
    return effects
  }

  /// A client as people know it: `SessionFailure` reads this.
  private func name(of client: ClientID, _ id: AttachmentID) -> String {
    attachments[id]?.address.map { "\(client) from \($0)" } ?? "\(client)"
  }

  private mutating func remember(_ holder: ClientID, isDisplaced: Bool) {
    if isDisplaced { displacedWriters.append(holder) }
    if displacedWriters.count > Limits.endedLeases { displacedWriters.removeFirst() }
    endedLeases.append(EndedLease(lease: lease, client: holder, accepted: inputAccepted))
    if endedLeases.count > Limits.endedLeases { endedLeases.removeFirst() }
  }

  private func welcome(
    for hello: Hello, role: Role, resume: UInt64, at now: Milliseconds
  ) -> Welcome {
    var welcome = Welcome(session: configuration.session, epoch: configuration.epoch)
    welcome.version = hello.versions.filter(Limits.versions.contains).max() ?? 1
    welcome.hasEnded = ending != nil
    welcome.kind = configuration.kind
    welcome.role = role
    welcome.writer = writingClient ?? (role == .writer ? hello.client : nil)
    if role == .viewer, let other = writer.flatMap({ attachments[$0] }) {
      welcome.writerAddress = other.address
      welcome.writerAge = (now - min(now, other.since)) / 1000
    }
    welcome.oldest = oldest
    welcome.newest = newest
    welcome.resume = resume
    let showsScreen = hello.resume == nil && hello.replay == .screen
    welcome.modes = showsScreen && resume == replayPoint.offset ? replayPoint.modes : []
    if hello.followsSize { welcome.size = role == .writer ? hello.size ?? size : size }
    welcome.inputTaken = inputTaken
    welcome.inputAccepted = inputAccepted
    welcome.lastControl = lastControl
    welcome.lease = lease
    let own = endedLeases.first { $0.lease == hello.lease && $0.client == hello.client }
    welcome.ownAccepted = own.map { min($0.accepted, inputAccepted) }
    welcome.inputEnd = inputEnd
    welcome.inputIsClosed = inputIsClosed
    welcome.survivesLogout = configuration.survivesLogout
    return welcome
  }
}
