import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// A link that ends, or freezes, while the server renews its keys and a slow reader has not taken
/// what came before: libssh2 sends nothing then, not even the window adjustment that it wants to
/// send before it hands out what is queued (`_libssh2_channel_read`).
@Suite(.timeLimit(.minutes(5))) struct KeyExchangeCutTests {
  /// Of the output; within the window, and more than a mailbox.
  private static let size = 1_500_000
  private static let chunk = [UInt8](repeating: 7, count: 30_000)

  /// What the server has said before it wants new keys.
  enum Ending: String, CaseIterable, Sendable {
    case status, end, close

    /// The packets behind the output.
    func tell(_ client: ServerTalk, _ number: UInt32) throws {
      try client.say(98) {
        $0.uint32(number)
        $0.string("exit-status")
        $0.byte(0)
        $0.uint32(0)
      }
      if self != .status { try client.say(96) { $0.uint32(number) } }
      if self == .close { try client.say(97) { $0.uint32(number) } }
    }
  }

  /// A server whose command prints `size` bytes and ends like `ending`; then it wants new keys and,
  /// unless it `goesOn` in silence, is gone.
  private static func script(_ ending: Ending, goesOn: Bool) -> ScriptedSSHServer.Script {
    { client, _ in
      try client.admit()
      let number = try client.startCommand()
      for _ in 0..<(size / chunk.count) {
        try client.say(94) {
          $0.uint32(number)
          $0.string(chunk)
        }
      }
      try ending.tell(client, number)
      try client.askForKeys()
      // The client has seen all of it when its own offer comes.
      _ = try client.expectOffer()
      if goesOn { try client.listenToTheEnd() }
    }
  }

  private func withChannel(
    _ ending: Ending, goesOn: Bool, _ body: (SSHConnection, SSHChannel) async throws -> Void
  ) async throws {
    try await withScript(Self.script(ending, goesOn: goesOn)) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey))
      try await connection.connect()
      let channel = try await connection.execute("print")
      channel.standardError.discard()
      try await body(connection, channel)
      await connection.close()
    }
  }

  @Test(arguments: [Ending.end, .close])
  func outputThatCameWholeIsDeliveredWhole(_ ending: Ending) async throws {
    try await withChannel(ending, goesOn: false) { connection, channel in
      try await lossIsNoticed(by: connection)
      #expect(try await channel.exitStatus() == .status(0))
      var count = 0
      for try await bytes in channel.standardOutput { count += bytes.count }
      #expect(count == Self.size)
    }
  }

  /// The output may have more to it, and what came is delivered.
  @Test func outputThatIsCutIsDeliveredAsFarAsItCame() async throws {
    try await withChannel(.status, goesOn: false) { connection, channel in
      try await lossIsNoticed(by: connection)
      var count = 0
      let error = await failure {
        for try await bytes in channel.standardOutput { count += bytes.count }
      }
      #expect(count == Self.size)
      #expect(error == .sshOutcomeUnknown(command: "print"))
      #expect(await failure { _ = try await channel.exitStatus() } == error)
    }
  }

  /// All of it is here: nothing waits for a link that says nothing any more.
  @Test(arguments: [Ending.end, .close])
  func outputThatIsHereNeedsNoLink(_ ending: Ending) async throws {
    try await withChannel(ending, goesOn: true) { _, channel in
      #expect(try await channel.exitStatus() == .status(0))
      var count = 0
      for try await bytes in channel.standardOutput {
        count += bytes.count;
        // Behind this one only the close is missing, which such a server never sends.
        if ending == .end, count == Self.size { break }
      }
      #expect(count == Self.size)
    }
  }

  private func lossIsNoticed(by connection: SSHConnection) async throws {
    #expect(await failure { _ = try await connection.probe(within: .seconds(30)) } != nil)
    #expect(await connection.lastFailure != nil)
  }
}
