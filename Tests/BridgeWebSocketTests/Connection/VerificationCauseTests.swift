import BridgeErrors
import BridgeWebSocket
import Testing

@Suite("A result of OpenSSL's verification")
struct VerificationCauseTests {
  /// openssl-verification-options(1) and openssl/x509_vfy.h.
  @Test(
    "has its own cause",
    arguments: [
      (2, .unknownIssuer), (7, .badSignature), (9, .notYetValid), (10, .expired),
      (18, .selfSigned), (19, .selfSigned), (20, .unknownIssuer), (21, .unknownIssuer),
      (23, .revoked), (24, .invalidCertificate), (26, .invalidCertificate), (62, .wrongName),
      (64, .wrongName), (66, .weakKey), (67, .weakKey), (68, .weakDigest),
      (9_999, .invalidCertificate),
    ] as [(Int32, FailureKind.TLSCause)])
  func cause(_ code: Int32, _ cause: FailureKind.TLSCause) {
    #expect(FailureKind.TLSCause(verificationError: code) == cause)
  }
}
