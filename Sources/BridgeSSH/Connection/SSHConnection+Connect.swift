import BridgeErrors
import BridgeReactor
import BridgeTransport

extension SSHConnection {
  /// Connects: from the name to a connection that can open channels.
  func establish() async throws(AppError) {
    try checkUnused()
    if let refusal = LibSSH2.refusal { throw refusal }
    let known = try await knownHosts()
    try checkUnused()
    step(.connect)
    do throws(SSHFailure) {
      try await openWire(known)
      try await shakeHands()
      if let ending { throw ending }
    } catch {
      throw ended(by: error)
    }
    enter(.hostKey)
    let blob = session?.hostKey() ?? []
    let complete = try await completed(known, for: blob)
    do throws(SSHFailure) {
      try await verify(blob, by: complete)
      if let ending { throw ending }
      enter(.authenticate)
      session?.noticed = configuration.interaction.notice
      try await authenticate()
      session?.noticed = nil
      if let ending { throw ending }
    } catch {
      throw ended(by: error)
    }
    session?.wire.reportsEnd = false
    session?.willDisconnect = { [weak self] in self?.assumeIsolated { $0.drainChannels() } }
    step(.ready)
    pump()
  }

  private func checkUnused() throws(AppError) {
    guard life.state == .idle else {
      throw ending.map { AppError(sshError: $0) }
        ?? .internalError(detail: "A connection connects once; make a new one.")
    }
  }

  /// Reads the known_hosts files on a helper thread: thousands of lines take longer than a turn of
  /// the loop may.
  private func loadKnownHosts(
    for purpose: KnownHostsCommand.Purpose?, phase: ConnectionPhase
  ) async -> Outcome<Result<KnownHosts, LocalFile.Unreadable>?> {
    let (keys, host) = (configuration.hostKeys, knownName)
    return await elsewhere(phase: phase) {
      await BlockingThreads.files.run { () -> Result<KnownHosts, LocalFile.Unreadable> in
        Result { () throws(LocalFile.Unreadable) in
          try KnownHostsFile.entries(
            of: keys.files, command: purpose == nil ? nil : keys.command, for: purpose ?? .order,
            revoked: keys.revoked, about: host)
        }
      }
    }
  }

  /// What is known of the host before it is dialed.
  private func knownHosts() async throws(AppError) -> KnownHosts {
    let ordersKeys = configuration.algorithms.ordersHostKeys
    switch await loadKnownHosts(for: ordersKeys ? nil : .order, phase: .resolve) {
    case .success(.success(let known)?): return known
    case .success(.failure(let unreadable)?):
      if let shortage = localShortage(unreadable.errno, phase: .resolve) {
        throw endBeforeDial(shortage)
      }
      throw unreadable.error
    case .success(nil): throw ending.map { AppError(sshError: $0) } ?? .cancelled
    case .failure(let failure): throw endBeforeDial(failure)
    }
  }

  /// What is known now that the host shows `blob`, where a program says that for each key; `known`
  /// is what was known before.
  private func completed(
    _ known: KnownHosts, for blob: [UInt8]
  ) async throws(AppError) -> KnownHosts {
    guard let command = configuration.hostKeys.command,
      configuration.algorithms.ordersHostKeys || !command.isSameForAll
    else { return known }
    switch await loadKnownHosts(for: .key(blob), phase: .hostKey) {
    case .success(.success(let known)?): return known
    case .success(.failure(let unreadable)?):
      if let shortage = localShortage(unreadable.errno, phase: .hostKey) {
        throw ended(by: shortage)
      }
      let fingerprint = HostKey(blob: blob)?.fingerprint ?? ""
      end(
        now: failure(
          observation: .hostKeyUnknown(fingerprint: fingerprint), phase: .hostKey))
      throw unreadable.error
    case .success(nil): throw ended(by: failure(observation: .cancelled, phase: .hostKey))
    case .failure(let failure): throw ended(by: failure)
    }
  }

  private func ended(by failure: SSHFailure) -> AppError {
    end(now: failure)
    return AppError(sshError: ending ?? failure)
  }

  private func endBeforeDial(_ failure: SSHFailure) -> AppError {
    if ending == nil {
      step(.connect)
      end(now: failure)
    }
    return AppError(sshError: ending ?? failure)
  }

  func enter(_ next: ConnectionPhase) {
    phase = next
    configuration.observer?(.entered(next))
    step(.enter(next))
  }

  private func openWire(_ known: KnownHosts) async throws(SSHFailure) {
    let wire = Wire(try await carrier())
    wire.inspect = { [weak self] bytes in
      self?.assumeIsolated { $0.see(bytes) } ?? .end
    }
    let isWatched = wire.carrier.start { [weak self] seen in
      self?.assumeIsolated { $0.pump(isReadable: seen.contains(.readable)) }
    }
    guard isWatched, let session = SSHSession(wire: wire) else {
      wire.carrier.close()
      throw failure(code: .allocation, text: "out of memory", phase: .banner)
    }
    owner.begin(session)
    try offerAlgorithms(known)
  }

  private func carrier() async throws(SSHFailure) -> any Carrier {
    if let bastion { return try await tunnel(through: bastion) }
    if let proxy { return try start(proxy) }
    let socket = try await dial()
    socket.sendAtOnce()
    socket.keepBacklogShort()
    socket.acknowledgeAtOnce()
    return SocketCarrier(socket, on: reactor)
  }

  /// The socket of a dial that was won belongs to the connection in the same turn of the loop: what
  /// ends the connection before this returns closes it.
  private func dial() async throws(SSHFailure) -> Socket {
    let timeouts = configuration.timeouts
    let (endpoint, reactor) = (endpoint, reactor)
    let family = configuration.addressFamily.networkFamily
    let source = configuration.source.dialSource
    let observer = configuration.observer
    let outcome: Outcome<DialFailure?> = await wait(phase: .dial, within: nil) {
      connection, id, answer in
      let task = Task(executorPreference: reactor) { [weak connection] in
        let result = await Self.dial(
          endpoint, family, source, on: reactor, timeouts, { observer?(.dial($0)) }
        ) { [weak connection] phase in
          connection?.assumeIsolated { $0.enter(phase) }
        }
        reactor.execute { [weak connection] in
          connection?.assumeIsolated { $0.dialEnded(result, id, answer) }
        }
      }
      connection.dialing = .underWay(task)
    }
    if case .underWay(let task) = dialing { task.cancel() }
    if let dial = try outcome.get() { throw failure(dialing: dial) }
    guard ending == nil, let socket = dialing.takeSocket() else {
      throw ending ?? failure(observation: .cancelled, phase: .dial)
    }
    return socket
  }

  private func dialEnded(
    _ result: Result<Socket, DialFailure>, _ id: Int,
    _ answer: @Sendable (Outcome<DialFailure?>) -> Void
  ) {
    var failure: DialFailure?
    switch result {
    case .success(let socket): dialing = .won(socket)
    case .failure(let dial):
      dialing = .none
      failure = dial
    }
    // The end of the connection waited for this.
    if ending != nil { return release() }
    if callers.take(id) != nil { answer(.success(failure)) }
  }

  private static func dial(
    _ endpoint: Endpoint, _ family: NetworkAddress.Family?, _ source: DialSource?,
    on reactor: Reactor, _ timeouts: SSHTimeouts, _ observe: @escaping DialFact.Observer,
    entered: @escaping @Sendable (ConnectionPhase) -> Void
  ) async -> Result<Socket, DialFailure> {
    do throws(DialFailure) {
      return .success(
        try await Dialer.dial(
          endpoint, over: family, from: source, on: reactor, resolveTimeout: timeouts.resolve,
          dialTimeout: timeouts.dial, observe: observe, entered: entered))
    } catch {
      return .failure(error)
    }
  }

  private func offerAlgorithms(_ known: KnownHosts) throws(SSHFailure) {
    offer = configuration.algorithms
    if !offer.ordersHostKeys {
      offer = offer.preferring(hostKeys: known.preferredTypes(offered: offer[.hostKey]))
    }
    guard !offer.isLopsided else {
      let detail = "An AEAD cipher (AES-GCM, ChaCha20-Poly1305) needs the same ciphers both ways."
      throw failure(observation: .algorithmMismatch(detail: detail), phase: .keyExchange)
    }
    for kind in AlgorithmKind.allCases {
      guard case .failed(let code, let text) = session?.prefer(offer[kind], for: kind) else {
        continue
      }
      throw failure(
        code: code, text: text,
        observation: .algorithmMismatch(
          detail: "libssh2 \(library) knows none of \(offer.preference(kind))."),
        phase: .keyExchange)
    }
  }

  private func failure(dialing dial: DialFailure) -> SSHFailure {
    var failure = failure(phase: dial.phase)
    switch dial.cause {
    case .nameUnknown: failure.observation = .nameUnknown
    case .nameTimeout: failure.observation = .nameTimeout
    case .offline: failure.observation = .offline
    case .failed(let errno): failure.socket = .failed(errno: errno)
    case .deadline: failure.observation = .deadline
    case .cancelled: failure.observation = .cancelled
    }
    return failure
  }

  private func shakeHands() async throws(SSHFailure) {
    enter(.banner)
    let outcome = await perform(
      in: .session, phase: .banner, within: configuration.timeouts.handshake
    ) { $0.handshake() }
    switch outcome {
    case .success:
      session?.wire.handshakeDone()
      if let time = session?.wire.lastAnswerTime { record(roundTrip: time) }
      agreement = session?.agreement()
      if let agreement { configuration.observer?(.agreed(agreement)) }
    case .failure(let failure):
      throw failure
    }
  }

  /// Bytes of the handshake, before libssh2 gets them; returns what of them it gets.
  private func see(_ bytes: Span<UInt8>) -> ServerIdentification.Passage {
    let passage = identification.see(bytes)
    if phase == .banner, let line = identification.versionLine {
      configuration.observer?(.identified(line))
      enter(.keyExchange)
    }
    return passage
  }

  var knownName: KnownHostName {
    KnownHostName(
      host: endpoint.host, port: endpoint.port, alias: configuration.hostKeys.alias)
  }

  /// Verifies the host key before any credential is sent.
  private func verify(_ blob: [UInt8], by known: KnownHosts) async throws(SSHFailure) {
    // Read by others only once the connection is up, which this decides.
    see(HostKey(blob: blob))
    if let observer = configuration.observer { observer(.hostKey(known.finding(about: blob))) }
    if let detail = configuration.keyRules.refusal(ofHostKey: blob) {
      throw failure(observation: .algorithmMismatch(detail: detail), phase: .hostKey)
    }
    switch known.check(blob) {
    case .trusted:
      return
    case .changed(let detail, let removal):
      let changed = failure(
        observation: .hostKeyChanged(detail: detail, removal: removal), phase: .hostKey)
      // Lines that cannot be removed would go on to vouch for the old key.
      guard removal != nil, configuration.interaction.asksAboutChangedKeys,
        configuration.hostKeys.unknown != .refuse,
        let fingerprint = HostKey(blob: blob)?.fingerprint,
        try await isAccepted(blob, fingerprint, .changed(detail: detail))
      else { throw changed }
      try await forgetKeys(but: blob)
      try await remember(blob, fingerprint: fingerprint)
    case .revoked(let detail):
      throw failure(observation: .hostKeyRevoked(detail: detail), phase: .hostKey)
    case .unknown(let fingerprint, let doubt):
      let unknown = failure(
        observation: .hostKeyUnknown(fingerprint: fingerprint, doubt: doubt), phase: .hostKey)
      guard try await isTrusted(blob, fingerprint: fingerprint, doubt: doubt) else { throw unknown }
      try await remember(blob, fingerprint: fingerprint)
    case .newType(let fingerprint, let detail):
      let unknown = failure(
        observation: .hostKeyNewType(fingerprint: fingerprint, detail: detail), phase: .hostKey)
      // A policy that accepts new hosts does not accept another key of a known one.
      guard configuration.hostKeys.unknown == .ask,
        try await isAccepted(blob, fingerprint, .otherTypes(detail: detail))
      else { throw unknown }
      try await remember(blob, fingerprint: fingerprint)
    }
  }

  private func isTrusted(
    _ blob: [UInt8], fingerprint: String, doubt: String?
  ) async throws(SSHFailure) -> Bool {
    switch configuration.hostKeys.unknown {
    case .refuse: false
    case .acceptNew where doubt == nil: true
    case .acceptNew, .ask:
      try await isAccepted(blob, fingerprint, .unknown(doubt: doubt))
    }
  }

  /// Asks a person whether to accept the key.
  private func isAccepted(
    _ blob: [UInt8], _ fingerprint: String, _ finding: HostKeyQuestion.Finding
  ) async throws(SSHFailure) -> Bool {
    let question = HostKeyQuestion(
      host: endpoint.port == 22 ? endpoint.host : endpoint.description,
      name: configuration.name.flatMap { $0 == endpoint.host ? nil : $0 },
      keyType: Self.typeName(of: blob), fingerprint: fingerprint, finding: finding)
    let trust = configuration.interaction.trust
    let before = timeAsked
    let isAccepted = try await self.ask(phase: .hostKey) { await trust(question) }
    configuration.observer?(.asked(timeAsked - before))
    return isAccepted
  }

  /// Takes the other keys of the host out of known_hosts, where a person has replaced them.
  private func forgetKeys(but blob: [UInt8]) async throws(SSHFailure) {
    let name = knownName
    for file in configuration.hostKeys.files {
      _ = try await changed(file) { () throws(AppError) in
        try KnownHostsFile.removeKeys(of: name, but: blob, from: file)
      }
    }
  }

  /// Adds a trusted key to known_hosts.
  private func remember(_ blob: [UInt8], fingerprint: String) async throws(SSHFailure) {
    guard let file = configuration.hostKeys.files.first else { return }
    let (name, hidesName) = (knownName, configuration.hostKeys.hidesNames)
    let isAdded = try await changed(file) { () throws(AppError) in
      var generator = KernelRandom()
      try KnownHostsFile.append(name, blob: blob, to: file, hidesName: hidesName, using: &generator)
    }
    guard isAdded else { return }
    addedHostKey = AddedHostKey(
      keyType: Self.typeName(of: blob), fingerprint: fingerprint, file: file)
  }

  /// Changes a known_hosts file, and whether that was done. A file that cannot be written does not
  /// undo a trust; it is a warning.
  private func changed(
    _ file: String, _ change: @escaping @Sendable () throws(AppError) -> Void
  ) async throws(SSHFailure) -> Bool {
    let written = await elsewhere(phase: .hostKey, within: configuration.timeouts.handshake) {
      await BlockingThreads.files.run { Result(catching: change) }
    }
    switch written {
    case .failure(let failure) where failure.observation == .deadline:
      let reason = "It was not written in time."
      warnings.append(.fileWriteError(path: PeerText.escaped(file), reason: reason))
      return false
    case .failure(let failure): throw failure
    case .success(.failure(let problem)):
      warnings.append(problem)
      return false
    case .success: return true
    }
  }

  private static func typeName(of blob: [UInt8]) -> String {
    HostKey(blob: blob)?.typeName ?? "unknown"
  }
}

extension SSHConnection {
  /// The dial of a connection that leads to its server by itself.
  enum Dialing {
    /// None is under way. Can become underWay.
    case none
    /// The name is resolved, the addresses are dialed. Can become won, none.
    case underWay(Task<Void, Never>)
    /// The socket of a dial that was won, until it has a carrier. Can become none.
    case won(Socket)

    /// Takes the socket over; nil where no dial was won.
    mutating func takeSocket() -> Socket? {
      guard case .won(let socket) = self else { return nil }
      self = .none
      return socket
    }
  }
}

extension SSHConfiguration.Source {
  fileprivate var dialSource: DialSource? {
    switch self {
    case .any: nil
    case .address(let address): .address(address)
    case .interface(let name): .interface(name)
    }
  }
}

extension SSHConfiguration.AddressFamily {
  fileprivate var networkFamily: NetworkAddress.Family? {
    switch self {
    case .any: nil
    case .ipv4: .v4
    case .ipv6: .v6
    }
  }
}
