/// What kind of failure a native failure is: the rows of the failure table, closed on purpose so
/// that every switch over it is exhaustive. Hint, retry class and exit code follow from it.
public enum FailureKind: Sendable, Hashable {
  case nameUnknown
  case nameTimeout
  case offline
  case refused
  case unreachable
  case dialTimeout
  case localResource
  case silent
  case throttled
  case dropped
  case notTheProtocol
  case algorithmMismatch
  case corrupted
  case hostKeyProof
  case rejected
  case hostKeyUnknown
  case hostKeyChanged
  case hostKeyNewType
  case authenticationRefused
  case keyUnusable
  case agentUnavailable
  case channelDenied
  case targetRefused
  case outcomeUnknown
  case linkLost
  case linkSilent
  case internalFault
  case tls(TLSCause)
  case refusedUpgrade(status: Int)
  case closedByPeer
  /// A WebSocket close code of the application's own (3000–4999).
  case closedByApplication
  case cancelled

  /// Why a TLS peer could not be trusted, as the certificate verification reported it.
  public enum TLSCause: String, Sendable, CaseIterable {
    case unknownIssuer
    case selfSigned
    case expired
    case notYetValid
    case wrongName
    case notTLS
    case pinMismatch
    case badSignature
    case weakKey
    case weakDigest
    case revoked
    /// Any other reason for which it does not verify.
    case invalidCertificate
  }
}
