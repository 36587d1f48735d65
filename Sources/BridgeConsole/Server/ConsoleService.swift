public import Logging
public import ServiceLifecycle
import BridgeErrors
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import NIOCore

/// Serves a `Console` until a graceful shutdown or a cancellation.
///
/// A group shuts the last of its services down first: this one stands first, so that the page also
/// shows how the others shut down.
public struct ConsoleService: Service {
  private let console: Console
  private let logger: Logger
  private let clock: any Clock<Duration>
  private let serving: @Sendable (Console) -> Void

  /// A service of `console`.
  ///
  /// - Parameters:
  ///   - logger: where the server logs what goes wrong.
  ///   - clock: the time for signs of life and measurements.
  ///   - serving: called once the page is served and its port is known.
  public init(
    _ console: Console, logger: Logger = Logger(label: "BridgeConsole"),
    clock: any Clock<Duration> = ContinuousClock(),
    serving: @escaping @Sendable (Console) -> Void = { _ in }
  ) {
    self.console = console
    self.logger = logger
    self.clock = clock
    self.serving = serving
  }

  /// Runs until a graceful shutdown or a cancellation.
  ///
  /// - Throws: `validationError` for a certificate that cannot be used, and for a port that cannot
  ///   be listened on; `CancellationError`.
  public func run() async throws {
    let application = try application()
    try await withThrowingTaskGroup { group in
      group.addTask { [console, clock] in await console.follow(clock) }
      group.addTask { [console, clock] in
        while (try? await clock.sleep(for: .seconds(10))) != nil { console.board.beat() }
      }
      try await withGracefulShutdownHandler {
        do {
          try await application.run()
        } catch let error as IOError {
          throw refusal(error)
        }
      } onGracefulShutdown: { [console] in
        // A server waits for its requests, and a stream is one.
        console.board.end()
      }
      group.cancelAll()
    }
    try Task.checkCancellation()
  }

  private func refusal(_ error: IOError) -> AppError {
    let reason =
      switch POSIXErrorCode(rawValue: error.errnoCode) {
      case .EADDRINUSE: "another program listens there"
      case .EACCES, .EPERM: "this user may not listen there"
      case .EADDRNOTAVAIL: "this machine has no such address"
      case _: "errno \(error.errnoCode)"
      }
    let configuration = console.configuration
    return .validationError(
      field: "port",
      message: "The page cannot be served on \(configuration.address) port "
        + "\(configuration.port): \(reason).")
  }

  private func application() throws(AppError) -> some ApplicationProtocol {
    let configuration = console.configuration
    let (console, serving) = (console, serving)
    var quiet = logger
    quiet.logLevel = max(quiet.logLevel, .warning)
    return Application(
      responder: ConsoleRoutes(console: console).responder(), server: try server(),
      configuration: ApplicationConfiguration(
        address: .hostname(configuration.address, port: configuration.port),
        backlog: configuration.limits.connections,
        availableConnectionsDelegate: MaximumAvailableConnections(
          configuration.limits.connections)),
      onServerRunning: { channel in
        console.serve(on: channel.localAddress?.port ?? configuration.port)
        serving(console)
      },
      logger: quiet)
  }

  private func server() throws(AppError) -> HTTPServerBuilder {
    let limits = console.configuration.limits
    let plain = HTTPServerBuilder.http1(
      configuration: HTTP1Channel.Configuration(
        additionalChannelHandlers: [UnreadLimit(limits.unread)], idleTimeout: .seconds(30),
        httpDecoderConfiguration: .init(
          maxHeaderFieldSize: limits.headers, maxHeaderListSize: limits.headers,
          maxHeaderFieldCount: 100)))
    guard let files = console.configuration.tls else { return plain }
    do {
      let certificates = try NIOSSLCertificate.fromPEMFile(files.certificates)
      let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
      return try .tls(
        plain,
        tlsConfiguration: .makeServerConfiguration(
          certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
    } catch {
      throw .validationError(field: "tls", message: "The certificate cannot be used: \(error)")
    }
  }
}
