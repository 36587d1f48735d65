import BridgeErrors
import BridgeReactor
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTerminal
import BridgeTransport

/// What a run makes its connections with, and the hosts on the way.
struct RunDialer: Sendable {
  /// A host on the way.
  struct Hop {
    let id: ConnectionID
    let settings: HostSettings
    /// Its number, from 0.
    let index: Int
  }

  let context: RunContext
  let prompter: Prompter
  let supervisor: Supervisor<ContinuousClock>

  private var settings: ConnectSettings { context.settings }

  /// The hosts on the way, the first one dialed first.
  static func hops(of settings: ConnectSettings) -> [Hop] {
    settings.jumps.enumerated().map { index, settings in
      Hop(
        id: ConnectionID("ssh:\(settings.endpoint)#jump\(index + 1)"), settings: settings,
        index: index)
    }
  }

  /// The link to the host depends on that of the last hop, and that on the one before it: a lost
  /// hop is one failure, at that hop.
  func options(
    after hop: Hop?, losesNothing: Bool
  ) -> BridgeSupervision.LinkOptions {
    let recovery = context.request.recovery
    var policy = RetryPolicy.persistent
    if case .upTo(let count) = recovery.retries { policy.retries = count }
    let liveness = LivenessPolicy(
      keepalive: settings.keepalive, switching: losesNothing ? .free : .costly,
      deadAfter: settings.deadAfter)
    return BridgeSupervision.LinkOptions(
      parents: hop.map { [$0.id] } ?? [], policy: policy,
      retriesFirstDial: recovery.wait != nil,
      liveness: settings.keepalive == .zero ? nil : liveness,
      attemptLimit: settings.attemptTimeout)
  }

  /// Makes connections to the host of `settings`: through the one before, as that is then, by a
  /// program, or over TCP.
  func maker(
    of settings: HostSettings, _ configuration: SSHConfiguration, through before: Hop?,
    hop: Int? = nil, on reactor: Reactor? = nil,
    mayAsk: @escaping @Sendable () -> Bool = { true }
  ) -> @Sendable (Endpoint) async throws(AppError) -> SSHConnection {
    let asker = Asker(user: settings.user, endpoint: settings.endpoint, hop: hop)
    let isBatch = hop != nil && settings.login.isBatch
    let proxy = ProxyCommand(
      of: settings, context.local, context.reporter, keyboard: context.keyboard)
    let reactor = reactor ?? context.reactor
    return { [prompter, supervisor] (endpoint) async throws(AppError) -> SSHConnection in
      var bastion: (any Connection)?
      if let before { bastion = try await supervisor.connection(before.id) }
      let configuration = prompter.login(to: asker, isBatch: isBatch, mayAsk: mayAsk)
        .added(to: configuration)
      return try settings.connection(
        to: endpoint, configuration, through: bastion, by: proxy, on: reactor)
    }
  }
}

extension ProxyCommand {
  /// The program that leads to the host of `settings` in place of a TCP connection. What it writes
  /// is for the terminal until a shell has it; after that its last line is in the cause of the
  /// failure.
  init?(
    of settings: HostSettings, _ local: LocalEnvironment, _ reporter: Reporter,
    keyboard: Keyboard? = nil
  ) {
    self.init(of: settings, local.variables) {
      if keyboard?.wasOpened != true { reporter.log(PeerText.escaped($0, limit: 2048)) }
    }
  }
}
