import BridgeSSH
import CLibCrypto
import Glibc

/// The mathematics of a server's side of a key exchange: X25519, Ed25519 and SHA-256
/// (curve25519-sha256, RFC 8731; ssh-ed25519, RFC 8709), by libcrypto.
enum ServerCrypto {
  /// A private key of libcrypto's, and the public half as it travels.
  @safe final class PrivateKey {
    fileprivate let key: OpaquePointer
    let publicHalf: [UInt8]

    /// An ephemeral X25519 key.
    static func exchange() -> PrivateKey? { PrivateKey(EVP_PKEY_X25519) }

    /// An Ed25519 host key.
    static func signing() -> PrivateKey? { PrivateKey(EVP_PKEY_ED25519) }

    private init?(_ type: Int32) {
      // Always the same: nothing here is to be kept secret.
      let half = [UInt8](1...32)
      guard let key = unsafe EVP_PKEY_new_raw_private_key(type, nil, half, half.count) else {
        return nil
      }
      var other = [UInt8](repeating: 0, count: 32)
      var count = other.count
      unsafe EVP_PKEY_get_raw_public_key(key, &other, &count)
      unsafe self.key = key
      publicHalf = other
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// The secret shared with the owner of the X25519 key `peer`.
    func shared(with peer: [UInt8]) -> [UInt8] {
      let theirs = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nil, peer, peer.count)
      let context = unsafe EVP_PKEY_CTX_new(key, nil)
      defer {
        unsafe EVP_PKEY_free(theirs)
        unsafe EVP_PKEY_CTX_free(context)
      }
      var secret = [UInt8](repeating: 0, count: 32)
      var count = secret.count
      guard unsafe EVP_PKEY_derive_init(context) == 1,
        unsafe EVP_PKEY_derive_set_peer(context, theirs) == 1,
        unsafe EVP_PKEY_derive(context, &secret, &count) == 1
      else { return [] }
      return secret
    }

    /// The Ed25519 signature of `message`.
    func sign(_ message: [UInt8]) -> [UInt8] {
      let context = unsafe EVP_MD_CTX_new()
      defer { unsafe EVP_MD_CTX_free(context) }
      var signature = [UInt8](repeating: 0, count: 64)
      var count = signature.count
      guard unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
        unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
      else { return [] }
      return signature
    }
  }

  /// One direction of packets: aes128-ctr and hmac-sha2-256 (RFC 4344, RFC 6668).
  @safe final class Direction {
    private let cipher: OpaquePointer?
    private let macKey: [UInt8]

    init(key: [UInt8], vector: [UInt8], macKey: [UInt8]) {
      self.macKey = macKey
      unsafe cipher = EVP_CIPHER_CTX_new()
      unsafe EVP_EncryptInit_ex(cipher, EVP_aes_128_ctr(), nil, key, vector)
    }

    deinit { unsafe EVP_CIPHER_CTX_free(cipher) }

    /// Enciphers or deciphers: in counter mode that is the same.
    func crypt(_ bytes: [UInt8]) -> [UInt8] {
      var result = [UInt8](repeating: 0, count: bytes.count)
      var count: Int32 = 0
      unsafe EVP_EncryptUpdate(cipher, &result, &count, bytes, Int32(bytes.count))
      return result
    }

    func mac(_ sequence: UInt32, _ packet: [UInt8]) -> [UInt8] {
      var message = WireWriter()
      message.uint32(sequence)
      let whole = message.bytes + packet
      var digest = [UInt8](repeating: 0, count: 32)
      var count: UInt32 = 0
      _ = unsafe HMAC(
        EVP_sha256(), macKey, Int32(macKey.count), whole, whole.count, &digest, &count)
      return digest
    }
  }
}
