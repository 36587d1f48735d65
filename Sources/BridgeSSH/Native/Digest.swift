import CLibCrypto

/// The digests that known_hosts and fingerprints need, computed by libcrypto.
package enum Digest {
  /// The length of a SHA-1 digest in bytes.
  package static let sha1Length = 20

  /// SHA-256 of `bytes`: 32 bytes (FIPS 180-4).
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = unsafe SHA256(bytes, bytes.count, &digest)
    return digest
  }

  /// SHA-1 of `bytes`: 20 bytes. Broken as a signature digest; here only for the names that
  /// OpenSSH hides with it.
  package static func sha1(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: sha1Length)
    _ = unsafe SHA1(bytes, bytes.count, &digest)
    return digest
  }

  /// HMAC-SHA1 of `message` under `key`: 20 bytes, or none when libcrypto refuses (RFC 2104).
  package static func hmacSHA1(key: [UInt8], message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: sha1Length)
    var length: UInt32 = 0
    let made = unsafe HMAC(
      EVP_sha1(), key, Int32(key.count), message, message.count, &digest, &length)
    guard unsafe made != nil, Int(length) == sha1Length else { return [] }
    return digest
  }
}
