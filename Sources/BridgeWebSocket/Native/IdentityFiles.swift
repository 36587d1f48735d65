import BridgeErrors
import CLibCrypto
import CLibWebSockets
import FoundationEssentials

/// The files of a `ClientIdentity`, read.
struct IdentityFiles {
  private let identity: ClientIdentity
  private let key: [UInt8]
  /// Different for files that were exchanged.
  let digest: [UInt8]

  /// - Throws: `fileReadError`.
  init(_ identity: ClientIdentity) throws(AppError) {
    self.identity = identity
    let certificate = try PEMFile.bytes(of: identity.certificateFile)
    key = try PEMFile.bytes(of: identity.keyFile)
    digest = PEMFile.digest(PEMFile.digest(certificate) + PEMFile.digest(key))
  }

  /// Has `context` show it.
  ///
  /// - Throws: `fileReadError`.
  func load(into context: OpaquePointer) throws(AppError) {
    let path = identity.certificateFile
    defer { ERR_clear_error() }
    guard unsafe SSL_CTX_use_certificate_chain_file(context, path) == 1 else {
      throw PEMFile.refused(path, "It holds no certificate.")
    }
    guard let loaded = unsafe privateKey() else {
      let isEncrypted = String(decoding: key, as: UTF8.self).contains("ENCRYPTED")
      let reason =
        isEncrypted
        ? "Its key is encrypted, and the passphrase is missing or wrong." : "It holds no key."
      throw PEMFile.refused(identity.keyFile, reason)
    }
    defer { unsafe EVP_PKEY_free(loaded) }
    guard unsafe SSL_CTX_use_PrivateKey(context, loaded) == 1 else {
      throw PEMFile.refused(identity.keyFile, "Its key is not that of \(PeerText.escaped(path)).")
    }
  }

  private func privateKey() -> OpaquePointer? {
    guard let passphrase = identity.passphrase else {
      return unsafe bridge_read_key(key, Int32(key.count), nil)
    }
    return unsafe passphrase.reveal { bytes in
      var text = bytes.map { CChar(bitPattern: $0) } + [0]
      defer { for index in text.indices { text[index] = 0 } }
      return unsafe bridge_read_key(key, Int32(key.count), text)
    }
  }
}

/// A file of certificates or keys.
enum PEMFile {
  private static let largest = 4 << 20

  /// - Throws: `fileReadError`.
  static func bytes(of path: String) throws(AppError) -> [UInt8] {
    guard FileManager.default.isReadableFile(atPath: path),
      let data = FileManager.default.contents(atPath: path), data.count <= largest
    else { throw refused(path, "It cannot be read.") }
    return Array(data)
  }

  static func refused(_ path: String, _ reason: String) -> AppError {
    .fileReadError(path: PeerText.escaped(path), reason: reason)
  }

  /// SHA-256.
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    _ = unsafe SHA256(bytes, bytes.count, &digest)
    return digest
  }
}
