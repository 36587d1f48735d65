import BridgeAgentHost
import BridgeConsole
import BridgeErrors
import BridgeReactor
import BridgeStoreSQLite
import BridgeSupervision
import BridgeWebSocket
import Foundation

/// One run of `bridge-bench console`: what the page of an agent host costs while nothing happens.
/// `Benchmarks/Console/idle.py` has the peers and the browsers, in another process.
struct ConsoleBench {
  private let port: Int
  private let count: Int
  private let time: Duration

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count == 4, arguments[0] == "console" else { return nil }
    let numbers = arguments[1...].compactMap(Int.init)
    guard numbers.count == 3, numbers.allSatisfy({ $0 > 0 }) else { return nil }
    (port, count, time) = (numbers[0], numbers[1], .seconds(numbers[2]))
  }

  func callAsFunction() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "bridge-bench-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let reactor = ReactorGroup.shared.next()
    let supervisor = Supervisor(clock: ContinuousClock(), seed: 1, executor: reactor)
    let store = try await SQLiteStore(at: folder.appending(path: "state.db").path)
    let host = AgentHost("bench", sharing: store)
    let token = ConsoleToken(name: "bench", access: .write)
    let console = try Console(
      ConsoleConfiguration(tokens: [token]), of: host, keptIn: store)
    console.show(supervisor)
    let serving = Task {
      try await ConsoleService(console) { console in
        print("PAGE \(console.address(for: token) ?? "")")
        fflush(nil)
      }.run()
    }
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(port)/")
    var links: [Link<WebSocketConnection>] = []
    for number in 0..<count {
      links.append(
        try await supervisor.add(ConnectionID("link \(number)"), to: url.endpoint) { _ in
          WebSocketConnection(to: url, on: reactor)
        })
    }
    for link in links { _ = try await link.connection }
    // The browsers are there, and what follows a connection is over.
    print("READY")
    fflush(nil)
    _ = readLine()
    let watch = Stopwatch()
    try await Task.sleep(for: time)
    let (wall, processor) = watch.stopped
    report([
      ("links", Double(count)), ("wall", wall), ("cpu", processor),
      ("core_percent", processor / wall * 100),
    ])
    fflush(nil)
    _ = readLine()
    serving.cancel()
    _ = await serving.result
    await supervisor.shutDown()
    await store.close()
  }
}
