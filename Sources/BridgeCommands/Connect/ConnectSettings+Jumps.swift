import BridgeErrors
import BridgeSSH
import BridgeTransport

// The way to a host through others, each with settings of its own.
extension ConnectSettings {
  /// Adds what stands before this host, and before that.
  ///
  /// As with OpenSSH, ProxyJump names the hops from the first to the last, and only the first one's
  /// own configuration says how that is reached. `-F`, the known_hosts options and the time limits
  /// hold for each hop; `-i`, `-l`, `-p`, `-o` and the password are for the host alone.
  ///
  /// - Throws: `validationError` for a way in a circle, or one that is too long.
  mutating func add(
    _ proxy: ClientConfig.Proxy?, of request: ConnectRequest, in environment: Environment,
    seen: [String] = []
  ) throws(CommandFailure) {
    givenHost = request.host.host
    let seen = seen + [name]
    guard !seen.dropLast().contains(name) else { throw Self.refused(seen, "is circular") }
    guard seen.count <= JumpHost.limit else { throw Self.refused(seen, "is too long") }
    switch proxy {
    case nil: return
    case .command(let line): proxyCommand = line
    case .jump(let hops):
      for (index, hop) in hops.enumerated() {
        let request = try request.leading(to: hop)
        var (settings, before) = try Self.resolveAlone(request, in: environment)
        settings.givenHost = request.host.host
        if index == 0 { try settings.add(before, of: request, in: environment, seen: seen) }
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

  /// The jump host that a failure is about; nil where it is the host's, or no host's.
  func jumpHost(in failure: FailureContext?) -> CommandFailure.JumpHost? {
    guard let failure, !isMeant(by: failure),
      let index = jumps.firstIndex(where: { $0.isMeant(by: failure) })
    else { return nil }
    let place = jumps.count > 1 ? " \(index + 1) of \(jumps.count)" : ""
    let hop = jumps[index]
    let name = hop.givenHost == hop.endpoint.host ? "" : "\(hop.givenHost) "
    let address = name.isEmpty ? "\(hop.endpoint)" : "(\(hop.endpoint))"
    return CommandFailure.JumpHost(
      login: "\(hop.user)@\(hop.givenHost)",
      words: "jump host\(place) on the way to \(givenHost) failed: \(name)\(address).")
  }

  /// Whether `failure` is about this host, which it names as the user did.
  private func isMeant(by failure: FailureContext) -> Bool {
    guard (failure.address ?? failure.host) == endpoint.host, failure.port == endpoint.port else {
      return false
    }
    // Two accounts of one machine, where one leads to the other.
    guard failure.kind == .authenticationRefused, let refused = failure.detail else { return true }
    return refused == user
  }

  private var alone: ConnectSettings {
    var settings = self
    settings.jumps = []
    return settings
  }

  private static func refused(_ names: [String], _ problem: String) -> CommandFailure {
    let way = names.map { PeerText.escaped($0, limit: 128) }.joined(separator: ", ")
    return CommandFailure(
      error: .validationError(
        field: "ProxyJump", message: "The chain of jump hosts \(problem): \(way)."), isInFile: true)
  }
}

extension ConnectRequest {
  /// The request for a hop on the way.
  fileprivate func leading(to hop: JumpHost) throws(CommandFailure) -> ConnectRequest {
    var request = self
    let host = hop.host.contains(":") ? "[\(hop.host)]" : hop.host
    do throws(AppError) {
      request.host = try HostArgument((hop.user.map { "\($0)@" } ?? "") + host)
    } catch {
      throw CommandFailure(error: error, isInFile: true)
    }
    request.port = hop.port
    request.user = hop.user
    request.identities = []
    request.options = []
    request.passwordDescriptor = nil
    request.jump = nil
    request.forwards = nil
    return request
  }
}
