import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// How a failed connection is to look from outside.
struct ExpectedFailure: Sendable {
  var kind: FailureKind
  var phase: ConnectionPhase
  var exit: ExitCode

  init(_ kind: FailureKind, in phase: ConnectionPhase, exit: ExitCode) {
    self.kind = kind
    self.phase = phase
    self.exit = exit
  }
}

/// Connects, expects it to fail as `expected` says, and that nothing is left of it.
@discardableResult
func expectFailure(
  of connection: SSHConnection, _ expected: ExpectedFailure,
  sourceLocation: SourceLocation = #_sourceLocation
) async -> AppError {
  let error = await failure { try await connection.connect() }
  return await check(connection, error, expected, sourceLocation)
}

/// As that, of a stranger to `port`. Banner and key exchange share a deadline: on a slow machine it
/// may pass before the version is read, and there is twice the time then.
@discardableResult
func expectFailure(
  ofStrangerTo port: Int, _ timeouts: SSHTimeouts, on reactor: Reactor = ReactorGroup.shared.next(),
  _ expected: ExpectedFailure, sourceLocation: SourceLocation = #_sourceLocation
) async -> AppError {
  var timeouts = timeouts
  while true {
    let connection = stranger(to: port, timeouts, on: reactor)
    let error = await failure { try await connection.connect() }
    let context = await connection.lastFailure
    let isTooEarly = context?.kind == .silent && context?.phase == .banner
    guard isTooEarly, expected.phase == .keyExchange, timeouts.handshake < .seconds(30) else {
      return await check(connection, error, expected, sourceLocation)
    }
    await connection.close()
    timeouts.handshake *= 2
  }
}

private func check(
  _ connection: SSHConnection, _ error: AppError?, _ expected: ExpectedFailure,
  _ sourceLocation: SourceLocation
) async -> AppError {
  guard let error else {
    Issue.record("It connected.", sourceLocation: sourceLocation)
    await connection.close()
    return .unknown(message: "It connected.")
  }
  let context = await connection.lastFailure
  #expect(context?.kind == expected.kind, "\(error)", sourceLocation: sourceLocation)
  #expect(context?.phase == expected.phase, sourceLocation: sourceLocation)
  #expect(error.exitCode(in: context) == expected.exit, sourceLocation: sourceLocation)
  await expectGone(connection, after: error, sourceLocation: sourceLocation)
  return error
}

/// Nothing is open any more, the events tell the end once, and nothing can be asked of it.
func expectGone(
  _ connection: SSHConnection, after error: AppError,
  sourceLocation: SourceLocation = #_sourceLocation
) async {
  await connection.close()
  var ends: [AppError] = []
  for await event in connection.events {
    if case .failed(let failure) = event { ends.append(failure.error) }
  }
  #expect(ends == [error], sourceLocation: sourceLocation)
  #expect(
    OpenSockets.to(port: connection.endpoint.port).isEmpty, sourceLocation: sourceLocation)
  await #expect(throws: AppError.self, sourceLocation: sourceLocation) {
    try await connection.connect()
  }
}

/// A connection to whatever listens on `port` of loopback, with nothing to prove who we are.
func stranger(
  to port: Int, host: String = "127.0.0.1", _ timeouts: SSHTimeouts = SSHTimeouts(),
  on reactor: Reactor = ReactorGroup.shared.next()
) -> SSHConnection {
  SSHConnection(
    to: Endpoint(host: host, port: port),
    configuration: SSHConfiguration(user: "nobody", hostKeys: .anyKey, timeouts: timeouts),
    on: reactor)
}

extension SSHTimeouts {
  /// For rows where the deadline is what ends it.
  static var short: SSHTimeouts {
    var timeouts = SSHTimeouts()
    timeouts.handshake = .seconds(1)
    timeouts.authenticate = .milliseconds(200)
    timeouts.channel = .milliseconds(200)
    return timeouts
  }

  /// As `short`, with time for the version to arrive on a busy machine: banner and key exchange
  /// share one deadline.
  static var throughBanner: SSHTimeouts {
    var timeouts = short
    timeouts.handshake = .seconds(2)
    return timeouts
  }
}

/// What `body` failed with; nil when it did not. Anything but an `AppError` is an issue.
func failure(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> AppError? {
  do {
    try await body()
    return nil
  } catch let error as AppError {
    return error
  } catch {
    Issue.record("\(error)", sourceLocation: sourceLocation)
    return nil
  }
}
