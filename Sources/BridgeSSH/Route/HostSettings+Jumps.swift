package import BridgeErrors
package import BridgeReactor
package import BridgeTransport

// The way to a host through others, each with settings of its own.
extension HostSettings {
  /// Adds what stands before this host, and before that.
  ///
  /// As with OpenSSH, ProxyJump names the hops from the first to the last, and only the first one's
  /// own configuration says how that is reached. What a hop inherits of the request:
  /// `HostRequest.leading(to:)`.
  ///
  /// - Throws: `validationError` for a way in a circle, or one that is too long.
  package mutating func add(
    _ proxy: ClientConfig.Proxy?, of request: HostRequest, in environment: HostEnvironment,
    seen: [String] = []
  ) throws(ConfigFailure) {
    let seen = seen + [name]
    guard !seen.dropLast().contains(name) else { throw Self.refused(seen, "is circular") }
    guard seen.count <= JumpHost.limit else { throw Self.refused(seen, "is too long") }
    switch proxy {
    case nil: return
    case .command(let line): proxyCommand = line
    case .jump(let hops):
      for (index, hop) in hops.enumerated() {
        let request = request.leading(to: hop)
        let layers = try HostLayers(request, environment)
        var settings = layers.settings
        if index == 0 {
          try settings.add(layers.all.proxy, of: request, in: environment, seen: seen)
        }
        warnings += settings.warnings.filter { !warnings.contains($0) }
        notes += settings.notes.filter { !notes.contains($0) }
        jumps += settings.jumps + [settings.alone]
      }
      let names = jumps.map(\.name) + [name]
      guard Set(names).count == names.count else { throw Self.refused(names, "is circular") }
      guard jumps.count <= JumpHost.limit else { throw Self.refused(names, "is too long") }
    }
  }

  /// As it is known among the hops: by the name that was given, as ssh does. An address may be that
  /// of another machine behind a hop.
  private var name: String {
    "\(user)@\(Endpoint(host: givenHost, port: endpoint.port))".lowercased()
  }

  private var alone: HostSettings {
    var settings = self
    settings.jumps = []
    return settings
  }

  private static func refused(_ names: [String], _ problem: String) -> ConfigFailure {
    let way = names.map { PeerText.escaped($0, limit: 128) }.joined(separator: ", ")
    return ConfigFailure(
      error: .validationError(
        field: "ProxyJump", message: "The chain of jump hosts \(problem): \(way)."), isInFile: true)
  }

  /// A connection to this host that is not opened: through the last host on the way, by a program,
  /// or over TCP.
  ///
  /// - Throws: `internalError` where `bastion` is no SSH connection.
  package func connection(
    to endpoint: Endpoint, _ configuration: SSHConfiguration, through bastion: (any Connection)?,
    by proxy: ProxyCommand?, on reactor: Reactor = ReactorGroup.shared.next()
  ) throws(AppError) -> SSHConnection {
    if let bastion {
      guard let bastion = bastion as? SSHConnection else {
        throw .internalError(detail: "\(bastion.endpoint) is not an SSH connection")
      }
      return SSHConnection(to: endpoint, configuration: configuration, through: bastion)
    }
    guard let proxy else {
      return SSHConnection(to: endpoint, configuration: configuration, on: reactor)
    }
    return SSHConnection(to: endpoint, configuration: configuration, by: proxy, on: reactor)
  }
}
