/// Servers before the key exchange: scripts for a peer that only looks like a
/// server. Identification and packets by RFC 4253.
extension PeerScript {
  /// Accepts and sends nothing.
  public static let silent: PeerScript = []

  /// A well-behaved identification line, to put before other steps.
  public static let identification: PeerScript = [.send("SSH-2.0-Scripted_1.0\r\n")]

  /// The identification line, one byte per interval.
  public static func identificationDrip(every gap: Duration = .seconds(1)) -> PeerScript {
    [.drip(Array("SSH-2.0-Scripted_1.0\r\n".utf8), every: gap)]
  }

  /// Lines before the identification that never comes (section 4.2 allows any number of them).
  public static func bannerFlood(total: Int? = nil) -> PeerScript {
    let line = String(repeating: "x", count: 78) + "\r\n"
    return [.flood(Array(String(repeating: line, count: 800).utf8), total: total)]
  }

  /// A web server on the SSH port.
  public static let http: PeerScript = [
    .send(
      "HTTP/1.1 302 Found\r\nLocation: http://portal.example/login\r\nContent-Length: 0\r\n\r\n"),
    .finish,
  ]

  /// Bytes that are no protocol at all, the same for the same seed.
  public static func noise(_ count: Int, seed: UInt64 = 1) -> PeerScript {
    [.send(random: count, seed: seed)]
  }

  /// The text of sshd above MaxStartups (sshd.c), then FIN.
  public static let exceededMaxStartups: PeerScript = [
    .send("Exceeded MaxStartups\r\n"), .finish,
  ]

  /// The text of sshd 9.8 and later to a penalized source (PerSourcePenalties), then FIN.
  public static let notAllowedAtThisTime: PeerScript = [
    .send("Not allowed at this time\r\n"), .finish,
  ]

  /// A server that only speaks the protocol of 1995.
  public static let ssh1: PeerScript = [.send("SSH-1.5-Scripted_1.0\r\n")]

  /// Identification, then SSH_MSG_DISCONNECT in the clear once the client has spoken, then FIN.
  public static func disconnect(_ reason: UInt32, _ text: String) -> PeerScript {
    identification
      + [.readUntil("\n"), .send(SSHPacket.disconnect(reason: reason, text).framed), .finish]
  }

  /// Identification and a key exchange offer, then silence.
  public static func offer(_ algorithms: SSHAlgorithmOffer) -> PeerScript {
    identification + [.send(SSHPacket.keyExchangeInit(algorithms).framed)]
  }
}

/// The name-lists of SSH_MSG_KEXINIT (RFC 4253, section 7.1), each comma-separated; the defaults
/// are what a modern server offers.
public struct SSHAlgorithmOffer: Sendable {
  /// kex_algorithms.
  public var keyExchanges = "curve25519-sha256,ecdh-sha2-nistp256"
  /// server_host_key_algorithms.
  public var hostKeys = "ssh-ed25519,ecdsa-sha2-nistp256"
  /// Encryption, in both directions.
  public var ciphers = "aes256-ctr,aes128-ctr"
  /// Message authentication codes, in both directions.
  public var macs = "hmac-sha2-256,hmac-sha2-512"
  /// Compression, in both directions.
  public var compressions = "none"

  /// A modern server's lists.
  public init() {}
}

/// An unencrypted SSH packet.
public struct SSHPacket: Sendable {
  /// Message number and fields.
  public var payload: [UInt8]

  /// A packet with this payload.
  public init(payload: [UInt8]) { self.payload = payload }

  /// SSH_MSG_DISCONNECT (section 11.1).
  public static func disconnect(reason: UInt32, _ text: String) -> SSHPacket {
    SSHPacket(payload: [1] + word(reason) + string(text) + string("en"))
  }

  /// SSH_MSG_KEXINIT (section 7.1) with a cookie of zeros.
  public static func keyExchangeInit(_ offer: SSHAlgorithmOffer) -> SSHPacket {
    let lists = [
      offer.keyExchanges, offer.hostKeys, offer.ciphers, offer.ciphers, offer.macs, offer.macs,
      offer.compressions, offer.compressions, "", "",
    ]
    let cookie = [UInt8](repeating: 0, count: 16)
    return SSHPacket(payload: [20] + cookie + lists.flatMap(string) + [0] + word(0))
  }

  /// As it travels before keys: length, padding length, payload, padding to a multiple of 8
  /// (section 6).
  public var framed: [UInt8] {
    let padding = 4 + (8 - (5 + payload.count + 4) % 8) % 8
    let length = UInt32(1 + payload.count + padding)
    return Self.word(length) + [UInt8(padding)] + payload + [UInt8](repeating: 0, count: padding)
  }

  private static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func string(_ text: String) -> [UInt8] {
    word(UInt32(text.utf8.count)) + Array(text.utf8)
  }
}
