import BridgeFaults
import BridgeSSH
import Glibc

/// One conversation of a scripted server: packets in, packets out, in clear until keys are agreed.
///
/// Blocking, on a thread of its own. What it does wrong or the client does otherwise than expected
/// ends it, which the client sees as the end of the connection.
final class ServerTalk {
  /// How a server exchanges its first keys (PROTOCOL of OpenSSH, 1.10).
  enum KeyExchangeManner: Sendable {
    /// Without strict key exchange.
    case lax
    /// With it: the numbers of packets begin anew behind the keys.
    case strict
    /// It promises that, and then sends a packet that must not be there: what an attacker does who
    /// wants to take another away unseen (Terrapin, CVE-2023-48795).
    case strictInWord
  }

  /// Why a conversation ended early.
  enum End: Error {
    case closed
    case unexpected(message: UInt8?, expected: UInt8)
    case broken
  }

  private let socket: Int32
  private var sentPackets: UInt32 = 0
  private var readPackets: UInt32 = 0
  private var toClient: ServerCrypto.Direction?
  private var fromClient: ServerCrypto.Direction?
  /// The key exchange methods that the client offers, with what it signals among them.
  private(set) var clientMethods: [String] = []
  private var versions: (theirs: [UInt8], ours: [UInt8]) = ([], [])
  /// Our last offer of algorithms.
  private var offer: [UInt8] = []
  /// The hash of the first exchange (RFC 4253, 7.2).
  private var sessionID: [UInt8] = []

  init(_ socket: Int32) { self.socket = socket }

  /// Versions and keys: curve25519-sha256, ssh-ed25519, aes128-ctr, hmac-sha2-256.
  ///
  /// - Parameters:
  ///   - forges: shows the host key without having its private half.
  ///   - manner: how strict it is about the exchange.
  func agree(forges: Bool = false, manner: KeyExchangeManner = .lax) throws {
    let version = "SSH-2.0-Scripted_1.0"
    offer = Self.offer(isStrict: manner != .lax)
    try write(Array("\(version)\r\n".utf8))
    try send(offer)
    versions = (try readLine(), Array(version.utf8))
    let theirOffer = try expect(20)
    clientMethods = KexInit(payload: theirOffer)?[.keyExchange] ?? []
    let keys = try keys(for: theirOffer, forges: forges)
    if manner == .strictInWord { try send([2, 0, 0, 0, 0]) }
    try send(keys.reply)
    try send([21])
    if manner != .lax { sentPackets = 0 }
    _ = try expect(21)
    if manner != .lax { readPackets = 0 }
    (toClient, fromClient) = (keys.toClient, keys.fromClient)
    _ = try expect(5)
    try say(6) { $0.string("ssh-userauth") }
  }

  /// Begins an exchange of keys (RFC 4253, 9), in one segment with what is said before.
  func askForKeys(behind payloads: [[UInt8]] = []) throws {
    offer = Self.offer()
    try sendTogether(payloads + [offer])
  }

  /// Finishes the exchange that `askForKeys` began.
  ///
  /// - Parameters:
  ///   - theirOffer: the client's answer to it.
  ///   - before: sent before the keys are new, in one segment with that.
  ///   - behind: sent with the new keys, in the same segment.
  ///   - again: one more exchange begins behind that.
  func renewKeys(
    _ theirOffer: [UInt8], before: [[UInt8]] = [], behind: [[UInt8]], again: Bool = false
  ) throws {
    let keys = try keys(for: theirOffer)
    var bytes = (before + [keys.reply, [21]]).flatMap { packet($0) }
    toClient = keys.toClient
    bytes += behind.flatMap { packet($0) }
    if again {
      offer = Self.offer()
      bytes += packet(offer)
    }
    try write(bytes)
    _ = try expect(21)
    fromClient = keys.fromClient
  }

  /// Reads the client's half of the exchange; the reply to it, and the keys that follow.
  private func keys(
    for theirOffer: [UInt8], forges: Bool = false
  ) throws -> (reply: [UInt8], toClient: ServerCrypto.Direction, fromClient: ServerCrypto.Direction)
  {
    var request = WireReader(Array(try expect(30).dropFirst()))
    guard let half = request.string(), let hostKey = ServerCrypto.PrivateKey.signing(),
      let ours = ServerCrypto.PrivateKey.exchange()
    else { throw End.broken }

    var blob = WireWriter()
    blob.string("ssh-ed25519")
    blob.string(hostKey.publicHalf)
    let secret = Self.mpint(ours.shared(with: half))
    var exchange = WireWriter()
    for part in [versions.theirs, versions.ours, theirOffer, offer] { exchange.string(part) }
    for part in [blob.bytes, half, ours.publicHalf] { exchange.string(part) }
    let hash = Digest.sha256(exchange.bytes + secret)
    if sessionID.isEmpty { sessionID = hash }

    var signature = WireWriter()
    signature.string("ssh-ed25519")
    signature.string(forges ? [UInt8](repeating: 7, count: 64) : hostKey.sign(hash))
    var reply = WireWriter()
    reply.byte(31)
    for part in [blob.bytes, ours.publicHalf, signature.bytes] { reply.string(part) }

    func key(_ letter: Character) -> [UInt8] {
      Digest.sha256(secret + hash + [letter.asciiValue ?? 0] + sessionID)
    }
    func block(_ letter: Character) -> [UInt8] { Array(key(letter).prefix(16)) }
    return (
      reply.bytes, .init(key: block("D"), vector: block("B"), macKey: key("F")),
      .init(key: block("C"), vector: block("A"), macKey: key("E"))
    )
  }

  /// Sends one packet (RFC 4253, 6).
  func send(_ payload: [UInt8]) throws { try write(packet(payload)) }

  /// Sends several packets in one segment.
  func sendTogether(_ payloads: [[UInt8]]) throws { try write(payloads.flatMap { packet($0) }) }

  private func packet(_ payload: [UInt8]) -> [UInt8] {
    defer { sentPackets &+= 1 }
    let block = toClient == nil ? 8 : 16
    let padding = 4 + (block - (9 + payload.count) % block) % block
    var packet = WireWriter()
    packet.uint32(UInt32(1 + payload.count + padding))
    packet.byte(UInt8(padding))
    let clear = packet.bytes + payload + [UInt8](repeating: 0, count: padding)
    guard let toClient else { return clear }
    return toClient.crypt(clear) + toClient.mac(sentPackets, clear)
  }

  /// Sends bytes behind a length that is none of theirs, encrypted and with a right MAC.
  func send(length: UInt32, _ bytes: [UInt8]) throws {
    guard let toClient else { throw End.broken }
    var packet = WireWriter()
    packet.uint32(length)
    packet.byte(4)
    let clear = packet.bytes + bytes
    try write(toClient.crypt(clear) + toClient.mac(sentPackets, clear))
    sentPackets &+= 1
  }

  /// The next packet's payload.
  func receive() throws -> [UInt8] {
    let first = try read(4)
    let head = fromClient?.crypt(first) ?? first
    let length = head.reduce(0) { $0 << 8 | Int($1) }
    guard (2...65_536).contains(length) else { throw End.broken }
    let rest = try read(length)
    let body = fromClient?.crypt(rest) ?? rest
    if let fromClient, try read(32) != fromClient.mac(readPackets, head + body) {
      throw End.broken
    }
    readPackets &+= 1
    return Array(body.dropFirst().dropLast(Int(body[0])))
  }

  /// The next packet, which is to be message number `number`.
  func expect(_ number: UInt8) throws -> [UInt8] {
    let payload = try receive()
    guard payload.first == number else {
      throw End.unexpected(message: payload.first, expected: number)
    }
    return payload
  }

  /// The client's answer to `askForKeys`. What it sent before that is dropped: window adjustments,
  /// the request of a probe.
  func expectOffer() throws -> [UInt8] {
    while true {
      let payload = try receive()
      if payload.first == 20 { return payload }
    }
  }

  /// Takes what comes until the client goes.
  func listenToTheEnd() throws { while true { _ = try receive() } }

  /// Nothing follows; what the client sends can still be read.
  func finish() { shutdown(socket, Int32(SHUT_WR)) }

  private static func offer(isStrict: Bool = false) -> [UInt8] {
    var offered = SSHAlgorithmOffer()
    offered.keyExchanges =
      isStrict ? "curve25519-sha256,kex-strict-s-v00@openssh.com" : "curve25519-sha256"
    offered.hostKeys = "ssh-ed25519"
    offered.ciphers = "aes128-ctr"
    offered.macs = "hmac-sha2-256"
    return SSHPacket.keyExchangeInit(offered).payload
  }

  /// A positive number of these bytes, as the protocol writes it (RFC 4251, 5).
  private static func mpint(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array(bytes.drop { $0 == 0 })
    var writer = WireWriter()
    writer.string((digits.first ?? 0) > 127 ? [0] + digits : digits)
    return writer.bytes
  }

  private func readLine() throws -> [UInt8] {
    var line: [UInt8] = []
    while line.last != 10 {
      guard line.count < 256 else { throw End.broken }
      line += try read(1)
    }
    return line.filter { $0 != 10 && $0 != 13 }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var part = [UInt8](repeating: 0, count: count - bytes.count)
      let got = unsafe recv(socket, &part, part.count, 0)
      guard got > 0 else { throw End.closed }
      bytes += part.prefix(got)
    }
    return bytes
  }

  private func write(_ bytes: [UInt8]) throws {
    let sent = unsafe Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    guard sent == bytes.count else { throw End.closed }
  }
}
