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

  /// How it logs in; nil for a key of a type that servers do not take.
  package var algorithm: PublicKeyAlgorithm? { PublicKeyAlgorithm(keyType: type) }

  /// The signature of `data`, with the name of its algorithm in front; nil when the agent does not
  /// sign. Blocks. `refused` is called with the reason.
  func sign(
    _ data: [UInt8], by algorithm: PublicKeyAlgorithm, within timeout: Duration,
    refused: (AgentProblem) -> Void
  ) -> [UInt8]? {
    let signature: [UInt8]
    do throws(AgentProblem) {
      signature = try AgentSocket(path: socketPath, timeout: timeout)
        .sign(data, with: blob, flags: algorithm.agentFlags)
    } catch {
      refused(error)
      return nil
    }
    var reader = WireReader(signature)
    guard let name = reader.string(), reader.string() != nil else {
      refused(AgentProblem(reason: "The ssh-agent sent no signature."))
      return nil
    }
    guard !algorithm.isRSA || name == Array(algorithm.signature.utf8) else {
      refused(AgentProblem(reason: "The ssh-agent is too old: it signs with SHA-1 only."))
      return nil
    }
    return signature
  }
}
