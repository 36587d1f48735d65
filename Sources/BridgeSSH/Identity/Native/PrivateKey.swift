import BridgeErrors
import CLibCrypto

/// A private key of a file, which signs here.
///
/// libssh2 never gets one on a connected session: it would sign with SHA-1 by RSA (1.10), leave
/// pieces of the key in memory (1.10), and free blocks of ours by the wrong function (1.11).
@safe final class PrivateKey: @unchecked Sendable {
  /// How the key signs.
  enum Kind: Equatable {
    /// By rsa-sha2-256 (RFC 8332).
    case rsa
    /// By the hash that belongs to the curve (RFC 5656, 6.2.1).
    case ecdsa(ECDSACurve)
    /// RFC 8709.
    case ed25519
  }

  /// How it signs.
  let kind: Kind
  /// The public key as it stands on the wire.
  let blob: [UInt8]
  private let key: OpaquePointer

  /// Takes over `key`; nil where there is none, or one of a kind that SSH does not have.
  init?(_ key: OpaquePointer?) {
    guard let key = unsafe key else { return nil }
    unsafe self.key = key
    guard let (kind, blob) = unsafe Self.publicPart(of: key) else {
      unsafe EVP_PKEY_free(key)
      return nil
    }
    self.kind = kind
    self.blob = blob
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// The signature of `data` as it stands behind the method's name (RFC 4253, 6.6); nil where the
  /// library refuses.
  func sign(_ data: [UInt8]) -> [UInt8]? {
    switch kind {
    case .rsa: sign(data, hash: "SHA256")
    case .ecdsa(let curve): sign(data, hash: curve.hash).flatMap(Self.pair)
    case .ed25519: sign(data, hash: nil)
    }
  }

  private func sign(_ data: [UInt8], hash: String?) -> [UInt8]? {
    var signature = [UInt8](repeating: 0, count: Self.longest)
    let count = unsafe bridge_sign(key, hash, data, data.count, &signature, signature.count)
    return count > 0 ? Array(signature.prefix(count)) : nil
  }

  /// The two numbers of a DER signature (RFC 3279, 2.2.3) as SSH writes them: an mpint has the
  /// bytes of a DER integer (RFC 4251, 5).
  private static func pair(of signature: [UInt8]) -> [UInt8]? {
    let bytes = signature.span
    var outer = DERCursor(0..<bytes.count)
    guard let numbers = outer.value(tag: DERCursor.sequence, in: bytes) else { return nil }
    var cursor = DERCursor(numbers)
    guard let r = cursor.value(tag: DERCursor.integer, in: bytes),
      let s = cursor.value(tag: DERCursor.integer, in: bytes)
    else { return nil }
    var writer = WireWriter()
    writer.string(bytes.bytes(r))
    writer.string(bytes.bytes(s))
    return writer.bytes
  }

  // MARK: The public part

  /// A modulus of 16,384 bits: OpenSSH's limit.
  static let longest = 2048

  private static func publicPart(of key: OpaquePointer) -> (Kind, [UInt8])? {
    var writer = WireWriter()
    switch unsafe EVP_PKEY_get_base_id(key) {
    case EVP_PKEY_RSA:
      guard let modulus = unsafe number(0, of: key), let exponent = unsafe number(1, of: key) else {
        return nil
      }
      writer.string("ssh-rsa")
      writer.string(exponent)
      writer.string(modulus)
      return (.rsa, writer.bytes)
    case EVP_PKEY_EC:
      guard let curve = unsafe curve(of: key), let point = unsafe point(of: key) else { return nil }
      writer.string(curve.method)
      writer.string(curve.rawValue)
      writer.string(point)
      return (.ecdsa(curve), writer.bytes)
    case EVP_PKEY_ED25519:
      guard let point = unsafe rawPublicKey(of: key) else { return nil }
      writer.string("ssh-ed25519")
      writer.string(point)
      return (.ed25519, writer.bytes)
    default: return nil
    }
  }

  /// As an mpint (RFC 4251, 5): a zero stands before a first byte whose high bit is set.
  private static func number(_ which: Int32, of key: OpaquePointer) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: longest)
    let count = unsafe bridge_rsa_number(key, which, &bytes, Int32(bytes.count))
    guard count > 0 else { return nil }
    return (bytes[0] & 0x80 != 0 ? [0] : []) + bytes.prefix(Int(count))
  }

  private static func curve(of key: OpaquePointer) -> ECDSACurve? {
    var name = [CChar](repeating: 0, count: 64)
    var count = 0
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return nil }
    let text = String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return ECDSACurve.allCases.first { $0.nameInOpenSSL == text }
  }

  private static func point(of key: OpaquePointer) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe bridge_ec_point(key, &bytes, bytes.count)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  private static func rawPublicKey(of key: OpaquePointer) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    guard unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 else { return nil }
    return bytes
  }
}

/// The curves of RFC 5656, 10.1, each by its name there.
enum ECDSACurve: String, CaseIterable {
  case p256 = "nistp256"
  case p384 = "nistp384"
  case p521 = "nistp521"

  /// The name of the key's type and of its signature.
  var method: String { "ecdsa-sha2-" + rawValue }

  /// The curve's name in OpenSSL.
  var nameInOpenSSL: String {
    switch self {
    case .p256: "prime256v1"
    case .p384: "secp384r1"
    case .p521: "secp521r1"
    }
  }

  /// The hash that is signed (RFC 5656, 6.2.1), by its name in OpenSSL.
  var hash: String {
    switch self {
    case .p256: "SHA256"
    case .p384: "SHA384"
    case .p521: "SHA512"
    }
  }
}
