import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// Whether `scripts/integrity` asks for all rows.
let wantsAllRows = ProcessInfo.processInfo.environment["BRIDGE_INTEGRITY"] == "full"

/// What a command's caller may believe when the link ends, or a bit of it changes, at any byte:
/// success is all of the output and the status that the server sent, and everything else is a typed
/// error.
///
/// `scripts/test` runs some of the rows, `scripts/integrity` all of them.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct IntegrityTests {
  /// What a run came to.
  struct Run {
    var output = 0
    var streamError: AppError?
    var status: BridgeSSH.ExitStatus?
    var error: AppError?
    var context: FailureContext?
    /// A probe in the middle of it was not answered.
    var isSilent = false
  }

  @Test(arguments: [100_000, 3_000_000], [Portion.Ending.reset, .finish])
  func aLinkThatIsCutNearTheEndOfACommand(size: Int, by ending: Portion.Ending) async throws {
    try await withServer { server in
      let command = "head -c \(size) /dev/zero; exit 3"
      let total = try await Self.bytes(server, of: command)
      let step = wantsAllRows ? 1 : size < 1_000_000 ? 7 : 29
      await Self.inGroups(Swift.Array<Int>(stride(from: 0, to: 400, by: step))) { back in
        let proxy = try await FaultProxy(to: server.port)
        try await proxy.inject(.cut(after: total - back, by: ending))
        let run = await Self.run(command, proxy.port, trusting(server))
        Self.check(run, size: size, status: .status(3), "\(ending), \(back) bytes before the end")
        await proxy.stop()
      }
    }
  }

  /// Eight places, many times: whether it holds must not depend on how the bytes are portioned.
  @Test(arguments: [1, 40, 90, 150, 200, 260, 330, 399])
  func aLinkThatIsCutManyTimesAtOnePlace(back: Int) async throws {
    try await withServer { server in
      let command = "head -c 100000 /dev/zero; exit 3"
      let total = try await Self.bytes(server, of: command)
      await Self.inGroups(Array(0..<(wantsAllRows ? 50 : 4))) { _ in
        for ending in [Portion.Ending.reset, .finish] {
          let proxy = try await FaultProxy(to: server.port)
          try await proxy.inject(.cut(after: total - back, by: ending))
          let run = await Self.run(command, proxy.port, trusting(server))
          Self.check(run, size: 100_000, status: .status(3), "\(ending) \(back)")
          await proxy.stop()
        }
      }
    }
  }

  /// On the path, a chosen bit of AES-CTR's clear text can be flipped; only the MAC shows it.
  @Test func aBitThatIsFlippedNearTheEndOfACommand() async throws {
    try await flip { total in
      (0..<3_200).map { (total - 1 - $0 / 8, $0 % 8) }
    }
  }

  @Test func aBitThatIsFlippedAnywhereInASession() async throws {
    try await flip { total in
      stride(from: 0, to: total, by: 64).map { ($0, $0 / 64 % 8) }
    }
  }

  private func flip(_ places: (Int) -> [(Int, Int)]) async throws {
    let size = 100_000
    try await withServer { server in
      let command = "head -c \(size) /dev/zero; exit 3"
      let total = try await Self.bytes(server, of: command)
      let all = places(total)
      let rows = wantsAllRows ? all : stride(from: 0, to: all.count, by: 37).map { all[$0] }
      await Self.inGroups(rows) { (place, bit) in
        let proxy = try await FaultProxy(to: server.port)
        try await proxy.inject(.corrupt(at: place, bit: bit))
        var configuration = trusting(server)
        // A length that became a larger one is waited for.
        configuration.timeouts.handshake = .seconds(2)
        configuration.timeouts.authenticate = .seconds(2)
        configuration.timeouts.channel = .seconds(2)
        let run = await Self.run(command, proxy.port, configuration, isProbed: true)
        Self.check(run, size: size, status: .status(3), "bit \(bit) of byte \(place) of \(total)")
        await proxy.stop()
      }
    }
  }

  /// The server says all there is to say and disconnects, while the reader takes nothing.
  @Test(arguments: [true, false], [true, false])
  func aPoliteDisconnectBehindTheOutput(statusFirst: Bool, endsOutput: Bool) async throws {
    let portion = [UInt8](repeating: 7, count: 30_000)
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.startCommand()
      func status() throws {
        try client.say(98) {
          $0.uint32(number)
          $0.string("exit-status")
          $0.byte(0)
          $0.uint32(0)
        }
      }
      if statusFirst { try status() }
      for _ in 0..<20 {
        try client.say(94) {
          $0.uint32(number)
          $0.string(portion)
        }
      }
      if endsOutput { try client.say(96) { $0.uint32(number) } }
      if !statusFirst { try status() }
      try client.say(1) {
        $0.uint32(11)
        $0.string("bye")
        $0.string("")
      }
      try client.listenToTheEnd()
    }) { server in
      let configuration = SSHConfiguration(
        user: "somebody", credentials: [.password(Secret("x"))], hostKeys: .anyKey)
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
      try await connection.connect()
      let channel = try await connection.execute("all")
      // The reader starts when the connection is over.
      for await _ in connection.events {}
      let outcome = await failureOrStatus(of: channel)
      var output = 0
      var streamError: AppError?
      do throws(AppError) {
        for try await bytes in channel.standardOutput { output += bytes.count }
      } catch {
        streamError = error
      }
      #expect(output == 20 * portion.count)
      if endsOutput {
        #expect(outcome == .success(.status(0)))
        #expect(streamError == nil)
      } else {
        #expect(outcome == .failure(.sshOutcomeUnknown(command: "all")))
        #expect(streamError == .sshOutcomeUnknown(command: "all"))
        #expect(channel.failure?.detail == "exit status 0")
      }
      #expect(try await channel.reportedStatus() == .status(0) || !endsOutput)
      await connection.close()
    }
  }

  private func failureOrStatus(of channel: SSHChannel) async -> Result<
    BridgeSSH.ExitStatus, AppError
  > {
    do throws(AppError) {
      return .success(try await channel.exitStatus())
    } catch {
      return .failure(error)
    }
  }

  static func check(_ run: Run, size: Int, status: BridgeSSH.ExitStatus, _ what: String) {
    if let seen = run.status {
      #expect(seen == status, "\(what): another status")
      #expect(run.output == size, "\(what): success with \(run.output) of \(size) bytes")
      #expect(run.streamError == nil, "\(what): \(String(describing: run.streamError))")
      return
    }
    guard let error = run.error else {
      Issue.record("\(what): neither a status nor an error")
      return
    }
    // A length became a larger one than all that is still to come. Only a probe can tell, as
    // ServerAliveInterval does for ssh; which bytes are lengths is known to the server alone.
    if run.isSilent { return }
    let code = error.exitCode(in: run.context, endsSession: run.context == nil)
    let isBeforeKeys = [.banner, .keyExchange, .hostKey].contains(run.context?.phase)
    if [.unreachable, .outcomeUnknown, .protocolBroken].contains(code) { return }
    if code == .hostIdentity, isBeforeKeys { return }
    // Only where a length was hit; which bytes are lengths is known to the server alone.
    if code == .timedOut, run.output < size { return }
    Issue.record("\(what): exit code \(code.rawValue) for \(error)")
  }

  static func run(
    _ command: String, _ port: Int, _ configuration: SSHConfiguration, isProbed: Bool = false
  ) async -> Run {
    var run = Run()
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: port), configuration: configuration)
    let silence = Task {
      guard isProbed, (try? await ContinuousClock().sleep(for: .seconds(5))) != nil else {
        return false
      }
      let isSilent = (try? await connection.probe(within: .seconds(10))) == nil
      if isSilent { await connection.close() }
      return isSilent
    }
    do throws(AppError) {
      try await connection.connect()
      let channel = try await connection.execute(command)
      channel.standardError.discard()
      do throws(AppError) {
        for try await bytes in channel.standardOutput { run.output += bytes.count }
      } catch {
        run.streamError = error
      }
      run.status = try await channel.exitStatus()
    } catch {
      run.error = error
      run.context = await connection.lastFailure
    }
    silence.cancel()
    run.isSilent = await silence.value
    await connection.close()
    return run
  }

  static func bytes(
    _ server: SSHServer, of command: String, _ configuration: SSHConfiguration? = nil
  ) async throws -> Int {
    let proxy = try await FaultProxy(to: server.port)
    let run = await run(command, proxy.port, configuration ?? trusting(server))
    #expect(run.status == .status(3))
    let closed = try await proxy.first { if case .closed = $0.kind { true } else { false } }
    await proxy.stop()
    guard case .closed(_, let count) = closed.kind else { return 0 }
    return count
  }

  /// So many sessions at once.
  private static let workers = 4

  static func inGroups<Row: Sendable>(
    _ rows: [Row], _ body: @escaping @Sendable (Row) async throws -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<workers {
        group.addTask {
          for index in stride(from: worker, to: rows.count, by: workers) {
            do { try await body(rows[index]) } catch { Issue.record("\(error)") }
          }
        }
      }
    }
  }
}
