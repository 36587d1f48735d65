import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeWaiting

/// The connection of a run, shared with others by a unix socket (ssh_config(5), ControlMaster):
/// their sessions are channels of it.
actor SharedConnection: ConnectionSharer {
  private enum Phase {
    /// Not logged in yet.
    case closed
    case open(ControlListener)
    /// No more sessions are taken.
    case stopped
  }

  private let path: String
  private let persistence: ConnectionSharing.Persistence
  private let run: RunBeginning.Sharing
  /// Whether the run is of no use where another one shares its connection at the path.
  private let isSharedOnly: Bool
  private let isOpen = Latch()
  private var phase = Phase.closed
  private var connection: SSHConnection?
  private var forwards: RunForwards?
  private var clients: [ObjectIdentifier: ControlStream] = [:]
  private var sessions: [UInt32: SharedSession] = [:]
  private var lastSession: UInt32 = 0
  private var idleCallers: [Promise<Void>] = []
  /// Ends a run that nothing is done over.
  private var expiry: Task<Void, Never>?

  /// The connection of `run`, shared at `path` as soon as it is there.
  ///
  /// - Parameter persistence: how long it stays without a session; nil where the run has one of its
  ///   own, or was started to stay.
  init(
    at path: String, _ persistence: ConnectionSharing.Persistence?,
    of run: RunBeginning.Sharing
  ) {
    self.path = path
    self.persistence = persistence ?? .none
    self.run = run
    isSharedOnly = persistence != nil
  }

  var count: Int { sessions.count }

  func serve() async {
    await isOpen.wait()
    guard case .open(let listener) = phase else { return }
    await withDiscardingTaskGroup { group in
      for await client in listener.clients {
        group.addTask { await self.serve(client) }
      }
    }
  }

  func use(_ forwards: RunForwards?) { self.forwards = forwards }

  func use(_ connection: SSHConnection) -> Bool {
    self.connection = connection
    guard case .closed = phase else { return true }
    do throws(ControlListener.Refusal) {
      phase = .open(
        try ControlListener(
          path: path, longest: ControlRequest.longest,
          descriptorCount: ControlRequest.descriptorCount))
    } catch {
      phase = .stopped
      isOpen.open()
      let shown = PeerText.escaped(path, limit: 1024)
      if error == .isInUse {
        guard !isSharedOnly else { return false }
        run.reporter.log("ControlSocket \(shown) already exists, disabling multiplexing")
        return true
      }
      run.reporter.warn("the connection is not shared: \(shown): \(error.words)")
      return true
    }
    isOpen.open()
    expireIfIdle()
    return true
  }

  func resized() {
    for session in sessions.values { session.resized() }
  }

  func untilIdle() async {
    guard !sessions.isEmpty else { return }
    let caller = Promise<Void>()
    idleCallers.append(caller)
    await caller.value()
  }

  /// Takes no more sessions; those that are there go on.
  private func stop() {
    if case .open(let listener) = phase { listener.close() }
    phase = .stopped
    expireIfIdle()
  }

  func close() {
    expiry?.cancel()
    if case .open(let listener) = phase { listener.close() }
    phase = .stopped
    isOpen.open()
    for client in clients.values { client.close() }
  }

  private func serve(_ client: ControlStream) async {
    let id = ObjectIdentifier(client)
    clients[id] = client
    client.send(ControlReply.hello(version: ControlRequest.version).packet)
    await withDiscardingTaskGroup { group in
      for await packet in client.packets {
        guard let request = ControlRequest(packet.bytes) else { break }
        if case .session(let number, let session) = request {
          group.addTask { await self.serve(session, number, packet, client) }
          continue
        }
        guard let reply = await answer(request) else { continue }
        client.send(reply.packet)
        if case .exit = request { run.end() }
      }
      group.cancelAll()
      client.close()
    }
    clients[id] = nil
  }

  private func answer(_ request: ControlRequest) async -> ControlReply? {
    switch request {
    case .hello, .session: return nil
    case .alive(let id): return .alive(id, process: UInt32(Foreground.processID))
    case .exit(let id): return .done(id)
    case .stop(let id):
      stop()
      return .done(id)
    case .forward(let id, let rule):
      guard let forwards else { return .failed(id, "nothing is forwarded") }
      do throws(AppError) {
        let port = try await forwards.add(rule)
        return rule.isForAnyPort && rule.side == .remote ? .port(id, UInt32(port)) : .done(id)
      } catch {
        return .failed(id, PeerText.escaped(error.shownMessage(), limit: 1024))
      }
    case .cancel(let id, let rule):
      guard await forwards?.cancel(rule) == true else { return .failed(id, "no such forward") }
      return .done(id)
    case .other(let id): return .failed(id, "not supported")
    }
  }

  private func serve(
    _ request: ControlRequest.Session, _ id: UInt32, _ packet: ControlStream.Packet,
    _ client: ControlStream
  ) async {
    guard let connection, case .open = phase else {
      client.send(ControlReply.failed(id, "no more sessions are taken").packet)
      return
    }
    guard let session = SharedSession(request, packet) else {
      client.send(
        ControlReply.denied(id, "its terminal cannot be read by this process").packet)
      return
    }
    lastSession &+= 1
    let number = lastSession
    sessions[number] = session
    expiry?.cancel()
    let isAlive = await session.run(over: connection, number: number, asked: id, client)
    sessions[number] = nil
    // Where nothing else is over it, one that is dead is of no use: the next run makes another.
    if !isAlive, run.isIdle, await forwards?.isListening != true, sessions.isEmpty {
      return run.end()
    }
    expireIfIdle()
  }

  private func expireIfIdle() {
    guard sessions.isEmpty else { return }
    let callers = idleCallers
    idleCallers = []
    for caller in callers { caller.fulfill() }
    guard run.isIdle else { return }
    switch (phase, persistence) {
    case (.stopped, _): run.end()
    case (.open, .limited(let time)):
      expiry = Task(executorPreference: run.reactor) { [run] in
        guard (try? await ContinuousClock().sleep(for: time)) != nil else { return }
        run.end()
      }
    case (.open, _), (.closed, _): break
    }
  }
}
