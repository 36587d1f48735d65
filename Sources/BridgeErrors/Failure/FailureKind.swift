/// The kind of a native failure: the rows of the failure table (`FailureTable.swift`), closed on
/// purpose so that every switch over it is exhaustive. Hint, retry class, exit code and cost follow
/// from it.
public enum FailureKind: Sendable, Hashable {
  /// The resolver says that the name does not exist (EAI_NONAME).
  case nameUnknown
  /// The resolver did not answer in time, or asks to try again (EAI_AGAIN).
  case nameTimeout
  /// No network interface is up (ENETDOWN).
  case offline
  /// The host refused the port (ECONNREFUSED).
  case refused
  /// No route leads to the host (EHOSTUNREACH, ENETUNREACH).
  case unreachable
  /// Nothing came back before the deadline of the dial (or ETIMEDOUT).
  case dialTimeout
  /// This machine ran out of descriptors, ports or memory.
  case localResource
  /// The peer accepted the connection and sent nothing before a deadline of the handshake.
  case silent
  /// The server has too many connections, or turns this address away for a time.
  case throttled
  /// The peer closed or reset the connection before it was usable.
  case dropped
  /// The answer belongs to another protocol: a wrong port, a proxy, a captive portal.
  case notTheProtocol
  /// Client and server have no algorithm of some sort in common.
  case algorithmMismatch
  /// The data violates the protocol: damaged on the way, or a fault of the peer.
  case corrupted
  /// The server sent output in a way that the protocol forbids, and some of it is lost.
  case outputLost
  /// The server's version line is longer than SSH allows.
  case versionLineTooLong
  /// The host could not prove that it owns the key that it shows.
  case hostKeyProof
  /// The peer ended the connection and said that it will not accept it.
  case rejected
  /// The host key is on no record.
  case hostKeyUnknown
  /// The host key differs from the recorded key of the same type.
  case hostKeyChanged
  /// The host key was revoked.
  case hostKeyRevoked
  /// The host is on record with keys of other types only.
  case hostKeyNewType
  /// The server does not accept this user with this credential.
  case authenticationRefused
  /// A user key cannot be read, decrypted or used.
  case keyUnusable
  /// ssh-agent is absent or failed, and no other credential was left.
  case agentUnavailable
  /// The server refused a channel or a request on it.
  case channelDenied
  /// The server could not reach the target of a forward.
  case targetRefused
  /// The connection ended before the outcome of a started command was known.
  case outcomeUnknown
  /// The server closed the channel of a command without saying how that ended.
  case noStatus
  /// A connection that was up was cut.
  case linkLost
  /// A connection that was up went silent until it was declared dead.
  case linkSilent
  /// A fault of this program.
  case internalFault
  /// The TLS peer could not be trusted.
  case tls(TLSCause)
  /// The WebSocket upgrade was answered with an HTTP error.
  case refusedUpgrade(status: Int)
  /// The HTTP proxy answered CONNECT with an HTTP error (RFC 9110, 9.3.6).
  case proxyRefused(status: Int)
  /// The server redirects the plain connection to a secure address of its own.
  case secureOnly
  /// What the peer sent is longer than a limit of this program.
  case overLimit
  /// The peer closed as agreed (close code 1000).
  case closedByPeer
  /// A WebSocket close code of the application's own (3000–4999).
  case closedByApplication
  /// The caller canceled.
  case cancelled

  /// Why a TLS peer could not be trusted, as the certificate verification reported it.
  public enum TLSCause: String, Sendable, CaseIterable {
    /// The issuer is not known to this machine.
    case unknownIssuer
    /// The certificate is signed by its own key.
    case selfSigned
    /// The certificate has expired.
    case expired
    /// The certificate is not valid yet.
    case notYetValid
    /// The certificate is for another name.
    case wrongName
    /// The server answered in plain text.
    case notTLS
    /// The certificate differs from the pinned one.
    case pinMismatch
    /// A signature of the chain is wrong.
    case badSignature
    /// A key of the chain is too short.
    case weakKey
    /// A signature of the chain uses an insecure digest.
    case weakDigest
    /// The certificate was revoked by its issuer.
    case revoked
    /// Any other reason for which it does not verify.
    case invalidCertificate
    /// The server wants a certificate of this client, which has none.
    case identityRequired
    /// The server refuses the certificate of this client.
    case identityRefused
  }
}

extension FailureKind: CaseIterable {
  /// The HTTP statuses whose rows differ from each other.
  private static let statuses = [400, 401, 403, 404, 408, 409, 429, 503]
  /// Likewise of a proxy.
  private static let proxyStatuses = [403, 407, 429, 502]

  /// Every kind in the order of its declaration, with every payload whose row differs.
  public static let allCases: [FailureKind] =
    [
      .nameUnknown, .nameTimeout, .offline, .refused, .unreachable, .dialTimeout, .localResource,
      .silent, .throttled, .dropped, .notTheProtocol, .algorithmMismatch, .corrupted,
      .outputLost, .versionLineTooLong, .hostKeyProof, .rejected, .hostKeyUnknown, .hostKeyChanged,
      .hostKeyRevoked, .hostKeyNewType,
      .authenticationRefused, .keyUnusable, .agentUnavailable, .channelDenied, .targetRefused,
      .outcomeUnknown, .noStatus, .linkLost, .linkSilent, .internalFault,
    ] + TLSCause.allCases.map { .tls($0) } + statuses.map { .refusedUpgrade(status: $0) }
    + proxyStatuses.map { .proxyRefused(status: $0) } + [
      .secureOnly, .overLimit, .closedByPeer, .closedByApplication, .cancelled,
    ]
}
