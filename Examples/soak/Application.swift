import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWebSocket

/// What the applications on the links do: some of them are slow.
struct Application: Sendable {
  let link: SoakLink
  let recorder: Recorder

  /// What a WebSocket holds of messages that are not taken.
  static let receiveBuffer = 64 << 10
  /// Three times that, so that it has to stop reading.
  private static let messages = 24
  private static let message = String(repeating: "m", count: 8 << 10)
  /// More than the window of an SSH channel.
  private static let output = 4 << 20
  /// Longer than a silent peer is given.
  private static let slowness = Duration.seconds(4)

  /// Uses one generation until it ends: a first answer, and then every third time so much that a
  /// slow reader is in the way.
  func use(_ connection: any Connection, _ generation: Int) async {
    do throws(AppError) {
      try await connection.roundTrip()
      await recorder.resumed(link.id, generation)
      if generation % 3 == 1 { try await readSlowly(connection) }
    } catch {
      await recorder.saw(error, on: link.id)
    }
  }

  private func readSlowly(_ connection: any Connection) async throws(AppError) {
    if let socket = connection as? WebSocketConnection {
      try await readSlowly(socket)
    } else if let ssh = connection as? SSHConnection {
      try await readSlowly(ssh)
    }
    await recorder.wasSlow()
  }

  private func readSlowly(_ socket: WebSocketConnection) async throws(AppError) {
    for _ in 0..<Self.messages { try await socket.send(text: Self.message) }
    await rest(Self.slowness)
    var left = Self.messages
    // Their number, not their bytes: a corrupted one is nothing that a WebSocket notices.
    for try await _ in socket.messages {
      left -= 1
      if left == 0 { return }
    }
    throw .webSocketDisconnected(code: nil, reason: nil)
  }

  private func readSlowly(_ ssh: SSHConnection) async throws(AppError) {
    let channel = try await ssh.execute("head -c \(Self.output) /dev/zero")
    channel.standardError.discard()
    await rest(Self.slowness)
    var count = 0
    for try await bytes in channel.standardOutput { count += bytes.count }
    let status = try await channel.exitStatus()
    guard status.isSuccess, count == Self.output else {
      throw .internalError(detail: "status \(status) and \(count) of \(Self.output) bytes")
    }
  }
}

/// Operations that are run again when a link is lost under them.
struct Operations: Sendable {
  let fleet: SoakFleet
  let recorder: Recorder
  let supervisor: Supervisor<ContinuousClock>

  /// What came of them.
  struct Count: Codable, Sendable {
    /// How often one was run, again or not.
    var attempts = 0
    var done = 0
    /// Those that failed for good.
    var failed = 0
  }

  private static let pace = Duration.milliseconds(200)
  private static let graceTime = Duration.seconds(5)

  /// Runs one after another over all links until the task is canceled.
  func run() async {
    var turn = 0
    while !Task.isCancelled {
      await work(on: fleet.links[turn % fleet.links.count])
      turn += 1
      await rest(Self.pace)
    }
  }

  private func work(on link: SoakLink) async {
    do {
      try await supervisor.run(source: "operation on \(link.id)", .idempotent) {
        [recorder, supervisor] in
        await recorder.operationBegan()
        let connection = try await supervisor.connection(link.id)
        _ = try await connection.probe(within: Self.graceTime)
      }
      await recorder.operationEnded(nil)
    } catch is CancellationError {
      // The soak is over, or the link was closed.
    } catch let error as AppError {
      await recorder.operationEnded(error)
    } catch {
      await recorder.breaks("an operation on \(link.id) failed without a type: \(error)")
    }
  }
}

/// Stands in for the person at the screen: takes one of the options that an error offers.
struct StandIn: Sendable {
  let supervisor: Supervisor<ContinuousClock>
  let recorder: Recorder

  /// What a link waits for is chosen from what its error offers; without an entry it is reconnected
  /// as from a list of links.
  func mend(_ link: SoakLink) async {
    await recorder.personChose(link.id)
    let entries = await [supervisor.shown].compactMap(\.self) + supervisor.waiting
    let entry = entries.first { $0.source == link.id.description }
    let offered = entry?.plan?.options ?? []
    let wanted: [ErrorRecoveryOption.Kind] = [.reconnect, .retry, .checkSettings]
    guard let entry, let option = wanted.first(where: offered.contains) else {
      return await supervisor.reconnectNow(link.id)
    }
    await recorder.chose(option)
    await supervisor.choose(option, for: entry.id)
  }
}
