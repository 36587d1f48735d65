/// A key that an agent holds and signs with.
package struct AgentKey: Sendable, Equatable {
  /// The public key as it stands on the wire.
  package let blob: [UInt8]
  /// Its type as the wire has it.
  package let type: String
  /// The socket of the agent.
  package let socketPath: String

  /// The key `blob` of the agent at `socketPath`.
  package init(blob: [UInt8], type: String, socketPath: String) {
    self.blob = blob
    self.type = type
    self.socketPath = socketPath
  }

  /// Whether it can be offered: certificates and security keys need a newer libssh2.
  package var isUsable: Bool { Self.usableTypes.contains(type) }

  private static let usableTypes: Set = [
    "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
  ]

  /// Whether it signs by rsa-sha2-256.
  var isRSA: Bool { type == "ssh-rsa" }

  /// The bare signature of `data`, in libssh2's form; nil when the agent does not sign. Blocks.
  /// `refused` is called with the reason.
  func sign(
    _ data: [UInt8], within timeout: Duration, refused: (AgentProblem) -> Void
  ) -> [UInt8]? {
    let signature: [UInt8]
    do throws(AgentProblem) {
      signature = try AgentSocket(path: socketPath, timeout: timeout)
        .sign(data, with: blob, flags: isRSA ? RSARequest.agentFlags : 0)
    } catch {
      refused(error)
      return nil
    }
    var reader = WireReader(signature)
    guard let name = reader.string(), let bare = reader.string() else {
      refused(AgentProblem(reason: "The ssh-agent sent no signature."))
      return nil
    }
    guard !isRSA || name == Array(RSARequest.method.utf8) else {
      refused(AgentProblem(reason: "The ssh-agent is too old: it signs with SHA-1 only."))
      return nil
    }
    return bare
  }
}
