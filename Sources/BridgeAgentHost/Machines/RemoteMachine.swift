public import BridgeErrors
public import BridgeSSH
public import BridgeSession
public import BridgeSupervision
public import BridgeTransport
import BridgeWaiting

/// One machine and any number of durable sessions on it, over as many SSH connections as its server
/// requires.
///
///     let machine = RemoteMachine("build", at: endpoint, supervisor) { SSHConnection(to: $0, …) }
///     let agent = machine.session(.init(host: "build", starting: spec, client: client))
///     for try await line in agent.lines() { … }
///
/// A server allows a number of channels on a connection (MaxSessions of sshd), and each attached
/// session has one. Where it refuses one more, another connection is made; all of them are links of
/// the same supervisor, take turns to dial, and share a retry budget. A refused channel ends no
/// session. Nor does a link that has given up: its error stays with the supervisor, and the
/// sessions go on when a person has it dialed again.
public actor RemoteMachine: ByteChannelSource {
  /// Makes a connection that has not been opened.
  public typealias Make = @Sendable (Endpoint) async throws(AppError) -> SSHConnection

  /// The machine, as errors name it.
  public nonisolated let name: String
  private let endpoint: Endpoint
  private let supervisor: Supervisor<ContinuousClock>
  private let options: LinkOptions
  private let make: Make
  /// Not a part of the actor: a channel that is let go gives its place back at once.
  private let pool: Mutex<ChannelPool>
  private var connections: [(id: ConnectionID, links: SessionLinks<SSHConnection>)] = []
  private var isClosed = false
  private let changes = Changes()

  /// A machine that is not dialed before a channel is needed.
  ///
  /// - Parameters:
  ///   - name: the machine, as errors name it; its links are named after it.
  ///   - endpoint: where it is.
  ///   - supervisor: keeps its links up.
  ///   - options: how they are kept up.
  ///   - most: how many connections there may be, from 1; beyond that channels wait for others.
  ///   - make: makes a connection that has not been opened.
  public init(
    _ name: String, at endpoint: Endpoint, _ supervisor: Supervisor<ContinuousClock>,
    _ options: LinkOptions = LinkOptions(), most: Int = 32, make: @escaping Make
  ) {
    (self.name, self.endpoint, self.supervisor) = (name, endpoint, supervisor)
    (self.options, self.make) = (options, make)
    pool = Mutex(ChannelPool(most: max(1, most)))
  }

  /// A session on this machine: attached over a connection that has a place for it, and again over
  /// another one whenever that is lost.
  public nonisolated func session(_ configuration: DurableSession.Configuration) -> DurableSession {
    DurableSession(configuration) { command, _ throws(AppError) in
      try await self.channel(running: command)
    }
  }

  /// What `bridge-host` there answers without attaching.
  public nonisolated var host: SessionHost { SessionHost(self, host: name) }

  /// How many connections there are, or were to be made.
  public var connectionCount: Int { connections.count }

  /// A channel on a connection that has a place for it; waits for a link, and for a place.
  ///
  /// - Throws: what a link that goes on refused it with, where that was not for others that are
  ///   open; `cancelled`, also when the machine is closed.
  public func channel(running command: String) async throws(AppError) -> any ByteChannel {
    while !isClosed {
      let version = changes.version
      switch pool.withLock({ $0.take() }) {
      case .full: try await changes.wait(after: version)
      case .another(let number):
        try await keeping(number) { () async throws(AppError) in try await connect(number) }
        if let channel = try await open(command, on: number) { return channel }
      case .connection(let number):
        if let channel = try await open(command, on: number) { return channel }
      }
    }
    throw .cancelled
  }

  /// Adds the link with this number.
  private func connect(_ number: Int) async throws(AppError) {
    let id = ConnectionID("\(name)#\(number + 1)")
    let links = SessionLinks<SSHConnection>()
    connections.append((id, links))
    do throws(AppError) {
      try await supervisor.add(
        id, to: endpoint, options,
        onGeneration: { (connection: SSHConnection, generation) in
          await links.use(connection, generation: generation)
        }, make: make)
    } catch {
      await links.fail(error)
      throw error
    }
  }

  /// A channel on the connection with this number; nil where the server refused it for others that
  /// are open there.
  private func open(
    _ command: String, on number: Int
  ) async throws(AppError) -> (any ByteChannel)? {
    let links = connections[number].links
    var last = 0
    while true {
      let (link, generation) = try await keeping(number) { () async throws(AppError) in
        try await links.link(after: last)
      }
      last = generation
      do throws(AppError) {
        guard let channel = try await links.open(command, on: link) else { continue }
        return PooledChannel(channel) { [weak self] in self?.give(back: number) }
      } catch {
        guard await link.lastRefusal?.kind == .channelDenied else {
          give(back: number)
          throw error
        }
        let isForOthers = pool.withLock { $0.refuse(number) }
        changes.announce()
        guard isForOthers else { throw error }
        return nil
      }
    }
  }

  /// Gives the place back where `body` fails.
  private func keeping<Value>(
    _ number: Int, _ body: () async throws(AppError) -> Value
  ) async throws(AppError) -> Value {
    do throws(AppError) {
      return try await body()
    } catch {
      give(back: number)
      throw error
    }
  }

  private nonisolated func give(back number: Int) {
    pool.withLock { $0.release(number) }
    changes.announce()
  }

  /// Closes all connections; sessions on it are suspended for good.
  public func close() async {
    isClosed = true
    changes.announce()
    for (id, links) in connections {
      await links.fail(.cancelled)
      await supervisor.close(id)
    }
  }
}
