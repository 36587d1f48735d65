import BridgeErrors

/// A private key file, looked at before it is used.
package enum KeyFile {
  /// Why it cannot be used.
  package struct Problem: Error {
    /// The cause as a sentence, which may be shown.
    package var reason: String
    /// The `errno` where the system refused to have it read.
    package var errno: Int32 = 0
    /// The key, where the file holds a public one.
    package var publicBlob: [UInt8]?
  }

  /// The public key that belongs to the file at `path`, as OpenSSH finds it: in `path.pub`, in the
  /// file itself, or in the private key there; nil where it is unknown. Blocks.
  static func publicBlob(of path: String) -> [UInt8]? {
    for name in ["\(path).pub", path] {
      guard let file = try? LocalFile.readSecret(name, limit: PrivateKeyInfo.limit) else {
        continue
      }
      if let blob = (try? info(of: file).get())?.publicBlob ?? publicKey(in: file) { return blob }
    }
    return nil
  }

  /// The certificate of the key in the file at `path`, as OpenSSH finds it: where ssh-keygen writes
  /// it, in `path-cert.pub`, or in `path.pub`; nil where there is none. Blocks.
  static func certificate(of path: String) -> UserCertificate? {
    certificate(in: "\(path)-cert.pub") ?? certificate(in: "\(path).pub")
  }

  /// The certificate of a user in the file at `path`; nil where there is none. Blocks.
  static func certificate(in path: String) -> UserCertificate? {
    guard
      let file = try? LocalFile.readSecret(path, limit: PrivateKeyInfo.limit),
      let blob = publicKey(in: file)
    else { return nil }
    return UserCertificate(blob: blob)
  }

  /// Reads the file at `path`. Blocks.
  package static func read(_ path: String) -> Result<PrivateKeyInfo, Problem> {
    let shown = PeerText.escaped(path)
    do throws(LocalFile.ReadFailure) {
      guard let file = try LocalFile.readSecret(path, limit: PrivateKeyInfo.limit + 1) else {
        return .failure(Problem(reason: "There is no key file at \(shown)."))
      }
      return info(of: file)
        .flatMap { file.isSecret ? .success($0) : .failure(.exposed) }
        .mapError { Problem($0, shown, file) }
    } catch {
      return .failure(
        Problem(
          reason: "The key file at \(shown) cannot be read: \(PeerText.escaped(error.reason))",
          errno: error.code))
    }
  }

  private static func info(
    of file: LocalFile.SecretContent
  ) -> Result<PrivateKeyInfo, KeyFileProblem> {
    Result { () throws(KeyFileProblem) in
      try file.bytes.withSpan { text throws(KeyFileProblem) in try PrivateKeyInfo(text) }
    }
  }

  /// The public key in a file that holds no private one.
  fileprivate static func publicKey(in file: LocalFile.SecretContent) -> [UInt8]? {
    guard case .failure(let problem) = info(of: file), [.publicKey, .notAKey].contains(problem)
    else { return nil }
    let copy = file.bytes.withSpan { text in text.bytes(0..<text.count) }
    return HostKey(publicKeyFile: copy)?.blob
  }
}

extension KeyFile.Problem {
  fileprivate init(_ problem: KeyFileProblem, _ path: String, _ file: LocalFile.SecretContent) {
    publicBlob = KeyFile.publicKey(in: file)
    let mode = String(file.mode, radix: 8)
    reason =
      problem == .exposed
      ? "\(problem.reason) Its mode is 0\(mode); run: chmod 600 \(path)"
      : problem.reason(of: path)
  }
}
