import BridgeErrors
import BridgeSSH
import BridgeSupervision
import BridgeTransport

/// What leads to a machine.
enum MachineRoute: Sendable {
  /// Connections that the program makes.
  case made(Endpoint, RemoteMachine.Make)
  /// What the configuration says.
  case configured(ConfiguredRoute)

  /// Where the machine is.
  var endpoint: Endpoint {
    switch self {
    case .made(let endpoint, _): endpoint
    case .configured(let route): route.settings.endpoint
    }
  }
}

/// The way to a machine by ssh_config: through the hosts of ProxyJump, by a program, or directly.
struct ConfiguredRoute: Sendable {
  let settings: HostSettings
  /// The environment's variables.
  let variables: [String: String]
  let answers: MachineOptions.Answers?

  /// Keeps the links to the hosts on the way up. They are shared with the other machines of the
  /// supervisor that are reached through the same hosts, and kept up as the first of those asks.
  ///
  /// - Returns: their names, the first one dialed first: each is to be released.
  /// - Throws: `cancelled` after `shutDown` of the supervisor.
  func holdHops(
    on supervisor: Supervisor<ContinuousClock>, _ options: LinkOptions
  ) async throws(AppError) -> [ConnectionID] {
    var held: [ConnectionID] = []
    var options = options
    // That is the group of the machine.
    options.group = nil
    do throws(AppError) {
      for (index, hop) in settings.jumps.enumerated() {
        held.append(
          try await supervisor.share(
            "\(hop.user)@\(Endpoint(host: hop.givenHost, port: hop.endpoint.port))",
            Array(settings.jumps[...index]), to: hop.endpoint,
            self.options(options, of: hop, behind: held.last),
            make: maker(of: hop, number: index, behind: held.last, supervisor)))
      }
      return held
    } catch {
      for hop in held.reversed() { await supervisor.release(hop) }
      throw error
    }
  }

  /// `options` for the link to `host`, which depends on the one before it: a host on the way that
  /// is lost is one failure, at that host.
  func options(
    _ options: LinkOptions, of host: HostSettings, behind before: ConnectionID?
  ) -> LinkOptions {
    var own = options
    own.liveness = options.liveness(of: host)
    guard let before else { return own }
    own.parents.append(before)
    // The same address behind another host may be another machine.
    own.group = own.group ?? "\(before) > \(host.endpoint)"
    return own
  }

  /// Makes connections to `host`, through the one before it as that is then.
  ///
  /// - Parameter number: that of a host on the way, from 0; nil for the machine.
  func maker(
    of host: HostSettings, number: Int? = nil, behind before: ConnectionID?,
    _ supervisor: Supervisor<ContinuousClock>
  ) -> RemoteMachine.Make {
    let asker = Asker(user: host.user, endpoint: host.endpoint, hop: number)
    let answers = host.login.isBatch ? nil : answers
    let proxy = ProxyCommand(of: host, variables)
    return { endpoint async throws(AppError) in
      var configuration = SSHConfiguration(
        host, canAsk: answers != nil, passwordPrompts: answers == nil ? 0 : nil)
      if let answers { configuration.interaction = answers(asker) }
      var bastion: (any Connection)?
      if let before { bastion = try await supervisor.connection(before) }
      return try host.connection(to: endpoint, configuration, through: bastion, by: proxy)
    }
  }
}

extension LinkOptions {
  /// How the silence of `host` is evaluated: ServerAliveInterval and ServerAliveCountMax, where its
  /// configuration has them.
  fileprivate func liveness(of host: HostSettings) -> LivenessPolicy? {
    guard host.keepalive > .zero else { return nil }
    return LivenessPolicy(
      keepalive: host.keepalive, switching: liveness?.switching ?? .costly,
      deadAfter: host.deadAfter)
  }
}
