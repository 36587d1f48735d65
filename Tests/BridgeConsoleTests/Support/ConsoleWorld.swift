import BridgeAgentHost
import BridgeErrors
import BridgeStoreSQLite
import BridgeSupervision
import BridgeTestKit
import BridgeWaiting
import Foundation
import ServiceLifecycle
import Testing

@testable import BridgeConsole

/// A host whose page is served, and a scripted link.
final class ConsoleWorld: Sendable {
  let writer: ConsoleToken
  let viewer: ConsoleToken
  let console: Console
  let host: AgentHost
  let store: SQLiteStore
  let clock = ManualClock()
  let supervisor: Supervisor<ManualClock>
  let peer: ScriptedHost
  let folder: URL
  private let running: Task<Void, any Error>

  init(
    _ limits: ConsoleLimits = ConsoleLimits(), tls: Bool = false,
    change: @Sendable (inout ConsoleConfiguration) -> Void = { _ in },
    onOption: Supervisor<ManualClock>.OptionHandler? = nil,
    instant: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
    showing show: (Console) -> Void = { _ in }
  ) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "bridge-console-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    writer = ConsoleToken(name: "ada", access: .write)
    viewer = ConsoleToken(name: "eve", access: .view)
    store = try await SQLiteStore(at: folder.appending(path: "state.db").path)
    host = AgentHost("a-host", sharing: store)
    supervisor = Supervisor(clock: clock, seed: 1, onOption: onOption)
    peer = ScriptedHost(clock: clock, latency: .zero)
    var configuration = ConsoleConfiguration(tokens: [writer, viewer], limits: limits)
    if tls { configuration.tls = try await Self.certificate(in: folder) }
    change(&configuration)
    console = try Console(configuration, of: host, keptIn: store, instant: instant)
    console.show(supervisor)
    show(console)
    let (console, isServing) = (console, Latch())
    running = Task {
      try await ConsoleService(console) { _ in isServing.open() }.run()
    }
    await isServing.wait()
  }

  /// Ends the page and the host.
  func stop() async {
    running.cancel()
    _ = await running.result
    await supervisor.shutDown()
    await store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func certificate(in folder: URL) async throws -> ConsoleConfiguration.TLS {
    let (key, certificate) = ("\(folder.path)/key.pem", "\(folder.path)/cert.pem")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
      "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
      "subjectAltName=DNS:localhost,IP:127.0.0.1",
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return ConsoleConfiguration.TLS(certificates: certificate, key: key)
  }

  // MARK: Requests

  var origin: String {
    let scheme = console.configuration.tls == nil ? "http" : "https"
    return "\(scheme)://localhost:\(console.port ?? 0)"
  }

  private var options: [String] {
    console.configuration.tls.map { ["--cacert", $0.certificates] } ?? []
  }

  func get(_ path: String, _ fields: [String] = []) async throws -> Reply {
    try await Curl.call(options + fields.flatMap { ["-H", $0] } + [origin + path])
  }

  /// Posts as the page does, but for the fields that are given.
  func post(
    _ path: String, _ body: String, _ fields: [String] = [], from origin: String? = nil
  ) async throws -> Reply {
    let fields = ["Content-Type: application/json", "Origin: \(origin ?? self.origin)"] + fields
    return try await Curl.call(
      options + ["-X", "POST"] + fields.flatMap { ["-H", $0] } + [self.origin + path], body: body)
  }

  /// A stream of events.
  func stream(
    _ fields: [String], _ options: [String] = [], at path: String = "/api/events"
  ) throws -> CurlRun {
    try CurlRun(
      ["--silent", "-N"] + options + fields.flatMap { ["-H", $0] } + [origin + path])
  }

  static func text(_ token: ConsoleToken) -> String {
    token.secret.reveal { String(decoding: $0, as: UTF8.self) }
  }

  func bearer(_ token: ConsoleToken) -> String { "Authorization: Bearer \(Self.text(token))" }

  /// Logs in as the page does; returns the field of the cookie.
  func logIn(_ token: ConsoleToken) async throws -> String {
    let reply = try await post("/login", #"{"token":"\#(Self.text(token))"}"#)
    let cookie = try #require(reply.headers["set-cookie"]?.split(separator: ";").first)
    return "Cookie: \(cookie)"
  }

  func state(_ cookie: String) async throws -> ConsoleState {
    try await get("/api/state", [cookie]).value()
  }

  // MARK: The link

  func addLink(_ name: String = "chat") async throws {
    let id = ConnectionID(name)
    try await supervisor.add(id, to: peer.endpoint, LinkOptions(liveness: nil)) { [peer] in
      peer.connection(id, $1, teardown: .zero)
    }
  }

  func moving(until condition: () async throws -> Bool) async throws {
    try await eventually {
      if try await condition() { return true }
      clock.advance(by: .milliseconds(20))
      return false
    }
  }

  /// What the page shows.
  var state: ConsoleState {
    console.board.snapshot(for: Visitor(name: "test", access: .view), at: Date())
  }

  func link(_ name: String = "chat") -> ConsoleState.Link? {
    state.links.first { $0.name == name }
  }
}

/// Runs a test in a world, which it stops.
func withWorld(
  _ world: ConsoleWorld, _ body: (ConsoleWorld) async throws -> Void
) async throws {
  let result: Result<Void, any Error>
  do { result = .success(try await body(world)) } catch { result = .failure(error) }
  await world.stop()
  try result.get()
}
