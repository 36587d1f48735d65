import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation

/// One run of `bridge-bench ssh`.
struct SSHBench {
  private enum Mode {
    case exec(count: Int, concurrency: Int)
    case down(path: String)
    case up(bytes: Int)
    case idle(count: Int)
    case mixed(path: String)
    case oneShot(count: Int, program: String)

    init?(_ name: String, _ arguments: [String]) {
      let numbers = arguments.compactMap(Int.init)
      switch (name, arguments.count, numbers.count) {
      case ("exec", 2, 2) where numbers.allSatisfy({ $0 > 0 }):
        self = .exec(count: numbers[0], concurrency: numbers[1])
      case ("up", 1, 1) where numbers[0] >= 0: self = .up(bytes: numbers[0])
      case ("idle", 1, 1) where numbers[0] > 0: self = .idle(count: numbers[0])
      case ("down", 1, _): self = .down(path: arguments[0])
      case ("mixed", 1, _): self = .mixed(path: arguments[0])
      case ("oneshot", 2, _) where numbers.first ?? 0 > 0:
        self = .oneShot(count: numbers[0], program: arguments[1])
      default: return nil
      }
    }
  }

  private let port: Int
  private let keyFile: String
  private let mode: Mode
  private let cipher: String

  /// Nil when the arguments are not of the form in `BridgeBench.usage`.
  init?(arguments: [String]) {
    guard arguments.count >= 5, arguments[0] == "ssh", let port = Int(arguments[1]),
      let mode = Mode(arguments[3], Array(arguments.dropFirst(5)))
    else { return nil }
    self.port = port
    self.mode = mode
    keyFile = arguments[2]
    cipher = arguments[4]
  }

  func callAsFunction() async throws(AppError) {
    switch mode {
    case .exec(let count, let concurrency): try await exec(count, concurrency)
    case .down(let path): try await down(path)
    case .up(let bytes): try await up(bytes)
    case .idle(let count): try await idle(count)
    case .mixed(let path): try await mixed(path)
    case .oneShot(let count, let program):
      let oneShot = OneShot(program: program, port: port, keyFile: keyFile, count: count)
      try await oneShot(beside: one)
    }
  }

  private func dial(
    on reactor: Reactor = ReactorGroup.shared.next()
  ) async throws(AppError) -> SSHConnection {
    var algorithms = AlgorithmOffer.standard
    if cipher != "-" {
      algorithms = try algorithms.asking(for: [cipher], of: .cipherToServer)
      algorithms = try algorithms.asking(for: [cipher], of: .cipherToClient)
    }
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port),
      configuration: SSHConfiguration(
        user: "root", credentials: [.keyFile(keyFile)], hostKeys: .anyKey, algorithms: algorithms),
      on: reactor)
    try await connection.connect()
    return connection
  }

  /// Reads a stream to its end and says how many bytes came.
  private func drain(_ stream: ByteStream) async throws(AppError) -> Int {
    var count = 0
    for try await bytes in stream { count += bytes.count }
    return count
  }

  private func one() async throws(AppError) {
    let connection = try await dial()
    let command = try await connection.execute("true")
    command.standardError.discard()
    _ = try await drain(command.standardOutput)
    let status = try await command.exitStatus()
    await connection.close()
    guard status.isSuccess else {
      throw .sshCommandFailed(command: "true", exitCode: 1, stderr: nil)
    }
  }

  /// The milliseconds from the start of `watch` to the end of one connection.
  private func timed(from watch: Stopwatch) async -> Result<Double, AppError> {
    do throws(AppError) {
      try await one()
      return .success(watch.wall * 1000)
    } catch {
      return .failure(error)
    }
  }

  private func exec(_ count: Int, _ concurrency: Int) async throws(AppError) {
    let total = Stopwatch()
    var milliseconds: [Double] = []
    while milliseconds.count < count {
      milliseconds += try await batch(concurrency)
    }
    report(Sample(milliseconds).figures + total.figures)
  }

  /// So many at once; the time of each counts from the start of the batch.
  private func batch(_ size: Int) async throws(AppError) -> [Double] {
    let watch = Stopwatch()
    let results = await withTaskGroup(of: Result<Double, AppError>.self) { group in
      for _ in 0..<size {
        group.addTask { await timed(from: watch) }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var milliseconds: [Double] = []
    for result in results { milliseconds.append(try result.get()) }
    return milliseconds
  }

  private func down(_ path: String) async throws(AppError) {
    let watch = Stopwatch()
    let connection = try await dial()
    let bytes = try await download(path, over: connection)
    report(watch.figures(moving: bytes))
    await connection.close()
  }

  private func download(
    _ path: String, over connection: SSHConnection
  ) async throws(AppError) -> Int {
    let command = try await connection.execute("cat \(path)")
    command.standardError.discard()
    return try await drain(command.standardOutput)
  }

  private func up(_ bytes: Int) async throws(AppError) {
    let watch = Stopwatch()
    let connection = try await dial()
    let command = try await connection.execute("cat >/dev/null")
    command.standardError.discard()
    let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 18)
    var left = bytes
    while left > 0 {
      try await command.write(left < chunk.count ? Array(chunk[..<left]) : chunk)
      left -= chunk.count
    }
    try await command.finishInput()
    _ = try await drain(command.standardOutput)
    _ = try await command.exitStatus()
    report(watch.figures(moving: bytes))
    await connection.close()
  }

  private func idle(_ count: Int) async throws(AppError) {
    var sessions: [(SSHConnection, SSHChannel)] = []
    for _ in 0..<count {
      let connection = try await dial()
      sessions.append((connection, try await connection.execute("cat")))
    }
    print("READY")
    fflush(nil)
    _ = readLine()
    for (connection, _) in sessions { await connection.close() }
  }

  private func mixed(_ path: String) async throws(AppError) {
    let reactor = ReactorGroup.shared.next()
    let (busy, probed) = (try await dial(on: reactor), try await dial(on: reactor))
    let watch = Stopwatch()
    let finished = Flag()
    async let roundTrips = probe(probed, until: finished)
    let result: Result<Int, AppError>
    do throws(AppError) {
      result = .success(try await download(path, over: busy))
    } catch {
      result = .failure(error)
    }
    let moved = watch.figures(moving: (try? result.get()) ?? 0)
    await finished.raise()
    let sample = Sample(try await roundTrips.get())
    _ = try result.get()
    let tail = [("p99_ms", sample.quantile(0.99)), ("round_trips", Double(sample.count))]
    report(tail + sample.figures + moved)
    await busy.close()
    await probed.close()
  }

  /// One round trip after the other, in milliseconds.
  private func probe(
    _ connection: SSHConnection, until finished: Flag
  ) async -> Result<[Double], AppError> {
    var milliseconds: [Double] = []
    while await !finished.isRaised {
      do throws(AppError) {
        milliseconds.append(try await connection.probe(within: .seconds(10)) / .milliseconds(1))
      } catch {
        return .failure(error)
      }
    }
    return .success(milliseconds)
  }
}

/// Says across tasks that something is over.
private actor Flag {
  private(set) var isRaised = false

  func raise() { isRaised = true }
}
