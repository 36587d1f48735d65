import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// Every byte arrives once and in order, however slow the readers are and however often the server
/// changes keys.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ByteFidelityTests {
  private static let isLong = ProcessInfo.processInfo.environment["BRIDGE_INTEGRITY"] == "full"

  /// The windows of the two sides drift apart when a read is resumed with another length while
  /// keys are exchanged; the next time the window runs full, data is dropped.
  @Test func aBurstyReaderGetsAllOfADownloadWhileTheServerRekeys() async throws {
    var configuration = SSHServerConfiguration()
    configuration.rekeyLimit = "600K"
    try await withServer(configuration) { server in
      let directory = try TemporaryDirectory()
      let sent = Self.noise(100 << 20, seed: 7)
      try Data(sent).write(to: URL(filePath: directory.file("data")))
      try await withConnection(to: server) { connection in
        let command = try await connection.execute("cat '\(directory.file("data"))'")
        var (received, pause) = ([UInt8](), 10 << 20)
        received.reserveCapacity(sent.count)
        for try await bytes in command.standardOutput {
          received += bytes
          guard received.count > pause else { continue }
          pause += 10 << 20
          // Long enough for the window to run full.
          for _ in 0..<100 { _ = try await connection.probe(within: .seconds(30)) }
        }
        #expect(received.count == sent.count)
        // Compared as digests: an array is compared byte by byte in a debug build.
        #expect(Digest.sha256(received) == Digest.sha256(sent))
        #expect(try await command.exitStatus() == .status(0))
      }
    }
  }

  /// A reader that takes from a full mailbox at any moment of a turn, of a channel that the server
  /// has closed with most of its output unread.
  @Test func aReaderBesideTheTurnGetsAllOfAChannelThatTheServerHasClosed() async throws {
    let (size, commands) = (2_000_000, Self.isLong ? 2_500 : 100)
    try await withServer { server in
      try await withConnection(to: server) { connection in
        try await withThrowingTaskGroup(of: Void.self) { readers in
          for _ in 0..<4 {
            readers.addTask {
              for _ in 0..<commands {
                let command = try await connection.execute("head -c \(size) /dev/zero")
                _ = try await command.exitStatus()
                var received: [UInt8] = []
                // Copied, which makes it slower than what fills the mailbox.
                for try await bytes in command.standardOutput { received += bytes }
                try #require(received.count == size)
              }
            }
          }
          try await readers.waitForAll()
        }
      }
    }
  }

  /// What one channel of a run does.
  private struct Traffic: Sendable {
    var command: String
    var sent: [UInt8]
    /// Which streams bring back what was sent.
    var comesOut: Bool
    var comesOnError: Bool

    init(_ generator: inout SplitMix64) {
      let kinds: [(String, Bool, Bool)] = [
        ("cat", true, false), ("cat >&2", false, true), ("tee /dev/stderr", true, true),
        ("cat >/dev/null", false, false),
      ]
      let kind = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
      (command, comesOut, comesOnError) = kind
      let size = 1 << Int.random(in: 0..<23, using: &generator)
      sent = ByteFidelityTests.noise(
        Int.random(in: 0...size, using: &generator), seed: generator.next())
    }
  }

  @Test(arguments: Array(1...(isLong ? 60 : 6)))
  func bothDirectionsOfSeveralChannelsOfSSHD(seed: UInt64) async throws {
    var generator = SplitMix64(seed: seed)
    var configuration = SSHServerConfiguration()
    configuration.rekeyLimit =
      [nil, "64K", "600K", "4M"][
        Int.random(in: 0..<4, using: &generator)]
    try await withServer(configuration) { server in
      try await withConnection(to: server) { try await exchange(over: $0, seed: seed) }
    }
  }

  @Test(arguments: Array(1...(isLong ? 30 : 3)))
  func bothDirectionsOfSeveralChannelsOfDropbear(seed: UInt64) async throws {
    guard await SSHServer.canReplacePasswords() else { return }
    let server = try await DropbearServer(admits: true)
    let connection = SSHConnection(
      to: Endpoint(host: "127.0.0.1", port: server.port),
      configuration: SSHConfiguration(
        user: server.user, credentials: [.keyFile(try #require(server.identityFile))],
        hostKeys: .anyKey))
    try await connection.connect()
    try await exchange(over: connection, seed: seed)
    await connection.close()
    await server.stop()
  }

  private func exchange(over connection: SSHConnection, seed: UInt64) async throws {
    var random = SplitMix64(seed: seed &+ 1000)
    var channels: [(SSHChannel, Traffic, SplitMix64)] = []
    // All are started before one can end: dropbear 2022.83 closes a channel that waits for its
    // command while the command of another one ends (`sesscheckclose`, common-channel.c).
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let traffic = Traffic(&random)
      let generator = SplitMix64(seed: random.next())
      channels.append((try await connection.execute(traffic.command), traffic, generator))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (channel, traffic, generator) in channels {
        group.addTask {
          try await Self.carry(traffic, through: channel, of: connection, generator: generator)
        }
      }
      try await group.waitForAll()
    }
  }

  private static func carry(
    _ traffic: Traffic, through channel: SSHChannel, of connection: SSHConnection,
    generator: SplitMix64
  ) async throws {
    var generator = generator
    let generators = (0..<3).map { _ in SplitMix64(seed: generator.next()) }
    async let written: Void = write(traffic.sent, to: channel, generator: generators[0])
    async let output = read(channel.standardOutput, connection, generator: generators[1])
    async let errors = read(channel.standardError, connection, generator: generators[2])
    let what = "\(traffic.command), \(traffic.sent.count) bytes"
    let sent = Digest.sha256(traffic.sent)
    let nothing = Digest.sha256([])
    #expect(Digest.sha256(try await output) == (traffic.comesOut ? sent : nothing), "\(what)")
    #expect(Digest.sha256(try await errors) == (traffic.comesOnError ? sent : nothing), "\(what)")
    try await written
    #expect(try await channel.exitStatus() == .status(0), "\(what)")
  }

  private static func write(
    _ bytes: [UInt8], to channel: SSHChannel, generator: SplitMix64
  ) async throws {
    var (generator, start) = (generator, 0)
    while start < bytes.count {
      let end = min(bytes.count, start + (1 << Int.random(in: 0...19, using: &generator)))
      try await channel.write(Array(bytes[start..<end]))
      start = end
    }
    try await channel.finishInput()
  }

  private static func read(
    _ stream: ByteStream, _ connection: SSHConnection, generator: SplitMix64
  ) async throws -> [UInt8] {
    var (generator, received) = (generator, [UInt8]())
    for try await bytes in stream {
      received += bytes
      guard Int.random(in: 0..<16, using: &generator) == 0 else { continue }
      for _ in 0..<Int.random(in: 0..<20, using: &generator) {
        _ = try await connection.probe(within: .seconds(30))
      }
    }
    return received
  }

  /// Bytes that are like no part of themselves: one block of noise again and again, each time with
  /// its number in front.
  private static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SplitMix64(seed: seed)
    let block = (0..<8_192).map { _ in UInt8.random(in: 0...255, using: &generator) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    for number in 0..<UInt64(count / block.count + 1) {
      bytes.append(contentsOf: block)
      let start = bytes.count - block.count
      for shift in 0..<8 { bytes[start + shift] = UInt8(truncatingIfNeeded: number >> (8 * shift)) }
    }
    return Array(bytes.prefix(count))
  }
}
