import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

/// Servers that are alive and take long: ssh waits for them.
@Suite(.timeLimit(.minutes(2))) struct LateAnswerTests {
  private func connection(
    to server: ScriptedSSHServer, _ timeouts: SSHTimeouts
  ) async throws -> SSHConnection {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: "user", credentials: [], hostKeys: .anyKey, timeouts: timeouts))
    try await connection.connect()
    return connection
  }

  @Test func aLoginHasTheTimeOfSshd() {
    #expect(SSHTimeouts().authenticate == .seconds(120))
  }

  /// sshd sets up the user's session behind the login and before it answers to the first open.
  @Test func theFirstChannelHasTheTimeOfTheLogin() async throws {
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(600))
      try client.confirmChannel(number)
      _ = try client.expect(98)
      try client.sendTogether([
        client.message(99, of: number), client.exitStatus(of: number),
        client.message(96, of: number), client.message(97, of: number),
      ])
      try client.listenToTheEnd()
    }) { server in
      var timeouts = SSHTimeouts()
      timeouts.channel = .milliseconds(100)
      // The start of the command has the short time, and an answer at once.
      let connection = try await connection(to: server, timeouts)
      let command = try await connection.execute("true")
      #expect(try await command.exitStatus() == .status(0))
      await connection.close()
    }
  }

  /// It answers probes for much longer than a request may be unanswered, and then the request.
  @Test func aCommandIsStartedAsLateAsALivingServerLikes() async throws {
    let isAsked = Latch()
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      isAsked.open()
      let begin = ContinuousClock.now
      while ContinuousClock.now - begin < .seconds(12) {
        var reader = WireReader(try client.receive())
        guard reader.byte() == 90, reader.string() != nil, let probe = reader.uint32() else {
          continue
        }
        try client.refuseChannel(probe, reason: 3, "")
      }
      try client.sendTogether([
        client.message(99, of: number), client.exitStatus(of: number),
        client.message(96, of: number), client.message(97, of: number),
      ])
      while true {
        var reader = WireReader(try client.receive())
        guard reader.byte() == 90, reader.string() != nil, let probe = reader.uint32() else {
          continue
        }
        try client.refuseChannel(probe, reason: 3, "")
      }
    }) { server in
      var timeouts = SSHTimeouts()
      timeouts.channel = .seconds(6)
      let connection = try await connection(to: server, timeouts)
      // A probe is an open too, and the first one is to be that of the command. On a thread of its
      // own: in a busy pool none would be made for seconds, and the server be silent.
      let probing = Task(executorPreference: ReactorGroup.shared.next()) {
        await isAsked.wait()
        while true {
          _ = try await connection.probe(within: .seconds(30))
          // Without a rest, the probes take a whole core from the tests beside this one.
          try await ContinuousClock().sleep(for: .milliseconds(100))
        }
      }
      let command = try await connection.execute("true")
      #expect(try await command.exitStatus() == .status(0))
      probing.cancel()
      _ = await probing.result
      await connection.close()
    }
  }

  /// One that says nothing at all is given up.
  @Test func aSilentServerIsGivenUp() async throws {
    try await withScript({ client, _ in
      try client.admit()
      try client.confirmChannel(client.openRequest())
      try client.listenToTheEnd()
    }) { server in
      var timeouts = SSHTimeouts()
      timeouts.channel = .milliseconds(200)
      let connection = try await connection(to: server, timeouts)
      let error = await failure { _ = try await connection.execute("true") }
      #expect(error == .sshOutcomeUnknown(command: "true") || error == .sshTimeout(seconds: 1))
      #expect(await connection.lastFailure?.kind == .silent)
      await connection.close()
    }
  }
}
