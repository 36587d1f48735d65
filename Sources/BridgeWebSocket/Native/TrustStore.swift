import BridgeErrors
import BridgeWaiting
import CLibCrypto
import CLibWebSockets
import FoundationEssentials

/// OpenSSL's settings for one kind of trust and one identity: made once per process, shared by all
/// reactors, never freed.
@safe final class TrustStore: @unchecked Sendable {
  /// What distinguishes one store from another.
  struct Key: Hashable {
    enum Authorities: Hashable {
      case system
      /// The digest of a PEM file, so that a file that was exchanged is read again.
      case file([UInt8])
      /// No authority at all: the key itself is known.
      case pinned
    }

    var authorities: Authorities
    /// The digest of the certificate and its key; nil where none is shown.
    var identity: [UInt8]?
  }

  private static let all = Mutex([Key: TrustStore]())
  /// How often the machine's authorities were read.
  static let readings = Mutex(0)

  let key: Key
  let context: OpaquePointer

  /// The store for `trust`; reads the authorities when it is the first use.
  ///
  /// - Throws: `fileReadError` for a PEM file that cannot be read or holds not what it is for,
  ///   `internalError` where OpenSSL refuses.
  static func store(
    for trust: WebSocketConfiguration.Trust, showing identity: ClientIdentity? = nil
  ) throws(AppError) -> TrustStore {
    var shown: IdentityFiles?
    if let identity { shown = try IdentityFiles(identity) }
    switch trust {
    case .system:
      return try unsafe shared(.system, shown) { context throws(AppError) in
        readings.withLock { $0 += 1 }
        guard unsafe SSL_CTX_set_default_verify_paths(context) == 1 else {
          throw .internalError(detail: "OpenSSL refused the certificate authorities.")
        }
      }
    case .pinned:
      return try unsafe shared(.pinned, shown) { _ throws(AppError) in }
    case .authority(let file):
      let bytes = try PEMFile.bytes(of: file)
      return try unsafe shared(.file(PEMFile.digest(bytes)), shown) { context throws(AppError) in
        guard unsafe SSL_CTX_load_verify_file(context, file) == 1 else {
          throw PEMFile.refused(file, "It holds no certificate authority.")
        }
      }
    }
  }

  private static func shared(
    _ authorities: Key.Authorities, _ identity: IdentityFiles?,
    load: (OpaquePointer) throws(AppError) -> Void
  ) throws(AppError) -> TrustStore {
    let key = Key(authorities: authorities, identity: identity?.digest)
    return try all.withLock { stores throws(AppError) in
      if let known = stores[key] { return known }
      let made = try unsafe TrustStore(key) { context throws(AppError) in
        try unsafe load(context)
        try unsafe identity?.load(into: context)
      }
      stores[key] = made
      return made
    }
  }

  private init(_ key: Key, load: (OpaquePointer) throws(AppError) -> Void) throws(AppError) {
    guard let context = unsafe SSL_CTX_new(TLS_client_method()) else {
      throw .internalError(detail: "OpenSSL has no memory for a client.")
    }
    do throws(AppError) {
      guard unsafe bridge_set_ssl_defaults(context) == 1 else {
        throw .internalError(detail: "OpenSSL refused TLS 1.2.")
      }
      try unsafe load(context)
    } catch {
      unsafe SSL_CTX_free(context)
      throw error
    }
    unsafe HandshakeObserver.attach(to: context)
    self.key = key
    unsafe self.context = context
  }
}
