import BridgeErrors

/// A key that an ssh-agent holds.
package struct AgentIdentity: Sendable, Equatable {
  /// The public key as it stands on the wire.
  package let blob: [UInt8]
  /// The key's type as the wire has it.
  package let type: String
  /// The comment, escaped and bounded. For debugging only: it may name a person.
  package let comment: String

  /// The key in `blob`; nil where it has no form that we know.
  package init?(blob: [UInt8], comment: [UInt8]) {
    guard let key = HostKey(blob: blob) else { return nil }
    self.blob = blob
    type = key.type
    self.comment = PeerText.escaped(comment, limit: 256)
  }
}

/// A request to an ssh-agent (draft-miller-ssh-agent, 3).
package enum AgentRequest: Sendable, Equatable {
  /// SSH_AGENTC_REQUEST_IDENTITIES: which keys are there.
  case identities
  /// SSH_AGENTC_SIGN_REQUEST: a signature of `data` by the key `blob`. `flags`: 2 and 4 choose
  /// RSA with SHA-256 and SHA-512.
  case sign(blob: [UInt8], data: [UInt8], flags: UInt32)

  /// The message with its length in front.
  package var bytes: [UInt8] {
    var body = WireWriter()
    switch self {
    case .identities: body.byte(11)
    case .sign(let blob, let data, let flags):
      body.byte(13)
      body.string(blob)
      body.string(data)
      body.uint32(flags)
    }
    var message = WireWriter()
    message.string(body.bytes)
    return message.bytes
  }
}

/// The answer of an ssh-agent (draft-miller-ssh-agent, 3).
package enum AgentReply: Sendable, Equatable {
  /// SSH_AGENT_IDENTITIES_ANSWER.
  case identities([AgentIdentity])
  /// SSH_AGENT_SIGN_RESPONSE: a signature with its type's name in front (RFC 4253, 6.6).
  case signature([UInt8])
  /// SSH_AGENT_FAILURE: refused, locked, or the key is not there.
  case failure

  /// The largest answer that is read, its length left out, as OpenSSH's own clients do.
  package static let limit = 256 << 10

  /// What `bytes`, everything the agent has sent since the request, amount to.
  package enum Parsed: Sendable, Equatable {
    /// More bytes are needed.
    case needMore
    /// A whole answer, and how many of the bytes it took.
    case reply(AgentReply, consumed: Int)
    /// No agent answers like this: hang up.
    case malformed
  }

  /// Reads one answer.
  package static func parse(_ bytes: [UInt8]) -> Parsed {
    var reader = WireReader(bytes)
    guard let length = reader.uint32() else { return .needMore }
    guard (1...limit).contains(Int(length)) else { return .malformed }
    guard let message = reader.take(Int(length)) else { return .needMore }
    guard let reply = AgentReply(message: message) else { return .malformed }
    return .reply(reply, consumed: 4 + message.count)
  }

  /// The answer in `message`, which has no length in front.
  private init?(message: [UInt8]) {
    var reader = WireReader(message)
    switch reader.byte() {
    // 102 and 30 are what the two old SSH 2 agents send (draft-miller-ssh-agent, 7.3).
    case 5, 30, 102: self = .failure
    case 12:
      guard let identities = Self.identities(&reader) else { return nil }
      self = .identities(identities)
    case 14:
      guard let signature = reader.string(), !signature.isEmpty, reader.remaining == 0 else {
        return nil
      }
      self = .signature(signature)
    default: return nil
    }
  }

  private static func identities(_ reader: inout WireReader) -> [AgentIdentity]? {
    // Each key takes eight bytes at least, so a count cannot ask for more than is there.
    guard let count = reader.uint32(), Int(count) <= reader.remaining / 8 else { return nil }
    var identities: [AgentIdentity] = []
    for _ in 0..<count {
      guard let blob = reader.string(), let comment = reader.string() else { return nil }
      // A key of a form we do not know is left out, the others stay.
      if let identity = AgentIdentity(blob: blob, comment: comment) { identities.append(identity) }
    }
    return reader.remaining == 0 ? identities : nil
  }
}
