import BridgeErrors
import BridgeSSH
import BridgeTransport
import BridgeWaiting
import Testing

/// A server that has agreed on keys and then says anything: well encrypted, with a right MAC, and
/// with arbitrary content. A server is not trusted before its host key was checked, and not all of
/// them are kind.
@Suite(.timeLimit(.minutes(5))) struct NonsenseTests {
  /// What libssh2 takes apart: disconnect to debug, key exchange, authentication, requests,
  /// channels (RFC 4250, 4.1.2), and some without a meaning.
  private static let messages: [UInt8] =
    [0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 30, 31, 51, 52, 53, 60, 61, 63, 80, 81, 82] + (90...100)
    + [101, 192, 255]

  /// Fields of all sorts; a string's length is wrong now and then.
  private static func nonsense(_ generator: inout SplitMix64) -> [UInt8] {
    var message = WireWriter()
    message.byte(messages.randomElement(using: &generator) ?? 0)
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: message.byte(UInt8.random(in: 0...255, using: &generator))
      case 1: message.uint32([0, 1, 2, 0x7fff_ffff, .max].randomElement(using: &generator) ?? 0)
      case 2: message.uint32(UInt32.random(in: 0...40_000, using: &generator))
      case 3:
        message.string(
          ["exit-status", "exit-signal", "keepalive@openssh.com", "auth-agent@openssh.com", "x11"]
            .randomElement(using: &generator) ?? "")
      case 4:
        message.string([UInt8](repeating: 0x1b, count: .random(in: 0...300, using: &generator)))
      default: message.uint32(0)
      }
    }
    return message.bytes
  }

  /// Where it stops to make sense.
  enum Phase: CaseIterable { case authentication, open, request, stream }

  @Test(arguments: Phase.allCases) func isSurvived(phase: Phase) async throws {
    let generator = Mutex(SplitMix64(seed: 22))
    try await withScript({ client, _ in
      func babble() throws {
        for _ in 0..<4 { try client.send(generator.withLock { Self.nonsense(&$0) }) }
      }
      _ = try client.request()
      if phase == .authentication { try babble() }
      try client.welcome()
      let channel = try client.openRequest()
      if phase == .open { try babble() }
      try client.confirmChannel(channel)
      _ = try client.receive()
      if phase == .request { try babble() }
      try client.say(99) { $0.uint32(channel) }
      if phase == .stream { try babble() }
    }) { server in
      for round in 0..<100 {
        let connection = SSHConnection(
          to: Endpoint(host: "127.0.0.1", port: server.port),
          configuration: SSHConfiguration(user: "somebody", credentials: [], hostKeys: .anyKey))
        await expectSurvival(of: connection, "round \(round)") { connection throws(AppError) in
          let command = try await connection.execute("true")
          for try await _ in command.standardOutput {}
          _ = try await command.exitStatus()
        }
      }
    }
  }
}
