import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWaiting

/// The links of a run: to the host that its work goes over, and to the hosts on the way, which that
/// one depends on.
struct RunLinks<Link: RunLink>: Sendable {
  /// The link to the host.
  let id: ConnectionID
  private let dialer: RunDialer
  private let target: Link.Target
  /// Open when `add` has returned.
  private let isAdded = Latch()
  private let hasSides = Mutex(false)

  private var settings: ConnectSettings { dialer.context.settings }
  private var supervisor: Supervisor<ContinuousClock> { dialer.supervisor }

  /// The links of a run; none is made yet.
  ///
  /// - Throws: `validationError` of a descriptor that was to give a secret.
  init(_ dialer: RunDialer, id: ConnectionID) async throws(AppError) {
    self.dialer = dialer
    self.id = id
    target = try await Link.target(of: dialer.context, dialer.prompter)
  }

  /// Keeps all of them up from now on. `use` gets each generation of the link to the host.
  func add(
    losesNothing: Bool, use: @escaping @Sendable (Link, Int) async -> Void
  ) async throws(AppError) {
    defer { isAdded.open() }
    var before: RunDialer.Hop?
    for hop in RunDialer.hops(of: settings) {
      let configuration = SSHConfiguration(
        hop.settings, canAsk: dialer.prompter.route.canAsk)
      try await supervisor.add(
        hop.id, to: hop.settings.endpoint,
        dialer.options(after: before, losesNothing: losesNothing),
        onConnected: { (connection: SSHConnection) in
          await dialer.context.reportProblems(of: connection, hop.settings)
        }, make: dialer.maker(of: hop.settings, configuration, through: before, hop: hop.index))
      before = hop
    }
    try await supervisor.add(
      id, to: settings.endpoint, dialer.options(after: before, losesNothing: losesNothing),
      onGeneration: use,
      make: Link.maker(to: target, by: dialer, through: before, on: nil, mayAsk: { true }))
  }

  /// The links beside that to the host.
  static func sides(of id: ConnectionID, count: Int) -> [ConnectionID] {
    (0..<count).map { ConnectionID("\(id)-stream\($0 + 2)") }
  }

  /// Keeps so many more links to the host up from the first call on, each on a thread of its own
  /// unless a host is on the way. `use` gets their generations, and their numbers from 1 on.
  func addSides(
    _ count: Int, use: @escaping @Sendable (Link, Int, Int) async -> Void
  ) async throws(AppError) {
    guard count > 0,
      !hasSides.withLock({ hasSides in
        defer { hasSides = true }
        return hasSides
      })
    else { return }
    let hop = RunDialer.hops(of: settings).last
    for (index, side) in Self.sides(of: id, count: count).enumerated() {
      let reactor = Reactor(name: "bridge-stream-\(index + 2)")
      try await supervisor.add(
        side, to: settings.endpoint, dialer.options(after: hop, losesNothing: true),
        onGeneration: { (connection: Link, generation) in
          await use(connection, index + 1, generation)
        }, make: Link.maker(to: target, by: dialer, through: hop, on: reactor, mayAsk: { true }))
    }
  }

  /// Returns when the link to the host is up; to be called before `add` as well.
  ///
  /// - Throws: what the link gave up with; `cancelled` when it is closed.
  func untilUp() async throws(AppError) {
    await isAdded.wait()
    _ = try await supervisor.connection(id)
  }

  /// A connection to the host beside its link, not opened. Its login asks no person while what is
  /// typed belongs to a shell.
  func anotherConnection() async throws(AppError) -> Link {
    let hop = RunDialer.hops(of: settings).last
    let make = Link.maker(to: target, by: dialer, through: hop, on: nil, mayAsk: mayAskBeside)
    return try await make(settings.endpoint)
  }

  /// Whether a login beside the link may ask a person.
  var mayAskBeside: @Sendable () -> Bool {
    { [keyboard = dialer.context.keyboard] in keyboard?.isLive != true }
  }
}
