import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Testing

/// A host that breaks the protocol is left with a typed error, at once and in bounded memory.
@Suite(.timeLimit(.minutes(5))) struct HostileHostTests {
  private static let far = Limits.offset - 1

  private static func header(
    _ type: UInt8, length: [UInt8] = [0, 0, 0, 0], offset: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
  ) -> [UInt8] {
    [type, 0, 0, 0] + length + offset
  }

  private static func output(at offset: UInt64, _ bytes: [UInt8] = [1]) -> [UInt8] {
    Frame.output(offset: offset, stream: .standardOutput, bytes: bytes).encoded
  }

  /// What comes after a welcome.
  private static let violations: [(name: String, bytes: [UInt8])] = [
    ("a length of 4 GiB", header(4, length: [255, 255, 255, 255])),
    ("a length beyond its type", header(9, length: [0, 0, 1, 0])),
    (
      "an offset of 2^63",
      header(4, length: [0, 0, 0, 1], offset: [128, 0, 0, 0, 0, 0, 0, 0]) + [1]
    ),
    (
      "an offset of 2^64 - 1",
      header(5, length: [0, 0, 0, 8], offset: .init(repeating: 255, count: 8))
    ),
    ("an unknown type", header(99)),
    ("a reserved byte", [4, 1, 1, 0, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 8) + [1]),
    ("a hole in the output", output(at: 1)),
    ("output at the last offset", output(at: far - 1)),
    ("a gap that goes back", header(5, length: [0, 0, 0, 8]) + .init(repeating: 0, count: 8)),
    (
      "more output than the window",
      stride(from: 0, to: Limits.outputWindow, by: 1 << 20).flatMap {
        output(at: $0, .init(repeating: 1, count: 1 << 20))
      } + output(at: Limits.outputWindow)
    ),
    ("input taken that was not sent", Frame.acknowledge(through: 9, settled: 0).encoded),
    ("input taken at the last offset", Frame.acknowledge(through: far, settled: 0).encoded),
    ("controls done that were not sent", Frame.acknowledge(through: 0, settled: far).encoded),
    ("an end before the last byte", Frame.ended(at: 7, .exited(status: 0)).encoded),
    ("a second welcome", ScriptedHost.welcome().encoded),
    ("input", Frame.input(offset: 0, bytes: [1]).encoded),
    ("a control", Frame.control(number: 1, .detach).encoded),
  ]

  @Test(arguments: violations.indices) func itIsLeftWithATypedError(index: Int) async throws {
    let (name, bytes) = Self.violations[index]
    let host = ScriptedHost { channel in
      channel.greet()
      channel.send(bytes)
    }
    let session = host.session()
    _ = try await session.attach()
    let error = await failure { try await drain(session) }
    #expect(error?.caseName == "sshProtocolError", "\(name): \(String(describing: error))")
    #expect(await host.channels.count == 1, "\(name)")
  }

  /// What comes instead of a welcome.
  private static let greetings: [(name: String, bytes: [UInt8])] = [
    ("output", output(at: 0)),
    ("an end", Frame.ended(at: 0, .exited(status: 0)).encoded),
    ("a gap", Frame.gap(from: 0, to: 1).encoded),
    (
      "a welcome of another session",
      ScriptedHost.welcome { $0.session = Identifier(high: 1, low: 1) }.encoded
    ),
    ("a welcome with more taken than accepted", ScriptedHost.welcome { $0.inputTaken = 5 }.encoded),
    ("a welcome with nothing in it", header(2)),
    ("a hello", header(1)),
  ]

  @Test(arguments: greetings.indices) func aGreetingThatIsNoneIsATypedError(index: Int) async throws
  {
    let (name, bytes) = Self.greetings[index]
    let host = ScriptedHost { channel in
      channel.send(channel.marker)
      channel.send(bytes)
    }
    let session = host.session()
    let error = await failure { try await session.attach() }
    #expect(error?.caseName == "sshProtocolError", "\(name): \(String(describing: error))")
  }

  /// A megabyte in frames of one byte, and as many pings as that: what is kept is what is not read.
  @Test func tinyFramesBecomeFewChunks() async throws {
    let count = 1 << 18
    let host = ScriptedHost { channel in
      channel.greet { $0.newest = UInt64(count) }
      var bytes: [UInt8] = []
      for offset in 0..<count {
        bytes += Frame.ping(UInt64(offset)).encoded
        bytes += Self.output(at: UInt64(offset), [UInt8(truncatingIfNeeded: offset)])
        if bytes.count > 1 << 16 {
          channel.send(bytes)
          bytes = []
        }
      }
      channel.send(bytes + Frame.ended(at: UInt64(count), .exited(status: 3)).encoded)
    }
    let session = host.session()
    _ = try await session.attach()
    var chunks = 0
    var next = 0
    for try await chunk in session.output {
      guard case .bytes(let bytes, _) = chunk.content else { continue }
      chunks += 1
      for byte in bytes {
        #expect(byte == UInt8(truncatingIfNeeded: next))
        next += 1
      }
    }
    #expect(next == count && chunks < count / 64)
    #expect(try await session.exitStatus() == .exited(status: 3))
    let channel = try #require(await host.channels.first)
    let pongs = try channel.sent().count { if case .pong = $0 { true } else { false } }
    #expect(pongs < count)
    await session.detach()
  }
}
