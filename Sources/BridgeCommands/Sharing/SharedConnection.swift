import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeTransport
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
    // The last client that came before the socket was closed is gone. What is forwarded goes on.
    guard run.isIdle else { return }
    await forwards?.untilIdle()
    run.end()
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

  /// Takes no more sessions; those that are there go on. Who has connected by now is refused, and
  /// has a connection of its own.
  private func stop() {
    if case .open(let listener) = phase { listener.close() }
    phase = .stopped
  }

  /// Nothing was over it for a while; nil where that is so, or what is to be waited for.
  private func expire() async -> RunForwards? {
    guard clients.isEmpty, !Task.isCancelled else { return nil }
    if let forwards, await forwards.count > 0 { return forwards }
    if clients.isEmpty { stop() }
    return nil
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
    expiry?.cancel()
    client.send(ControlReply.hello(version: ControlRequest.version, saysEnds: true).packet)
    await withDiscardingTaskGroup { group in
      for await packet in client.packets {
        guard let request = ControlRequest(packet.bytes) else { break }
        switch request {
        case .session(let number, let session):
          group.addTask { await self.serve(session, number, packet, client) }
          continue
        case .carry(let number, let target):
          group.addTask { await self.carry(target, number, packet, client) }
          continue
        case .hello, .alive, .exit, .forward, .cancel, .stop, .other: break
        }
        guard let reply = await answer(request) else { continue }
        client.send(reply.packet)
        if case .exit = request { run.end() }
      }
      group.cancelAll()
      client.close()
    }
    clients[id] = nil
    expireIfIdle()
  }

  private func answer(_ request: ControlRequest) async -> ControlReply? {
    switch request {
    case .hello, .session, .carry: return nil
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
        return .failed(id, RunForwards.reason(error))
      }
    case .cancel(let id, let rule):
      guard await forwards?.cancel(rule) == true else { return .failed(id, "no such forward") }
      return .done(id)
    case .other(let id): return .failed(id, "not supported")
    }
  }

  /// It ends with its link, or with the client.
  private func carry(
    _ target: TunnelTarget, _ id: UInt32, _ packet: ControlStream.Packet, _ client: ControlStream
  ) async {
    guard let connection, case .open = phase, packet.passed.count == 2 else {
      client.send(ControlReply.failed(id, "no more sessions are taken").packet)
      return
    }
    let tunnel: any ByteChannel
    do throws(AppError) {
      tunnel = try await connection.tunnel(to: target)
    } catch {
      client.send(ControlReply.failed(id, RunForwards.reason(error)).packet)
      return
    }
    let descriptors = packet.takeDescriptors()
    let input = DescriptorReader(descriptors[0], ownsDescriptor: true)
    let output = DescriptorWriter(descriptors[1], ownsDescriptor: true)
    lastSession &+= 1
    let number = lastSession
    client.send(ControlReply.opened(id, session: number).packet)
    let end = await TunnelCarrier(tunnel: tunnel, input: input, output: output).run()
    await output.drain()
    // OpenSSH's client takes the end of the connection for a good end.
    if case .lost = end {
      let status = UInt32(ExitReport.failureOfSSH)
      client.send(ControlReply.ended(session: number, status: status).packet)
    }
    client.close()
    await tunnel.close()
    input.stop()
    output.finish()
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
    let isAlive = await session.run(over: connection, number: number, asked: id, client)
    sessions[number] = nil
    if sessions.isEmpty {
      let callers = idleCallers
      idleCallers = []
      for caller in callers { caller.fulfill() }
    }
    // Where nothing else is over it, one that is dead is of no use: the next run makes another.
    if !isAlive, run.isIdle, await forwards?.isListening != true, sessions.isEmpty { stop() }
  }

  /// Waits for the next client for so long as is wanted.
  private func expireIfIdle() {
    expiry?.cancel()
    guard clients.isEmpty, run.isIdle, case .open = phase, case .limited(let time) = persistence
    else { return }
    expiry = Task(executorPreference: run.reactor) {
      while (try? await ContinuousClock().sleep(for: time)) != nil {
        guard let forwards = await self.expire() else { return }
        await forwards.untilIdle()
      }
    }
  }
}
