import BridgeErrors
import BridgeWaiting
import CLibCrypto
import CLibWebSockets
import FoundationEssentials

/// OpenSSL's settings for one kind of trust: made once per process, shared by all reactors, never
/// freed.
@safe final class TrustStore: @unchecked Sendable {
  /// What distinguishes one store from another.
  enum Key: Hashable {
    case system
    /// The digest of a PEM file, so that a file that was exchanged is read again.
    case authority([UInt8])
    /// No authority at all: the key itself is known.
    case pinned
  }

  private static let all = Mutex([Key: TrustStore]())
  /// How often the machine's authorities were read.
  static let readings = Mutex(0)
  private static let largestFile = 4 << 20

  let key: Key
  let context: OpaquePointer

  /// The store for `trust`; reads the authorities when it is the first use.
  ///
  /// - Throws: `fileReadError` for a PEM file that cannot be read or holds no certificate,
  ///   `internalError` where OpenSSL refuses.
  static func store(for trust: WebSocketConfiguration.Trust) throws(AppError) -> TrustStore {
    switch trust {
    case .system:
      return try unsafe shared(.system) { context in
        readings.withLock { $0 += 1 }
        return unsafe SSL_CTX_set_default_verify_paths(context) == 1
      }
    case .pinned:
      return try unsafe shared(.pinned) { _ in true }
    case .authority(let file):
      let refused = AppError.fileReadError(
        path: PeerText.escaped(file), reason: "It holds no certificate authority.")
      guard FileManager.default.isReadableFile(atPath: file),
        let data = FileManager.default.contents(atPath: file), data.count <= largestFile
      else {
        throw .fileReadError(path: PeerText.escaped(file), reason: "It cannot be read.")
      }
      do throws(AppError) {
        return try unsafe shared(.authority(digest(Array(data)))) {
          unsafe SSL_CTX_load_verify_file($0, file) == 1
        }
      } catch {
        throw refused
      }
    }
  }

  private static func shared(
    _ key: Key, load: (OpaquePointer) -> Bool
  ) throws(AppError) -> TrustStore {
    try all.withLock { stores throws(AppError) in
      if let known = stores[key] { return known }
      guard let made = unsafe TrustStore(key, load: load) else {
        throw .internalError(detail: "OpenSSL refused the certificate authorities.")
      }
      stores[key] = made
      return made
    }
  }

  private init?(_ key: Key, load: (OpaquePointer) -> Bool) {
    guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { return nil }
    guard unsafe bridge_set_ssl_defaults(context) == 1, unsafe load(context) else {
      unsafe SSL_CTX_free(context)
      return nil
    }
    unsafe HandshakeObserver.attach(to: context)
    self.key = key
    unsafe self.context = context
  }

  private static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    _ = unsafe SHA256(bytes, bytes.count, &digest)
    return digest
  }
}
