import BridgeFaults
import BridgeTestKit
import Foundation
import NIOCore
import Testing

@Suite("A peer that follows a script", .timeLimit(.minutes(5)))
struct ScriptedTCPPeerTests {
  @Test func resetsBehindWhatItSent() async throws {
    let peer = try await ScriptedTCPPeer([.read(1), .send("half a sen"), .reset])
    let client = try await LoopbackClient(port: peer.port)
    try await client.send("?")
    let received = await client.receiveToEnd()
    #expect(received.bytes == "half a sen".bytes)
    #expect(received.end == .reset)
    await peer.stop()
  }

  @Test func finishesBehindWhatItSent() async throws {
    let peer = try await ScriptedTCPPeer([.send("bye"), .finish])
    let client = try await LoopbackClient(port: peer.port)
    let received = await client.receiveToEnd()
    #expect(received.bytes == "bye".bytes)
    #expect(received.end == .finished)
    await peer.stop()
  }

  @Test func keepsWhatItWasSentEvenWhenSilent() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let client = try await LoopbackClient(port: peer.port)
    try await client.send("anybody?")
    try await client.finish()
    #expect(await client.receiveToEnd().bytes.isEmpty)
    #expect(await peer.received == ["anybody?".bytes])
    #expect(await peer.log.map(\.kind) == [.accepted, .scriptDone, .clientFinished, .closed])
    await peer.stop()
  }

  @Test func goesOnOnlyWhenItHasReadEnough() async throws {
    let peer = try await ScriptedTCPPeer([
      .read(3), .send("three;"), .readUntil("\n"), .send("line;"), .read(1), .send("one"), .finish,
    ])
    let client = try await LoopbackClient(port: peer.port)
    try await client.send("ab")
    try await client.send("cdef\n")
    #expect(await client.receive(11).bytes == "three;line;".bytes)
    try await client.send("g")
    #expect(await client.receiveToEnd().bytes == "three;line;one".bytes)
    await peer.stop()
  }

  @Test func readsEveryByteOnce() async throws {
    let peer = try await ScriptedTCPPeer([.read(3), .send("a"), .read(3), .send("b"), .finish])
    let client = try await LoopbackClient(port: peer.port)
    try await client.send("1234")
    #expect(await client.receive(1).bytes == "a".bytes)
    #expect(await !peer.log.contains { $0.kind == .scriptDone })
    try await client.send("56")
    #expect(await client.receiveToEnd().bytes == "ab".bytes)
    await peer.stop()
  }

  @Test func dripsByteByByte() async throws {
    let peer = try await ScriptedTCPPeer([
      .drip("drip".bytes, every: .milliseconds(1)), .wait(.milliseconds(1)), .finish,
    ])
    let client = try await LoopbackClient(port: peer.port)
    #expect(await client.receiveToEnd().bytes == "drip".bytes)
    await peer.stop()
  }

  @Test func floodsAsMuchAsAsked() async throws {
    let peer = try await ScriptedTCPPeer(.bannerFlood(total: 5_000_001) + [.finish])
    let client = try await LoopbackClient(port: peer.port)
    #expect(await client.receiveToEnd().bytes.count == 5_000_001)
    await peer.stop()
  }

  @Test func anEndlessFloodLeavesTheLoopToOthers() async throws {
    let peer = try await ScriptedTCPPeer([.bannerFlood(), [.send("me too"), .finish]])
    let flooded = try await LoopbackClient(port: peer.port)
    let other = try await LoopbackClient(port: peer.port)
    #expect(await other.receiveToEnd().bytes == "me too".bytes)
    #expect(await peer.openConnections >= 1)
    await peer.stop()
    await flooded.close()
  }

  @Test func stopsReadingAndTheClientStalls() async throws {
    let peer = try await ScriptedTCPPeer([.read(1), .stopReading])
    let client = try await LoopbackClient(port: peer.port)
    try await client.send("x")
    _ = try await peer.first { $0.kind == .scriptDone }
    let chunk = [UInt8](repeating: 7, count: 1 << 24)
    client.channel.writeAndFlush(ByteBuffer(bytes: chunk), promise: nil)
    try await eventually { !client.channel.isWritable }
    #expect(await peer.received[0].count < chunk.count)
    await peer.stop()
  }

  @Test func servesOneScriptPerConnectionAndTheLastForEver() async throws {
    let peer = try await ScriptedTCPPeer([[.send("a"), .finish], [.send("b"), .finish]])
    var answers: [[UInt8]] = []
    for _ in 0..<3 {
      answers.append(await (try LoopbackClient(port: peer.port)).receiveToEnd().bytes)
    }
    #expect(answers == ["a".bytes, "b".bytes, "b".bytes])
    await peer.follow([.send("c"), .finish])
    let client = try await LoopbackClient(port: peer.port)
    #expect(await client.receiveToEnd().bytes == "c".bytes)
    await peer.stop()
  }

  @Test func isGoneWhenStopped() async throws {
    let peer = try await ScriptedTCPPeer(.silent)
    let client = try await LoopbackClient(port: peer.port)
    await peer.stop()
    #expect(await client.receiveToEnd().end != nil)
    await #expect(throws: (any Error).self) { try await LoopbackClient(port: peer.port) }
    await #expect(throws: FaultError.stopped) { try await peer.first { _ in false } }
  }

  /// What OpenSSH's client makes of them shows that they are what they claim to be.
  @Test(arguments: [
    (PeerScript.ssh1, "Protocol major versions differ"),
    (.disconnect(12, "too busy"), "too busy"),
    (.exceededMaxStartups, "Connection closed by"),
    (.http, "Connection closed by"),
    (.bannerFlood(total: 200_000), "kex_exchange_identification"),
    (.offer(.nothingInCommon), "no matching key exchange method found. Their offer: only-ours"),
  ])
  func looksLikeABrokenSSHServer(script: PeerScript, complaint: String) async throws {
    let peer = try await ScriptedTCPPeer(script)
    let client = OpenSSHClient(port: peer.port, user: "nobody", identityFile: "/dev/null")
    let answer = try await client.run("true")
    #expect(answer.status == 255)
    #expect(answer.errors.contains(complaint), "\(answer.errors)")
    await peer.stop()
  }
}

extension SSHAlgorithmOffer {
  static var nothingInCommon: SSHAlgorithmOffer {
    var offer = SSHAlgorithmOffer()
    offer.keyExchanges = "only-ours"
    return offer
  }
}
