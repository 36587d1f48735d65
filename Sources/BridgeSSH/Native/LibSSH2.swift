import BridgeErrors
import CLibCrypto
import CLibSSH2

/// The library as a whole: set up once, never torn down, because tasks of other sessions may live.
enum LibSSH2 {
  /// `libssh2_init` is global and not safe to call from two threads (its man page). OpenSSL is
  /// configured first not to clean up when the process exits: a reactor may be in the middle of a
  /// packet then.
  static let isReady: Bool = {
    guard refusal == nil else { return false }
    let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
    return libssh2_init(0) == 0 && isKept
  }()

  /// Why the library must not be used; nil where it is the one that this was built with.
  static let refusal = LibraryVersion.refusal(
    built: Int(LIBSSH2_VERSION_NUM), running: version)

  /// The version of the headers, for instance `1.10.0`.
  static var builtVersion: LibraryVersion { LibraryVersion(number: Int(LIBSSH2_VERSION_NUM)) }

  /// The version that is linked, to compare; the one this was written for where it cannot be read.
  static var parsedVersion: LibraryVersion { LibraryVersion(version) ?? LibraryVersion(1, 10, 0) }

  /// The version that is linked, for instance `1.10.0`.
  static var version: String {
    guard let text = unsafe libssh2_version(0) else { return "unknown" }
    return unsafe String(cString: text)
  }
}

/// A pointer of the library's, valid during one call.
@safe struct LibraryPointer {
  let raw: OpaquePointer

  init(_ raw: OpaquePointer) { unsafe self.raw = raw }
}

/// The result of one non-blocking call of the library.
enum Attempt<Value> {
  case done(Value)
  /// `LIBSSH2_ERROR_EAGAIN`: call again when more bytes came.
  case again
  /// The code, and the library's text (raw).
  case failed(SSHFailure.Code, String)

  func map<Other>(_ transform: (Value) -> Other) -> Attempt<Other> {
    switch self {
    case .done(let value): .done(transform(value))
    case .again: .again
    case .failed(let code, let text): .failed(code, text)
    }
  }
}

extension Attempt: Sendable where Value: Sendable {}
