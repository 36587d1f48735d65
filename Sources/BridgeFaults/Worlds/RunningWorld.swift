/// A world that was started: a server in namespaces of its own (mounts, processes, where the kernel
/// shapes the traffic also the network), and a proxy in front of it.
///
/// All that it started, and all that its users left running, is gone with it.
package actor RunningWorld {
  /// The declaration.
  package nonisolated let world: World
  /// The port of 127.0.0.1 that clients dial.
  package nonisolated let port: Int
  /// The user who may log in.
  package nonisolated let user = WorldScripts.name
  /// The private key of the user.
  package nonisolated let identityFile: String
  /// A directory of both ends that the user may write.
  package nonisolated let scratch: String
  /// The public host keys as lines of a known_hosts file.
  package nonisolated let knownHosts: String

  private let folder: TemporaryFolder
  private var proxies: [FaultProxy] = []
  private var server: ServerProcess?
  /// The process whose namespaces it lives in.
  package nonisolated let pid: Int32

  /// Starts it.
  ///
  /// - Parameter host: the `bridge-host` that the user has, unless the world is one without.
  /// - Throws: `cannotStart`, `notReady` with the server's log, `fileUnusable`, `cannotListen`.
  package init(_ world: World, host: String) async throws(FaultError) {
    self.world = world
    let folder = try TemporaryFolder()
    self.folder = folder
    identityFile = folder.file("identity")
    scratch = folder.file("scratch")
    do throws(FaultError) {
      let (serverPort, program) = try await WorldFolder(world, folder).prepare(host: host)
      var server = try await ServerProcess(program[0], Array(program.dropFirst()), in: folder)
      pid = server.pid
      do throws(FaultError) {
        if world.network.discipline == nil {
          proxies = [try await Self.proxy(to: serverPort, world.network)]
        }
        port = proxies.first?.port ?? serverPort
        knownHosts = WorldFolder(world, folder).knownHosts(port: port)
      } catch {
        await server.kill()
        throw error
      }
      self.server = server
    } catch {
      folder.remove()
      throw error
    }
  }

  private static func proxy(
    to port: Int, _ network: World.Network
  ) async throws(FaultError) -> FaultProxy {
    let proxy = try await FaultProxy(to: port)
    if let rate = network.bytesPerSecond { try await proxy.inject(.bandwidth(rate)) }
    if let delay = network.delay { try await proxy.inject(.latency(delay)) }
    if let loss = network.loss { try await proxy.inject(.loss(loss)) }
    if let every = network.resetEvery {
      await proxy.play((1...100).reduce(Timeline()) { $0.at(every * $1, .reset) })
    }
    return proxy
  }

  /// Puts the network of this world between clients and another server of this machine.
  ///
  /// - Returns: the port that clients dial.
  package func way(to port: Int) async throws(FaultError) -> Int {
    let proxy = try await Self.proxy(to: port, world.network)
    proxies.append(proxy)
    return proxy.port
  }

  /// What runs before a client: `exec "$0" "$@"` of bash becomes the client.
  package nonisolated var entry: String {
    var script = ""
    if case .descriptors(let count) = world.machine { script += "ulimit -n \(count); " }
    let inside = world.network.discipline == nil ? "" : "nsenter -n -t \(pid) "
    return script + "exec \(inside)\"$0\" \"$@\""
  }

  /// The environment of a client beside the usual one.
  package nonisolated var environment: [String: String] {
    if case .oneThread = world.machine { return ["LIBDISPATCH_COOPERATIVE_POOL_STRICT": "1"] }
    return [:]
  }

  /// Begins an outage of the kind that this world has; it ends by itself.
  package func breakLinks() async throws(FaultError) {
    guard !proxies.isEmpty else { return try await breakNetwork() }
    for proxy in proxies {
      switch world.network.outage {
      case .reset: try await proxy.inject(.reset)
      case .darkness(let time): try await proxy.inject(.partition(for: time))
      case .refusal(let time):
        try await proxy.inject(.refuse(for: time))
        try await proxy.inject(.reset)
      }
    }
  }

  /// The loopback of its network goes down for 3 s.
  private func breakNetwork() async throws(FaultError) {
    var child = try ChildProcess(
      "/usr/bin/nsenter",
      [
        "-n", "-t", "\(pid)", "/bin/sh", "-c",
        "ip link set lo down; (sleep 3; ip link set lo up) &",
      ], log: folder.file("outage.log"))
    guard await child.finish() else {
      throw .notReady(program: "ip", log: folder.read("outage.log"))
    }
  }

  /// Carries everything at once from now on.
  package func heal() async throws(FaultError) {
    for proxy in proxies { try await proxy.heal() }
  }

  /// Carries at most so many bytes a second from now on, where a proxy carries them.
  package func slow(to bytesPerSecond: Int) async throws(FaultError) {
    for proxy in proxies { try await proxy.inject(.bandwidth(bytesPerSecond)) }
  }

  /// Bytes that clients have sent on the connections that are open now; nil where no proxy counts.
  package var sent: Int? {
    get async { await proxies.first?.connections.values.reduce(0) { $0 + $1.toServer } }
  }

  /// What the server has written to its log.
  package var log: String { folder.read("log") }

  /// Ends it with all it holds. Safe to call again.
  package func stop() async {
    for proxy in proxies { await proxy.stop() }
    let ending = server.take()
    if var ending { await ending.kill() }
    folder.remove()
  }
}
