/// A key that an agent holds and signs with.
struct AgentKey: Sendable, Equatable {
  let blob: [UInt8]
  let type: String
  let socketPath: String

  /// Whether libssh2 1.10 can offer it: RSA only as ssh-rsa with SHA-1, which servers refuse.
  var isUsable: Bool { type == "ssh-ed25519" || type.hasPrefix("ecdsa-sha2-") }

  /// The bare signature of `data`, as libssh2 wants it; nil when the agent does not sign. Blocks.
  func sign(_ data: [UInt8]) -> [UInt8]? {
    guard let agent = try? AgentSocket(path: socketPath),
      let signature = try? agent.sign(data, with: blob)
    else { return nil }
    var reader = WireReader(signature)
    guard reader.string() != nil, let bare = reader.string() else { return nil }
    return bare
  }
}
