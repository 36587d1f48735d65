import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// Output whose end comes at a bad moment: while the server renews its keys, or before the command
/// counts as started.
@Suite(.timeLimit(.minutes(2))) struct OutputEndTests {
  /// Of output that is more than a mailbox, within the window, and more than can be read without
  /// opening it.
  private static let size = 1_500_000
  private static let chunk = [UInt8](repeating: 7, count: 30_000)
  /// How much one read takes (`Reactor.scratch`).
  private static let read: UInt32 = 128 << 10

  private func withConnection(
    on reactor: Reactor = ReactorGroup.shared.next(), _ script: @escaping ScriptedSSHServer.Script,
    _ body: (SSHConnection, ScriptedSSHServer) async throws -> Void
  ) async throws {
    try await withScript(script) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey),
        on: reactor)
      try await connection.connect()
      try await body(connection, server)
      await connection.close()
    }
  }

  private func expectWhole(_ channel: SSHChannel, count expected: Int) async throws {
    channel.standardError.discard()
    #expect(try await channel.exitStatus() == .status(0))
    var count = 0
    for try await bytes in channel.standardOutput {
      count += bytes.count
      // A server that says nothing any more does not close the channel.
      if count == expected { break }
    }
    #expect(count == expected)
  }

  /// A read that has to open the window waits for the end of the exchange. A window of more than
  /// 2^32-1 ends the connection (RFC 4254, 5.2).
  @Test func theWindowOfAReadThatWaitsIsOpenedOnce() async throws {
    let script: ScriptedSSHServer.Script = { client, record in
      try client.admit()
      let (number, window) = try client.startCommandWithWindow()
      // All that can be read before a read opens the window.
      let first = window - (window / 4 * 3 + Self.read)
      record("\(first)")
      var left = Int(first)
      while left > 0 {
        let count = min(left, Self.chunk.count)
        try client.send(client.data(Array(Self.chunk.prefix(count)), of: number))
        left -= count
      }
      // Another operation, which finishes the exchange and reads the end.
      let asked = try client.openRequest()
      try client.askForKeys(behind: [client.data(Array(Self.chunk.prefix(6000)), of: number)])
      let theirs = try client.expect(20)
      let end = [client.exitStatus(of: number), client.message(96, of: number)]
      try client.renewKeys(theirs, behind: end)
      try client.sendTogether([
        client.refusal(ofChannel: asked, reason: 3), client.message(97, of: number),
      ])
      let adjustments = [first + 6000 + Self.read, window + Self.read]
      var seen: [UInt32] = []
      while true {
        var reader = WireReader(try client.receive())
        guard let type = reader.byte(), type != 97 else { break }
        guard type == 93, reader.uint32() != nil, let more = reader.uint32() else { continue }
        seen.append(more)
      }
      record(seen == adjustments ? "as expected" : "\(seen), not \(adjustments)")
    }
    try await withConnection(script) { connection, server in
      let channel = try await connection.execute("print")
      var count = 0
      for try await bytes in channel.standardOutput {
        count += bytes.count
        // It has counted before it sends.
        if count == server.collected.first.flatMap({ Int($0) }) { break }
      }
      #expect(count > 0 && server.collected == ["\(count)"])
      _ = await failure { _ = try await connection.probe(within: .seconds(60)) }
      try await expectWhole(channel, count: 6000)
      // It has gone when it has counted.
      #expect(await failure { _ = try await connection.probe(within: .seconds(60)) } != nil)
      #expect(server.collected.dropFirst() == ["as expected"])
    }
  }

  /// Some servers do not hold back the end of the output while keys are exchanged. The next
  /// exchange, which is never finished, begins right behind.
  @Test func anEndDuringAKeyExchangeIsNotForgottenBehindIt() async throws {
    let script: ScriptedSSHServer.Script = { client, _ in
      try client.admit()
      let number = try client.startCommand()
      for _ in 0..<(Self.size / Self.chunk.count) {
        try client.send(client.data(Self.chunk, of: number))
      }
      try client.askForKeys()
      let theirs = try client.expectOffer()
      try client.renewKeys(
        theirs, before: [client.message(96, of: number)], behind: [client.exitStatus(of: number)],
        again: true)
      try client.listenToTheEnd()
    }
    try await withConnection(script) { connection, _ in
      try await expectWhole(try await connection.execute("print"), count: Self.size)
    }
  }

  /// The output came before the answer that the command has started; an exchange of keys that is
  /// never finished begins behind that, and another channel's read takes it.
  @Test func anEndBeforeTheStartIsNotForgotten() async throws {
    let script: ScriptedSSHServer.Script = { client, _ in
      try client.admit()
      _ = try client.startCommand()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      for _ in 0..<(Self.size / Self.chunk.count) {
        try client.send(client.data(Self.chunk, of: number))
      }
      try client.askForKeys(behind: [
        client.exitStatus(of: number), client.message(96, of: number),
        client.message(99, of: number),
      ])
      try client.listenToTheEnd()
    }
    try await withConnection(script) { connection, _ in
      let other = try await connection.execute("wait")
      try await expectWhole(try await connection.execute("print"), count: Self.size)
      _ = other
    }
  }

  /// What comes behind the output, and before the end of the link. All of it comes in one turn of
  /// the loop, and the read of another channel takes it.
  enum Behind: String, CaseIterable, Sendable {
    case end, close, keyExchange
  }

  @Test(arguments: Behind.allCases)
  func aCommandThatEndsWithItsLinkHasAnOutcome(_ behind: Behind) async throws {
    let reactor = Reactor()
    let isHeld = DispatchSemaphore(value: 0)
    let isSent = DispatchSemaphore(value: 0)
    let script: ScriptedSSHServer.Script = { client, _ in
      try client.admit()
      _ = try client.startCommand()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      reactor.execute {
        isHeld.signal()
        _ = isSent.wait(timeout: .now() + .seconds(30))
      }
      _ = isHeld.wait(timeout: .now() + .seconds(30))
      var said = [client.message(99, of: number), client.data(Self.chunk, of: number)]
      said += [client.exitStatus(of: number), client.message(96, of: number)]
      if behind == .close { said.append(client.message(97, of: number)) }
      if behind == .keyExchange {
        try client.askForKeys(behind: said)
      } else {
        try client.sendTogether(said)
      }
      client.finish()
      isSent.signal()
      try client.listenToTheEnd()
    }
    try await withConnection(on: reactor, script) { connection, _ in
      let other = try await connection.execute("wait")
      try await expectWhole(try await connection.execute("print"), count: Self.chunk.count)
      _ = other
    }
  }
}
