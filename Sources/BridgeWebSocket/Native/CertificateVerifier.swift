package import BridgeErrors
import CLibCrypto
import CLibWebSockets
import Glibc

/// Verifies a server's certificate along with OpenSSL, and remembers why it was refused:
/// libwebsockets has one and the same text for every cause.
struct CertificateVerifier {
  let trust: WebSocketConfiguration.Trust
  let host: String
  /// Why the certificate was refused.
  private(set) var cause: FailureKind.TLSCause?
  /// Whether name or pin were looked at and found right. Nothing is sent before.
  private(set) var isSatisfied = false

  init(trust: WebSocketConfiguration.Trust, host: String) {
    self.trust = trust
    self.host = host
  }

  /// Called for every certificate of the chain; `isValid` is OpenSSL's own finding. Whether to go
  /// on.
  mutating func verify(_ verification: OpaquePointer, isValid: Bool) -> Bool {
    if case .pinned(let expected) = trust {
      guard unsafe publicKeyDigest(X509_STORE_CTX_get0_cert(verification)) == expected else {
        cause = .pinMismatch
        return false
      }
      unsafe X509_STORE_CTX_set_error(verification, X509_V_OK)
      isSatisfied = true
      return true
    }
    guard isValid else {
      cause =
        cause
        ?? FailureKind.TLSCause(
          verificationError: unsafe X509_STORE_CTX_get_error(verification))
      return false
    }
    guard unsafe X509_STORE_CTX_get_error_depth(verification) == 0 else { return true }
    guard unsafe isNamed(X509_STORE_CTX_get0_cert(verification)) else {
      unsafe X509_STORE_CTX_set_error(verification, X509_V_ERR_HOSTNAME_MISMATCH)
      cause = .wrongName
      return false
    }
    isSatisfied = true
    return true
  }

  /// RFC 9525, 6: the host as it was named, an address by its bytes, no partial wildcards.
  private func isNamed(_ certificate: OpaquePointer?) -> Bool {
    guard let certificate = unsafe certificate else { return false }
    if unsafe X509_check_ip_asc(certificate, host, 0) == 1 { return true }
    return unsafe X509_check_host(
      certificate, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil) == 1
  }

  private func publicKeyDigest(_ certificate: OpaquePointer?) -> [UInt8]? {
    guard let certificate = unsafe certificate,
      let key = unsafe X509_get_X509_PUBKEY(certificate)
    else { return nil }
    var encoded: UnsafeMutablePointer<UInt8>?
    let length = unsafe i2d_X509_PUBKEY(key, &encoded)
    guard length > 0, let encoded = unsafe encoded else { return nil }
    defer { unsafe CRYPTO_free(encoded, #file, #line) }
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    _ = unsafe SHA256(encoded, Int(length), &digest)
    return digest
  }
}

extension FailureKind.TLSCause {
  /// The cause of a result of OpenSSL's verification (openssl/x509_vfy.h).
  package init(verificationError code: Int32) {
    self =
      switch code {
      case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: .selfSigned
      case X509_V_ERR_CERT_HAS_EXPIRED: .expired
      case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
      case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongName
      case X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CERT_SIGNATURE:
        .badSignature
      case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL: .weakKey
      case X509_V_ERR_CA_MD_TOO_WEAK: .weakDigest
      case X509_V_ERR_CERT_REVOKED: .revoked
      case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
        X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
        .unknownIssuer
      default: .invalidCertificate
      }
  }
}
