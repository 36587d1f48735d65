import BridgeErrors
import CLibCrypto
import CLibSSH2

extension PrivateKey {
  /// What is in a key file.
  enum Found {
    case key(PrivateKey)
    /// A sound key of a kind that SSH does not have.
    case other
    case wrongPassphrase
    case damaged
  }

  /// The key in the file at `path`, of which `info` is known. Blocks, also for the derivation of a
  /// key from the passphrase.
  static func read(_ path: String, _ info: PrivateKeyInfo, passphrase: Secret?) -> Found {
    switch info.format {
    case .pem, .pkcs8:
      return info.isEncrypted ? decryptPEM(path, passphrase) : readPEM(path)
    case .openSSH where info.isEncrypted: return decrypt(path, passphrase)
    case .openSSH: return readContainer(path)
    }
  }

  private static func file(_ path: String) -> WipedBytes? {
    (try? LocalFile.readSecret(path, limit: PrivateKeyInfo.limit))?.bytes
  }

  private static func decryptPEM(_ path: String, _ passphrase: Secret?) -> Found {
    guard let passphrase else { return .wrongPassphrase }
    guard let file = file(path) else { return .damaged }
    let key = unsafe file.withSpan { text in
      unsafe text.withUnsafeBufferPointer { bytes in
        unsafe passphrase.withText {
          unsafe bridge_read_key(bytes.baseAddress, Int32(bytes.count), $0)
        }
      }
    }
    guard let key = unsafe key else { return .wrongPassphrase }
    return unsafe PrivateKey(key).map { .key($0) } ?? .other
  }

  /// The text is decoded here, because OpenSSL would leave its decoded form in memory.
  private static func readPEM(_ path: String) -> Found {
    guard let body = body(path) else { return .damaged }
    let key = unsafe body.withSpan { bytes in
      unsafe bytes.withUnsafeBufferPointer {
        unsafe bridge_read_der_key($0.baseAddress, $0.count)
      }
    }
    guard let key = unsafe key else { return .damaged }
    return unsafe PrivateKey(key).map { .key($0) } ?? .other
  }

  /// The decoded body; nil where the file cannot be read or is damaged.
  private static func body(_ path: String) -> WipedBytes? {
    file(path)?.withSpan { text in (try? KeyArmor(text))?.decoded(in: text) }
  }

  private static func readContainer(_ path: String) -> Found {
    let key = body(path)?.withSpan { bytes in
      OpenSSHKey.secret(in: bytes).flatMap { PrivateKey(secret: $0, in: bytes) }
    }
    return key.flatMap { $0 }.map { .key($0) } ?? .damaged
  }

  private static func decrypt(_ path: String, _ passphrase: Secret?) -> Found {
    guard let passphrase, LibSSH2.isReady else { return .wrongPassphrase }
    var scratch = unsafe bridge_scratch()
    defer { unsafe bridge_scratch_wipe(&scratch) }
    let code = unsafe passphrase.withText { unsafe bridge_decrypt_key(path, $0, &scratch) }
    guard code == 0 else { return .wrongPassphrase }
    let bytes = unsafe UnsafeBufferPointer(start: scratch.found, count: scratch.length)
    let key = PrivateKey(secret: 0..<bytes.count, in: unsafe bytes.span)
    return key.map { .key($0) } ?? .damaged
  }

  /// The private part of OpenSSH's form (PROTOCOL.key): two numbers that are checked, the type, and
  /// what belongs to the type.
  private convenience init?(secret: Range<Int>, in bytes: Span<UInt8>) {
    var cursor = SpanCursor(secret)
    guard let first = cursor.uint32(in: bytes), first == cursor.uint32(in: bytes),
      let type = cursor.name(in: bytes)
    else { return nil }
    switch type {
    case "ssh-rsa": unsafe self.init(Self.rsa(&cursor, in: bytes))
    case "ssh-ed25519": unsafe self.init(Self.ed25519(&cursor, in: bytes))
    default: unsafe self.init(Self.ecdsa(type, &cursor, in: bytes))
    }
  }

  /// n, e, d and more.
  private static func rsa(_ cursor: inout SpanCursor, in bytes: Span<UInt8>) -> OpaquePointer? {
    guard let n = cursor.string(in: bytes), let e = cursor.string(in: bytes),
      let d = cursor.string(in: bytes),
      [n, e, d].allSatisfy({ (1...longest + 1).contains($0.count) })
    else { return nil }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return nil }
      return unsafe bridge_make_rsa(
        base + n.lowerBound, Int32(n.count), base + e.lowerBound, Int32(e.count),
        base + d.lowerBound, Int32(d.count))
    }
  }

  /// The curve's name, the public point and the private number.
  private static func ecdsa(
    _ type: String, _ cursor: inout SpanCursor, in bytes: Span<UInt8>
  ) -> OpaquePointer? {
    guard let name = cursor.name(in: bytes), let curve = ECDSACurve(rawValue: name),
      curve.method == type, let point = cursor.string(in: bytes),
      let number = cursor.string(in: bytes), (1...133).contains(point.count),
      (1...67).contains(number.count)
    else { return nil }
    if let key = unsafe ecdsa(curve, number, point, in: bytes) { return unsafe key }
    // libssh2 1.11 with OpenSSL 3 leaves the number that it decrypted with its bytes in reverse,
    // behind the zero that may stand before an mpint (openssl.c).
    for digits in [number, number.dropFirst()] {
      let reversed = WipedBytes(capacity: bytes.count)
      for index in 0..<bytes.count {
        let isDigit = digits.contains(index)
        reversed.append(bytes[isDigit ? digits.lowerBound + digits.upperBound - 1 - index : index])
      }
      let key = unsafe reversed.withSpan { unsafe ecdsa(curve, digits, point, in: $0) }
      if let key = unsafe key { return unsafe key }
    }
    return nil
  }

  private static func ecdsa(
    _ curve: ECDSACurve, _ number: Range<Int>, _ point: Range<Int>, in bytes: Span<UInt8>
  ) -> OpaquePointer? {
    unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return nil }
      return unsafe bridge_make_ec(
        curve.nameInOpenSSL, base + number.lowerBound, Int32(number.count),
        base + point.lowerBound, point.count)
    }
  }

  /// The public key, and the private one with the public one behind it.
  private static func ed25519(
    _ cursor: inout SpanCursor, in bytes: Span<UInt8>
  ) -> OpaquePointer? {
    guard cursor.string(in: bytes)?.count == 32, let pair = cursor.string(in: bytes),
      pair.count == 64
    else { return nil }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return nil }
      return unsafe EVP_PKEY_new_raw_private_key(
        EVP_PKEY_ED25519, nil, base + pair.lowerBound, 32)
    }
  }
}

extension KeyArmor {
  /// The decoded body, or nil where it is damaged.
  fileprivate func decoded(in text: Span<UInt8>) -> WipedBytes? { try? body(in: text) }
}
