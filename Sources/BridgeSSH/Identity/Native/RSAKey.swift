import BridgeErrors
import CLibCrypto
import CLibSSH2

/// A private RSA key of a file, which signs here: libssh2 would sign with SHA-1.
@safe final class RSAKey: @unchecked Sendable {
  /// What is in a key file.
  enum Found {
    case key(RSAKey)
    /// A sound key of another kind.
    case other
    case wrongPassphrase
    case damaged
  }

  /// The public key as it stands on the wire.
  let blob: [UInt8]
  private let key: OpaquePointer
  /// A modulus of 16,384 bits: OpenSSH's limit.
  private static let longest = 2048

  private init?(_ key: OpaquePointer?) {
    guard let key = unsafe key else { return nil }
    unsafe self.key = key
    guard let modulus = unsafe Self.number(0, of: key),
      let exponent = unsafe Self.number(1, of: key)
    else {
      unsafe EVP_PKEY_free(key)
      return nil
    }
    var writer = WireWriter()
    writer.string("ssh-rsa")
    writer.string(exponent)
    writer.string(modulus)
    blob = writer.bytes
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Signs with SHA-256; nil where the library refuses.
  func sign(_ data: [UInt8]) -> [UInt8]? {
    var signature = [UInt8](repeating: 0, count: Self.longest)
    let count = unsafe bridge_sign_sha256(key, data, data.count, &signature, signature.count)
    return count > 0 ? Array(signature.prefix(count)) : nil
  }

  /// The key in the file at `path`, of which `info` is known. Blocks, also for the derivation of a
  /// key from the passphrase.
  static func read(_ path: String, _ info: PrivateKeyInfo, passphrase: Secret?) -> Found {
    switch info.format {
    case .pem, .pkcs8: return readPEM(path, isEncrypted: info.isEncrypted, passphrase)
    case .openSSH where info.isEncrypted: return decrypt(path, passphrase)
    case .openSSH: return readContainer(path)
    }
  }

  private static func file(_ path: String) -> WipedBytes? {
    (try? LocalFile.readSecret(path, limit: PrivateKeyInfo.limit))?.bytes
  }

  private static func readPEM(_ path: String, isEncrypted: Bool, _ passphrase: Secret?) -> Found {
    guard let file = file(path) else { return .damaged }
    let key = unsafe file.withSpan { text in
      unsafe text.withUnsafeBufferPointer { bytes in
        guard let passphrase else {
          return unsafe bridge_read_key(bytes.baseAddress, Int32(bytes.count), nil)
        }
        return unsafe passphrase.withText {
          unsafe bridge_read_key(bytes.baseAddress, Int32(bytes.count), $0)
        }
      }
    }
    guard let key = unsafe key else { return isEncrypted ? .wrongPassphrase : .damaged }
    guard unsafe bridge_is_rsa(key) == 1 else {
      unsafe EVP_PKEY_free(key)
      return .other
    }
    return unsafe RSAKey(key).map { .key($0) } ?? .damaged
  }

  private static func readContainer(_ path: String) -> Found {
    guard let file = file(path) else { return .damaged }
    let body = file.withSpan { text in (try? KeyArmor(text))?.decoded(in: text) }
    let key = body?.withSpan { bytes in
      OpenSSHKey.secret(in: bytes).flatMap { RSAKey(secret: $0, in: bytes) }
    }
    return key.flatMap { $0 }.map { .key($0) } ?? .damaged
  }

  private static func decrypt(_ path: String, _ passphrase: Secret?) -> Found {
    guard let passphrase, LibSSH2.isReady else { return .wrongPassphrase }
    var scratch = unsafe bridge_scratch(found: nil, length: 0)
    defer { unsafe bridge_scratch_wipe(&scratch) }
    let code = unsafe passphrase.withText { unsafe bridge_decrypt_rsa(path, $0, &scratch) }
    guard code == 0 else { return .wrongPassphrase }
    let bytes = unsafe UnsafeBufferPointer(start: scratch.found, count: scratch.length)
    let key = RSAKey(secret: 0..<bytes.count, in: unsafe bytes.span)
    return key.map { .key($0) } ?? .damaged
  }

  /// The private part of OpenSSH's form: two numbers that are checked, type, n, e, d and more.
  private convenience init?(secret: Range<Int>, in bytes: Span<UInt8>) {
    var cursor = SpanCursor(secret)
    guard let first = cursor.uint32(in: bytes), first == cursor.uint32(in: bytes),
      cursor.name(in: bytes) == "ssh-rsa", let n = cursor.string(in: bytes),
      let e = cursor.string(in: bytes), let d = cursor.string(in: bytes),
      [n, e, d].allSatisfy({ (1...Self.longest + 1).contains($0.count) })
    else { return nil }
    let key = unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return unsafe OpaquePointer?.none }
      return unsafe bridge_make_rsa(
        base + n.lowerBound, Int32(n.count), base + e.lowerBound, Int32(e.count),
        base + d.lowerBound, Int32(d.count))
    }
    unsafe self.init(key)
  }

  /// As an mpint (RFC 4251, 5): a zero stands before a first byte whose high bit is set.
  private static func number(_ which: Int32, of key: OpaquePointer) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: longest)
    let count = unsafe bridge_rsa_number(key, which, &bytes, Int32(bytes.count))
    guard count > 0 else { return nil }
    return (bytes[0] & 0x80 != 0 ? [0] : []) + bytes.prefix(Int(count))
  }
}

extension KeyArmor {
  /// The decoded body, or nil where it is damaged.
  fileprivate func decoded(in text: Span<UInt8>) -> WipedBytes? { try? body(in: text) }
}
