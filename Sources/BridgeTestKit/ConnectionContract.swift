import BridgeErrors
public import BridgeTransport

/// The contract of the `Connection` protocol as a suite that every transport passes
/// (docs/writing-a-transport.md). It needs no clock of its own and no test framework: it returns
/// what did not hold.
public struct ConnectionContract: Sendable {
  /// Makes a connection that has not been opened.
  public typealias Maker = @Sendable () async throws -> any Connection

  /// A connection to a peer that answers.
  public var reachable: Maker
  /// A connection to an address where nothing listens.
  public var refused: Maker
  /// Makes the peer drop the connection that `reachable` made last.
  public var drop: @Sendable () async throws -> Void

  /// The contract for connections of these three kinds.
  public init(
    reachable: @escaping Maker, refused: @escaping Maker,
    drop: @escaping @Sendable () async throws -> Void
  ) {
    self.reachable = reachable
    self.refused = refused
    self.drop = drop
  }

  /// What does not hold, in words; empty for a transport that keeps the contract.
  public func violations() async throws -> [String] {
    var findings = Findings()
    try await life(&findings)
    try await closedBeforeItIsOpened(&findings)
    try await refusal(&findings)
    try await loss(&findings)
    try await timeouts(&findings)
    return findings.broken
  }

  private struct Findings {
    var broken: [String] = []

    mutating func expect(_ holds: Bool, _ rule: String) {
      if !holds { broken.append(rule) }
    }
  }

  /// Opened, used and closed.
  private func life(_ findings: inout Findings) async throws {
    let connection = try await reachable()
    findings.expect(await Self.failure(of: connection) == nil, "open() succeeds")
    findings.expect(await connection.lastFailure == nil, "nothing has ended an open connection")
    findings.expect(await connection.lastHeard != nil, "the handshake counts as heard")
    findings.expect(await !connection.traffic.isPaused, "an idle connection reads")
    let roundTrip = try? await connection.probe(within: .seconds(50))
    findings.expect(roundTrip.map { $0 > .zero } == true, "a probe takes time and is answered")
    findings.expect(await Self.failure(of: connection) != nil, "open() works once")
    await connection.close()
    await connection.close()
    findings.expect(
      (try? await connection.probe(within: .seconds(1))) == nil, "a closed connection fails")
    findings.expect(
      await connection.lastFailure == nil, "a connection that we close has no failure")
    let events = await Self.events(of: connection)
    let ending: [ConnectionEvent] = [.connected, .closed]
    findings.expect(
      events.filter { !$0.isPhase } == ending, "events: phases, connected, closed, each once")
    findings.expect(events.first?.isPhase == true, "the first event is a phase")
  }

  private func closedBeforeItIsOpened(_ findings: inout Findings) async throws {
    let connection = try await reachable()
    await connection.close()
    findings.expect(
      await Self.failure(of: connection) != nil, "a connection that was closed cannot be opened")
    findings.expect(await Self.events(of: connection) == [.closed], "its only event is closed")
  }

  private func refusal(_ findings: inout Findings) async throws {
    let connection = try await refused()
    let thrown = await Self.failure(of: connection)
    findings.expect(thrown?.kind == .refused, "a refused port is the failure kind refused")
    findings.expect(
      thrown?.context?.host == connection.endpoint.host
        && thrown?.context?.port == connection.endpoint.port, "a failure names host and port")
    findings.expect(
      await connection.lastFailure == thrown?.context, "lastFailure is the context of the failure")
    await connection.close()
    let ends = await Self.events(of: connection).filter { !$0.isPhase }
    findings.expect(
      ends == [.closed] || ends == [thrown.map { .failed($0) }, .closed].compactMap(\.self),
      "after a failed dial: failed as thrown, closed")
  }

  private func loss(_ findings: inout Findings) async throws {
    let connection = try await reachable()
    guard await Self.failure(of: connection) == nil else { return }
    try await drop()
    var failures: [ConnectionError] = []
    for await event in connection.events {
      guard case .failed(let failure) = event else { continue }
      failures.append(failure)
      break
    }
    findings.expect(
      await connection.lastFailure == failures.first?.context && failures.count == 1,
      "a loss is one event with the context of lastFailure")
    findings.expect(
      failures.first?.retryClass().isAutomatic == true, "a lost connection is tried again")
    await connection.close()
    for await event in connection.events {
      if case .failed = event { findings.expect(false, "a loss is reported once") }
    }
  }

  private func timeouts(_ findings: inout Findings) async throws {
    let connection = try await reachable()
    for phase in ConnectionPhase.allCases {
      let failure = connection.timeout(in: phase, after: .seconds(7))
      findings.expect(
        failure.context?.phase == phase && failure.context?.host == connection.endpoint.host,
        "a timeout in \(phase) names phase and host")
      findings.expect(failure.retryClass().isAutomatic, "a timeout in \(phase) is tried again")
    }
    let silence = connection.timeout(in: .stream, after: .seconds(7))
    findings.expect(silence.kind == .linkSilent, "silence in use is the failure kind linkSilent")
    await connection.close()
  }

  private static func failure(of connection: any Connection) async -> ConnectionError? {
    do throws(ConnectionError) {
      try await connection.open()
      return nil
    } catch {
      return error
    }
  }

  private static func events(of connection: any Connection) async -> [ConnectionEvent] {
    var events: [ConnectionEvent] = []
    for await event in connection.events { events.append(event) }
    return events
  }
}

extension ConnectionEvent {
  fileprivate var isPhase: Bool {
    if case .entered = self { true } else { false }
  }
}
