import NIOCore
import NIOPosix

/// A loopback server that follows a script, byte by byte, and keeps what it was sent.
///
/// ```swift
/// let peer = try await ScriptedTCPPeer([.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .finish])
/// ```
public actor ScriptedTCPPeer: Journaling {
  /// The port on 127.0.0.1.
  public nonisolated let port: Int

  nonisolated let loop: any EventLoop
  var journal = EventLog<PeerEvent>()
  private(set) var isStopped = false
  private let listener: LoopbackListener
  private var scripts: [PeerScript]
  private var sessions: [Int: ScriptPlayer] = [:]
  private var heard: [[UInt8]] = []
  private let start: NIODeadline

  /// The limit on the kept bytes of a client.
  public static let recordCapacity = 1 << 20

  /// The event loop, as the executor of this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.lane }

  /// Listens, and gives every connection the same script.
  ///
  /// - Throws: `cannotListen`.
  public init(_ script: PeerScript) async throws(FaultError) { try await self.init([script]) }

  /// Listens, and gives the first connection the first script, the second the second and so on;
  /// the last one serves all that come later. Without a script it is silent.
  ///
  /// - Throws: `cannotListen`.
  public init(_ scripts: [PeerScript]) async throws(FaultError) {
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.scripts = scripts
    start = .now()
    listener = try LoopbackListener(on: loop)
    port = listener.port
    let peer = self
    let opened = listener.open { try $0.pipeline.syncOperations.addHandler(PeerHandler(peer)) }
    do { try await opened.get() } catch { throw .cannotListen(detail: "\(error)") }
  }

  /// The bytes that each connection sent so far, in order of acceptance; each at most
  /// `recordCapacity`.
  public var received: [[UInt8]] { heard }

  /// The events, oldest first; the newest 2,048 events at least.
  public var log: [PeerEvent] { journal.events }

  /// How many connections are open.
  public var openConnections: Int { sessions.count }

  /// Gives connections from now on other scripts; open ones follow theirs to the end.
  public func follow(_ scripts: PeerScript...) {
    self.scripts = Array(repeating: scripts.first ?? [], count: heard.count) + scripts
  }

  /// The first event of the log that matches, once there is one.
  ///
  /// - Throws: `stopped` when the peer stops, or the task is canceled, before it came.
  public func first(
    where matches: @escaping @Sendable (PeerEvent) -> Bool
  ) async throws(FaultError) -> PeerEvent { try await awaitEvent(where: matches) }

  /// Closes everything it opened. Safe to call again.
  public func stop() async {
    guard !isStopped else { return }
    isStopped = true
    _ = listener.close()
    let channels = sessions.values.map(\.channel)
    for channel in channels { channel.close(promise: nil) }
    for channel in channels { try? await channel.closeFuture.get() }
    journal.end()
  }

  func accept(_ channel: any Channel) -> Int {
    heard.append([])
    let connection = heard.count
    let script = scripts.isEmpty ? [] : scripts[min(connection, scripts.count) - 1]
    let player = ScriptPlayer(script, on: channel, start: start) {
      self.assumeIsolated { $0.report(.scriptDone, connection) }
    }
    sessions[connection] = player
    report(.accepted, connection)
    return connection
  }

  func begin(_ connection: Int) {
    guard let player = sessions[connection] else { return }
    // Accepted by the kernel before the listener was closed, and told only now.
    guard !isStopped else { return player.channel.close(promise: nil) }
    player.readMore()
    player.play()
  }

  func received(_ bytes: [UInt8], of connection: Int) {
    let space = Self.recordCapacity - heard[connection - 1].count
    heard[connection - 1] += bytes.prefix(space)
    sessions[connection]?.take(bytes)
  }

  func readMore(of connection: Int) { sessions[connection]?.readMore() }

  func hasSpace(_ connection: Int) { sessions[connection]?.play() }

  func clientFinished(_ connection: Int) {
    report(.clientFinished, connection)
    sessions[connection]?.clientDidFinish()
  }

  func closed(_ connection: Int) {
    guard let player = sessions.removeValue(forKey: connection) else { return }
    player.stop()
    report(.closed, connection)
  }

  private func report(_ kind: PeerEvent.Kind, _ connection: Int) {
    let time = Duration.nanoseconds((NIODeadline.now() - start).nanoseconds)
    journal.append(PeerEvent(at: time, connection: connection, kind: kind))
  }
}
