import CLibCrypto

/// HMAC by libcrypto.
enum KeyedHash {
  /// HMAC-SHA-256 of `message` under `key`: 32 bytes (RFC 2104, FIPS 180-4); nil where libcrypto
  /// refuses.
  static func sha256(key: [UInt8], message: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    let made = unsafe HMAC(
      EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length)
    guard unsafe made != nil, Int(length) == digest.count else { return nil }
    return digest
  }
}
