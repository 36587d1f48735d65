package import ArgumentParser
import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport

/// `bridgectl install`.
package struct InstallCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Install bridge-host on a host: durable sessions need it, and cp is faster with it.",
    discussion: """
      bridge-host is copied to ~/.local/lib/bridge/bin/SHA256/bridge-host, with a symbolic link \
      beside it, or below /var/tmp/bridge-UID where the home directory cannot hold or execute \
      programs. \
      Length and SHA-256 are verified on the host, and it is run once, before it gets its name. No \
      root, no port, no service. Running sessions keep the version that they have.

      EXAMPLES:
          bridgectl install build.example
          bridgectl install --binary ./bridge-host-aarch64 pi
      """)

  @Option(
    help: ArgumentHelp(
      "The bridge-host to install, instead of the one beside bridgectl.", valueName: "FILE"),
    completion: .file())
  package var binary: String?

  @OptionGroup package var link: LinkArguments

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    let binary = binary
    await SessionQuery.run(over: link) { scope async throws(AppError) -> RunContext.Ending in
      let search = HostProgramSearch.own
      guard let path = binary ?? search.found() else { return .failure(search.failure) }
      return try await Self.install(try HostBinary(path: path), scope)
    }
  }

  private static func install(
    _ program: HostBinary, _ scope: SessionQuery.Scope
  ) async throws(AppError) -> RunContext.Ending {
    let (context, host) = (scope.context, scope.context.settings.givenHost)
    let installer = HostInstaller(scope.connection, host: host, unheard: scope.unheard)
    let (size, reporter) = (program.bytes.count, context.reporter)
    let place = try await installer.provide(program) {
      reporter.detail("bridgectl: copying to \($0)")
    } sent: { count in
      guard !context.view.isOut else { return }
      reporter.progress("copying bridge-host: \(count * 100 / max(1, size)) % of \(size >> 20) MiB")
    }
    reporter.progress(nil)
    let version = try await scope.sessions.version()
    let words = PeerText.escaped(version.split(separator: "\n").first.map(String.init) ?? version)
    context.reporter.event(
      .installed(directory: place.directory, sha256: program.digest, version: words))
    let done = place.hasIt ? "found" : "installed"
    context.reporter.log(
      "bridgectl: \(done) \(words) in \(PeerText.escaped(place.directory)) of \(context.host).")
    return .success(.success)
  }
}

/// `bridgectl uninstall`.
package struct UninstallCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "uninstall",
    abstract: "Remove bridge-host from a host.",
    discussion: """
      Removes the files of `install`. The output of ended sessions stays until it expires. It is \
      refused while sessions run: they would continue, but no client could attach to them.

      EXAMPLES:
          bridgectl uninstall build.example
      """)

  @OptionGroup package var link: LinkArguments

  /// Creates the command with its defaults.
  package init() {}

  /// Ends the process with the exit code.
  package func run() async throws {
    await SessionQuery.run(over: link, finding: .absent, Self.uninstall)
  }

  @Sendable private static func uninstall(
    _ scope: SessionQuery.Scope
  ) async throws(AppError) -> RunContext.Ending {
    let (context, host) = (scope.context, scope.context.settings.givenHost)
    let running = try await running(scope)
    guard running.isEmpty else { throw .validationError(field: "HOST", message: obstacle(running)) }
    let installer = HostInstaller(scope.connection, host: host, unheard: scope.unheard)
    let removed = try await installer.uninstall()
    let shown = removed.map { PeerText.escaped($0) }.joined(separator: ", ")
    context.reporter.log(
      removed.isEmpty
        ? "bridgectl: bridge-host was not installed on \(context.host)."
        : "bridgectl: removed \(shown) from \(context.host).")
    return .success(.success)
  }

  /// What keeps these sessions from being left without bridge-host, and what to do.
  private static func obstacle(_ running: [SessionStatus]) -> String {
    let isOne = running.count == 1
    guard running.allSatisfy({ $0.memory == .end }) else {
      return """
        \(running.count) durable \(isOne ? "session runs" : "sessions run") there; end \
        \(isOne ? "it" : "them") first with `bridgectl kill`.
        """
    }
    return """
      The disk there is full, and \(Counted.text(running.count, "durable session")) ended without \
      space for \(isOne ? "its" : "their") output: make space, or remove \(isOne ? "it" : "them") \
      with `bridgectl prune HOST SESSION`.
      """
  }

  /// None where there is no `bridge-host` to ask.
  private static func running(
    _ scope: SessionQuery.Scope
  ) async throws(AppError) -> [SessionStatus] {
    do throws(AppError) {
      return try await scope.sessions.list().filter { $0.state == .running || $0.end == .orphaned }
    } catch {
      // Another program than bridge-host answers for each command: it is not run again.
      guard SessionFailure.isMendedByInstalling(error) else { throw error }
      return []
    }
  }
}
