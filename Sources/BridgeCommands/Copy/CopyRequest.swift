package import BridgeErrors
import BridgeFiles
package import BridgeSession
package import BridgeSessionProtocol
import BridgeTerminal

/// What a command line of `cp` asks for.
package struct CopyRequest: Sendable, Equatable {
  /// The operands as they were typed.
  package let source: CopyOperand
  package let destination: CopyOperand
  /// HOST of the one that is remote.
  package let host: String
  package let isRecursive: Bool

  /// - Parameter streams: how many connections are to carry a file; nil for one.
  /// - Throws: `validationError` where not exactly one of both is remote, for a number of streams
  ///   that is none, and for streams of a directory.
  package init(
    source: String, destination: String, isRecursive: Bool, streams: Int? = nil
  ) throws(AppError) {
    if let streams {
      let counts = FileStripe.counts
      guard streams == 1 || counts.contains(streams) else {
        throw .validationError(
          field: "--streams", message: "It takes a number from 1 to \(counts.upperBound).")
      }
      guard streams == 1 || !isRecursive else {
        throw .validationError(field: "--streams", message: "It copies one file: -r takes none.")
      }
    }
    self.source = try CopyOperand(source, field: "SRC")
    self.destination = try CopyOperand(destination, field: "DST")
    self.isRecursive = isRecursive
    switch (self.source, self.destination) {
    case (.remote(let host, _), .local), (.local, .remote(let host, _)): self.host = host
    case (.local, .local):
      throw .validationError(
        field: "DST", message: "Neither SRC nor DST is HOST:PATH; cp(1) copies on one machine.")
    case (.remote, .remote):
      throw .validationError(
        field: "DST", message: "SRC and DST are both HOST:PATH; one of them must be here.")
    }
  }

  /// Which end the host is.
  private var role: FileRequest.Role { if case .remote = source { .get } else { .put } }

  /// Makes sure of what can be known before anything is dialed.
  ///
  /// - Throws: `fileNotFound`, `fileReadError`, `filePermissionDenied`.
  package func checkSource() throws(AppError) {
    guard case .local(let path) = source else { return }
    let fault: FileFault
    do throws(SystemFailure) {
      let status = try OpenFile.status(named: Array(path.utf8))
      switch status.kind {
      case .file: return
      case .directory where isRecursive: return
      case .directory: fault = FileFault(.needsRecursion)
      case .link, .special: fault = FileFault(.special)
      }
    } catch {
      fault = error.ofSource
    }
    throw FileFailure.error(
      fault, path: PeerText.escaped(path, limit: 1024), isTarget: false, host: host)
  }

  /// The copy. Its transfer is the same for every run of the same command.
  ///
  /// - Parameters:
  ///   - account: whom the host is reached as, and where.
  ///   - directory: the working directory.
  ///   - key: that of the check of all bytes; nil for SHA-256.
  package func job(
    account: String, directory: String, run: Identifier, key: [UInt8]?
  ) -> FileTransfer.Job {
    let (local, remote) =
      role == .get ? (destination.path, source.path) : (source.path, destination.path)
    let place = local.hasPrefix("/") ? local : "\(directory)/\(local)"
    let text = ["\(role)", account, remote, place, isRecursive ? "r" : ""]
    let digest = FileHash.digest(of: Array(text.joined(separator: "\0").utf8))
    let transfer = Identifier(bytes: Array(digest.prefix(16))) ?? run
    var job = FileTransfer.Job(
      role, local: Array(local.utf8), remote: Array(remote.utf8), name: source.name,
      isRecursive: isRecursive, transfer: transfer, run: run)
    job.key = key
    return job
  }
}
