import NIOCore
import NIOPosix

/// A TCP proxy on loopback that breaks what it carries.
///
/// ```swift
/// let proxy = try await FaultProxy(to: server.port)   // your client dials proxy.port
/// try await proxy.inject(.reset)
/// await proxy.stop()
/// ```
///
/// The actor lives on one event loop, with its sockets; whatever it does is in `log`, in order.
public actor FaultProxy: Journaling {
  /// The port on 127.0.0.1; the same for as long as it lives.
  public nonisolated let port: Int
  /// The seed of its random numbers; print it when a test fails.
  public nonisolated let seed: UInt64

  nonisolated let loop: any EventLoop
  let serverPort: Int
  let listener: LoopbackListener
  var isListening = false
  var admission = Admission.forward
  var relays: [Int: Relay] = [:]
  var held: [Int] = []
  /// Steps that later connections meet: every one, and the next one only.
  var standing: [FaultStep] = []
  var once: [FaultStep] = []
  /// Counted up by `heal`, so that steps still scheduled before it are not taken.
  var epoch = 0
  var isStopped = false
  private var accepted = 0
  private let start: NIODeadline
  private let generator: SplitMix64
  var journal: EventLog<FaultEvent>

  /// The event loop, as the executor of this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.lane }

  /// Listens on a port of its own and passes everything on to `port` of 127.0.0.1.
  ///
  /// - Parameter logCapacity: events that `log` keeps at most, at least 2; it drops the older half
  ///   when it is full.
  /// - Throws: `cannotListen`.
  public init(
    to port: Int, seed: UInt64 = 1, logCapacity: Int = 4_096
  ) async throws(FaultError) {
    journal = EventLog(capacity: max(2, logCapacity))
    loop = MultiThreadedEventLoopGroup.singleton.next()
    serverPort = port
    self.seed = seed
    generator = SplitMix64(seed: seed)
    start = .now()
    listener = try LoopbackListener(on: loop)
    self.port = listener.port
    try await listen()
  }

  /// The events, oldest first; the newest half of its capacity at least.
  public var log: [FaultEvent] { journal.events }

  /// How many older events the log has lost.
  public var droppedEvents: Int { journal.dropped }

  /// Connections whose sockets are open, by number.
  public var connections: [Int: FaultTraffic] {
    relays.mapValues {
      FaultTraffic(
        toServer: $0.toServer.passed, toClient: $0.toClient.passed,
        writesToServer: $0.toServer.writes, writesToClient: $0.toClient.writes)
    }
  }

  /// The first event of the log that matches, once there is one.
  ///
  /// - Throws: `stopped` when the proxy stops, or the task is canceled, before it came.
  public func first(
    where matches: @escaping @Sendable (FaultEvent) -> Bool
  ) async throws(FaultError) -> FaultEvent { try await awaitEvent(where: matches) }

  /// Closes everything it opened. Safe to call again.
  public func stop() async {
    guard !isStopped else { return }
    isStopped = true
    epoch += 1
    let channels = relays.values.flatMap { [$0.client, $0.server].compactMap(\.self) }
    stopListening()
    for id in relays.keys.sorted() { conclude(id) }
    journal.end()
    for channel in channels { try? await channel.closeFuture.get() }
  }

  /// Time since the start.
  var now: Duration { .nanoseconds((NIODeadline.now() - start).nanoseconds) }

  /// The loop's instant of a time since the start.
  func deadline(_ due: Duration) -> NIODeadline { start + TimeAmount(due) }

  func report(_ kind: FaultEvent.Kind, _ connection: Int? = nil) {
    journal.append(FaultEvent(at: now, connection: connection, kind: kind))
  }

  /// A number and two lanes for a new connection.
  func makeRelay(_ client: any Channel) -> Int {
    accepted += 1
    relays[accepted] = Relay(
      client: client, toServer: Lane(generator: generator.forked(for: 2 * accepted)),
      toClient: Lane(generator: generator.forked(for: 2 * accepted + 1)))
    return accepted
  }
}

/// The bytes that a connection has passed on so far.
public struct FaultTraffic: Sendable, Equatable {
  /// Bytes.
  public var toServer, toClient: Int
  /// Writes to the socket.
  public var writesToServer, writesToClient: Int
}
