public import BridgeErrors
import CLibCrypto

/// The C libraries for SSH, as they are linked into this process.
public enum SSHLibraries {
  /// The version of libssh2: `1.10.0`.
  public static var libssh2: String { LibSSH2.version }

  /// The version of libssh2 whose headers this was built with.
  public static var libssh2Headers: String { "\(LibSSH2.builtVersion)" }

  /// Why no SSH connection can be made in this process: libssh2 is of another minor version than
  /// the one that this was built with. `SSHConnection.connect` throws it.
  public static var refusal: AppError? { LibSSH2.refusal }

  /// The version of OpenSSL's libcrypto: `3.0.17`.
  public static var openSSL: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
    return unsafe String(cString: text)
  }
}
