import BridgeErrors
import BridgeReactor
import BridgeWebSocket
import Foundation

/// One run of `bridge-bench ws`.
///
/// The task that measures prefers the connection's reactor, as one does that only relays; `pool`
/// after the arguments leaves it on the global pool, with a thread hop for each wake.
struct WebSocketBench {
  private enum Mode {
    case client(size: Int, count: Int, window: Int)
    case idle(count: Int)
    case among(idle: Int, count: Int)
    case beside(url: String)
    case autobahn(agent: String)

    init?(_ name: String, _ arguments: [String]) {
      let numbers = arguments.compactMap(Int.init)
      switch (name, arguments.count, numbers.count) {
      case ("client", 3, 3) where numbers[0] >= 0 && numbers[1] > 0 && numbers[2] > 0:
        self = .client(size: numbers[0], count: numbers[1], window: numbers[2])
      case ("idle", 1, 1) where numbers[0] > 0: self = .idle(count: numbers[0])
      case ("among", 2, 2) where numbers[0] > 0 && numbers[1] > 0:
        self = .among(idle: numbers[0], count: numbers[1])
      case ("beside", 1, _): self = .beside(url: arguments[0])
      case ("autobahn", 1, _): self = .autobahn(agent: arguments[0])
      default: return nil
      }
    }
  }

  private let port: Int
  private let mode: Mode
  private let isOnPool: Bool
  private let reactor: Reactor

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    isOnPool = arguments.last == "pool"
    let words = isOnPool ? Array(arguments.dropLast()) : arguments
    guard words.count >= 3, words[0] == "ws", let port = Int(words[2]),
      let mode = Mode(words[1], Array(words.dropFirst(3)))
    else { return nil }
    self.port = port
    self.mode = mode
    reactor = Reactor(name: "bench")
  }

  func callAsFunction() async throws(AppError) {
    guard !isOnPool else { return try await run() }
    try await withTaskExecutorPreference(reactor) { () async throws(AppError) in
      try await run()
    }
  }

  private func run() async throws(AppError) {
    switch mode {
    case .client(let size, let count, let window): try await client(size, count, window)
    case .idle(let count): try await idle(count)
    case .among(let idle, let count): try await among(idle, count)
    case .beside(let url): try await beside(url)
    case .autobahn(let agent): try await autobahn(agent)
    }
  }

  private func dial(_ target: String = "/") async throws(AppError) -> WebSocketConnection {
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(port)\(target)")
    let connection = WebSocketConnection(to: url, on: reactor)
    try await connection.connect()
    return connection
  }

  /// `window` messages in flight against an echo server, until `count` came back.
  private func client(_ size: Int, _ count: Int, _ window: Int) async throws(AppError) {
    let connection = try await dial()
    let payload = [UInt8](repeating: 0x61, count: size)
    let watch = Stopwatch()
    var sent = 0
    var received = 0
    while sent < min(window, count) {
      try await connection.send(binary: payload)
      sent += 1
    }
    for try await _ in connection.messages {
      received += 1
      if received == count { break }
      guard sent < count else { continue }
      try await connection.send(binary: payload)
      sent += 1
    }
    let wall = watch.wall
    report([
      ("msgs", Double(received)), ("wall", wall), ("per_s", Double(received) / wall),
      ("MBps", Double(received * size) / wall / 1e6), ("cpu", watch.processor),
    ])
    await connection.close()
  }

  /// Connections that do nothing until standard input ends.
  private func idle(_ count: Int) async throws(AppError) {
    var connections: [WebSocketConnection] = []
    for _ in 0..<count { connections.append(try await dial()) }
    print("READY")
    fflush(nil)
    _ = readLine()
    exit(0)
  }

  /// Echoes one by one on one connection, among others that do nothing.
  private func among(_ idle: Int, _ count: Int) async throws(AppError) {
    var connections: [WebSocketConnection] = []
    for _ in 0..<idle { connections.append(try await dial()) }
    let active = try await dial()
    let echoes = active.messages.makeAsyncIterator()
    let watch = Stopwatch()
    for _ in 0..<count {
      try await active.send(text: "ping")
      _ = try await echoes.next()
    }
    report([
      ("idle", Double(idle)), ("wall_us", watch.wall / Double(count) * 1e6),
      ("cpu_us", watch.processor / Double(count) * 1e6),
    ])
    exit(0)
  }

  private enum Beside: Sendable {
    case dialed(seconds: Double, outcome: String)
    case echoed(count: Int, longest: Double)
  }

  /// Echoes one by one, while a dial to `url` goes on on the same reactor: the longest echo is what
  /// the dial takes from others.
  private func beside(_ url: String) async throws(AppError) {
    let other = WebSocketConnection(to: try WebSocketEndpoint(url), on: reactor)
    let active = try await dial()
    await withTaskGroup(of: Beside.self) { group in
      group.addTask { await dial(other) }
      group.addTask { await echoes(on: active) }
      for await part in group {
        switch part {
        case .dialed(let seconds, let outcome):
          report([("dial_ms", seconds * 1e3)])
          print(outcome)
          group.cancelAll()
        case .echoed(let count, let longest):
          report([("echoes", Double(count)), ("longest_ms", longest * 1e3)])
        }
      }
    }
    await other.close()
    await active.close()
  }

  private func dial(_ connection: WebSocketConnection) async -> Beside {
    let watch = Stopwatch()
    do throws(AppError) {
      try await connection.connect()
      return .dialed(seconds: watch.wall, outcome: "connected")
    } catch {
      return .dialed(seconds: watch.wall, outcome: error.caseName)
    }
  }

  /// Until canceled.
  private func echoes(on connection: WebSocketConnection) async -> Beside {
    let echoes = connection.messages.makeAsyncIterator()
    var (count, longest) = (0, 0.0)
    while !Task.isCancelled {
      let watch = Stopwatch()
      guard (try? await connection.send(text: "ping")) != nil,
        (try? await echoes.next()) != nil
      else { break }
      count += 1
      longest = max(longest, watch.wall)
    }
    return .echoed(count: count, longest: longest)
  }

  private func echo(on connection: WebSocketConnection) async throws(AppError) {
    for try await message in connection.messages { try await connection.send(message) }
  }

  /// Every case of a fuzzing server: what comes is echoed, however it ends.
  private func autobahn(_ agent: String) async throws(AppError) {
    var cases = 0
    let counter = try await dial("/getCaseCount")
    if case .text(let text) = try await counter.messages.makeAsyncIterator().next() {
      cases = Int(text) ?? 0
    }
    await counter.close()
    for number in 1...max(1, cases) {
      guard let connection = try? await dial("/runCase?case=\(number)&agent=\(agent)") else {
        continue
      }
      try? await echo(on: connection)
      await connection.close()
    }
    try await dial("/updateReports?agent=\(agent)").close()
    report([("cases", Double(cases))])
  }
}
