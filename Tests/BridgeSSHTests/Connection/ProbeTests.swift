import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// Round trips that are answered late, kindly, or with something behind the answer.
@Suite(.timeLimit(.minutes(5))) struct ProbeTests {
  private static func connected(to server: ScriptedSSHServer) async throws -> SSHConnection {
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(user: "somebody", hostKeys: .anyKey))
    try await connection.connect()
    return connection
  }

  /// libssh2 gives up an open after a minute of the system's clock.
  @Test func anAnswerThatComesAfterAMinuteIsTheAnswer() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let gate = DispatchSemaphore(value: 0)
      try await withScript({ client, _ in
        try client.admit()
        let first = try client.openRequest()
        gate.wait()
        try client.refuseChannel(first, reason: 3, "")
        while true { try client.refuseChannel(client.openRequest(), reason: 3, "") }
      }) { server in
        let connection = try await ProbeTests.connected(to: server)
        for seconds in [0, 61] {
          #expect(SystemTime.jump(seconds: seconds))
          let error = await failure { _ = try await connection.probe(within: .milliseconds(50)) }
          #expect(error == .sshTimeout(seconds: 1))
        }
        gate.signal()
        for _ in 0..<4 { _ = try await connection.probe(within: .seconds(10)) }
        #expect(await connection.lastFailure == nil)
        await connection.close()
      }
    }
  }

  /// The server's kernel lets go of the answer when something comes from here (Nagle).
  @Test func theAnswerToTheFirstProbeIsPrompted() async throws {
    try await withScript({ client, _ in
      try client.admit()
      let first = try client.openRequest()
      // SSH_MSG_IGNORE: bytes, and not the answer.
      try client.say(2) { $0.string("") }
      _ = try client.expect(80)
      try client.refuseChannel(first, reason: 3, "")
      try client.listenToTheEnd()
    }) { server in
      let connection = try await Self.connected(to: server)
      _ = try await connection.probe(within: .seconds(20))
      await connection.close()
    }
  }

  /// Then the library's state is of no use: the next answer would be taken for another request's.
  @Test func aRoundTripThatTheLibraryGivesUpEndsTheConnection() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let gate = DispatchSemaphore(value: 0)
      try await withScript({ client, record in
        try client.admit()
        _ = try client.openRequest()
        record("open")
        gate.wait()
        // SSH_MSG_IGNORE: bytes, and not the answer.
        try client.say(2) { $0.string("") }
        while true {
          _ = try client.openRequest()
          record("open")
        }
      }) { server in
        let connection = try await ProbeTests.connected(to: server)
        for seconds in [0, 61] {
          #expect(SystemTime.jump(seconds: seconds))
          _ = await failure { _ = try await connection.probe(within: .milliseconds(50)) }
        }
        gate.signal()
        _ = await failure { _ = try await connection.probe(within: .seconds(30)) }
        #expect(await connection.lastFailure?.kind == .linkSilent)
        #expect(server.collected == ["open"])
        await connection.close()
      }
    }
  }

  /// A slow way may take so long for what waits before it that libssh2 would give an open up.
  @Test func aProbeBehindMuchThatIsNotSentIsAGlobalRequest() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await withScript({ client, record in
      try client.admit()
      let number = try client.openRequest()
      try client.say(91) { for field in [number, number, 1 << 26, 32_768] { $0.uint32(field) } }
      _ = try client.expect(98)
      try client.say(99) { $0.uint32(number) }
      gate.wait()
      while true {
        let packet = try client.receive()
        switch packet.first {
        case 80:
          record("global request")
          try client.say(82)
        case 90:
          record("open")
          var reader = WireReader(Array(packet.dropFirst()))
          guard reader.string() != nil, let number = reader.uint32() else { continue }
          try client.refuseChannel(number, reason: 3, "")
        case _: break
        }
      }
    }) { server in
      let connection = try await Self.connected(to: server)
      let command = try await connection.execute("cat >/dev/null")
      let writing = Task { try await command.write([UInt8](repeating: 1, count: 1 << 26)) }
      // The socket takes no more: the server reads nothing.
      try await eventually { await connection.unsentBytes > 0 }
      let error = await failure { _ = try await connection.probe(within: .milliseconds(50)) }
      #expect(error == .sshTimeout(seconds: 1))
      gate.signal()
      try await writing.value
      #expect(server.collected == ["global request"])
      while server.collected.last != "open" { _ = try await connection.probe(within: .seconds(10)) }
      await connection.close()
    }
  }

  @Test func aServerThatAcceptsTheProbeHasAnsweredIt() async throws {
    try await withScript({ client, record in
      try client.admit()
      try client.confirmEveryChannel(record)
    }) { server in
      let connection = try await Self.connected(to: server)
      for _ in 0..<3 { _ = try await connection.probe(within: .seconds(10)) }
      #expect(await connection.lastFailure == nil)
      await connection.close()
      #expect(server.collected.count { $0 == "open" } == 3)
      #expect(server.collected.contains("close"))
    }
  }

  @Test func aServerThatNeverClosesWhatItAcceptedIsGivenUp() async throws {
    try await withScript({ client, record in
      try client.admit()
      try client.confirmEveryChannel(record, closes: false)
    }) { server in
      let connection = try await Self.connected(to: server)
      var probes = 0
      var error: AppError?
      while error == nil, probes < 1000 {
        error = await failure { _ = try await connection.probe(within: .seconds(10)) }
        probes += 1
      }
      #expect(probes < 100)
      #expect(await connection.lastFailure?.kind == .corrupted)
      await connection.close()
    }
  }

  /// The answer and the server's own question come in one segment; nothing else is asked after it.
  @Test func whatComesBehindAnAnswerIsLookedAtTheSameMoment() async throws {
    try await withScript({ client, record in
      try client.admit()
      try client.sendTogether([
        client.refusal(ofChannel: client.openRequest(), reason: 3),
        client.message(80) {
          $0.string("keepalive@openssh.com")
          $0.byte(1)
        },
      ])
      while true {
        let message = try client.receive()
        // SSH_MSG_REQUEST_FAILURE
        if message.first == 82 { record("answered") }
        var reader = WireReader(Array(message.dropFirst()))
        guard message.first == 90, reader.string() != nil, let number = reader.uint32() else {
          continue
        }
        try client.refuseChannel(number, reason: 3, "")
      }
    }) { server in
      let connection = try await Self.connected(to: server)
      _ = try await connection.probe(within: .seconds(10))
      try await eventually { server.collected.contains("answered") }
      await connection.close()
    }
  }

  /// Two channels must not have the same number: one would never receive its own end.
  @Test func aLongConfirmationDoesNotHideItsNumber() async throws {
    try await withScript({ client, _ in
      try client.admit()
      var last: UInt32 = 0
      for tail in [0, 5000] {
        last = try client.openRequest()
        try client.say(91) {
          for field in [last, last, 1 << 20, 32_768] { $0.uint32(field) }
          for _ in 0..<tail { $0.byte(0) }
        }
        _ = try client.expect(98)
        try client.say(99) { $0.uint32(last) }
      }
      try client.say(98) {
        $0.uint32(last)
        $0.string("exit-status")
        $0.byte(0)
        $0.uint32(7)
      }
      try client.say(96) { $0.uint32(last) }
      try client.listenToTheEnd()
    }) { server in
      let connection = try await Self.connected(to: server)
      let first = try await connection.execute("true")
      let second = try await connection.execute("true")
      #expect(try await second.exitStatus() == .status(7))
      #expect(first.knownStatus == nil)
      await connection.close()
    }
  }
}
