import CLibCrypto

/// The C libraries for SSH, as they are linked into this process.
public enum SSHLibraries {
  /// The version of libssh2: `1.10.0`.
  public static var libssh2: String { LibSSH2.version }

  /// The version of OpenSSL's libcrypto: `3.0.17`.
  public static var openSSL: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION_STRING) else { return "unknown" }
    return unsafe String(cString: text)
  }
}
