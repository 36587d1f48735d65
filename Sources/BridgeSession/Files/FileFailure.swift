package import BridgeErrors
package import BridgeSessionProtocol

/// What goes wrong with a copied file, as errors for people: the one place where they are made.
package enum FileFailure {
  /// An entry is not copied.
  ///
  /// - Parameters:
  ///   - path: where it is read, or is to be written, with the host before it where it is there.
  ///   - isTarget: whether the end that writes has found it.
  package static func error(
    _ fault: FileFault, path: String, isTarget: Bool, host: String
  ) -> AppError {
    let reason = reason(fault, host: host)
    switch fault.code {
    case .notFound: return .fileNotFound(path: path)
    case .denied: return .filePermissionDenied(path: path)
    case .noSpace:
      guard let space = fault.space else { return .fileWriteError(path: path, reason: reason) }
      return .insufficientDiskSpace(
        required: Int64(clamping: space.required), available: Int64(clamping: space.available))
    case .violation: return .sshProtocolError(host: host, detail: "bridge-host: \(fault.text)")
    case .version: return .durableSessionHostUnusable(host: host, reason: reason)
    case .isDirectory, .notDirectory, .unwritable, .busy, .mismatch:
      return .fileWriteError(path: path, reason: reason)
    case .unreadable, .special, .shrank, .unsafeName, .unsafeLink, .tooLarge, .needsRecursion:
      return isTarget
        ? .fileWriteError(path: path, reason: reason) : .fileReadError(path: path, reason: reason)
    }
  }

  /// The reason in words.
  package static func reason(_ fault: FileFault, host: String) -> String {
    switch fault.code {
    case .notFound: "there is no such file"
    case .denied: "permission denied"
    case .isDirectory: isDirectory
    case .notDirectory: notDirectory
    case .noSpace: fault.text.isEmpty ? "no space left on the device" : fault.text
    case .unreadable, .unwritable, .violation: fault.text
    case .special: "it is neither a file nor a directory"
    case .shrank: "it became shorter while it was read"
    case .unsafeName: "it has a name that no file can have here"
    case .unsafeLink: "it is a symbolic link that leads out of the copied directory"
    case .busy: otherCopy
    case .mismatch: "what was written is not what was read"
    case .tooLarge: "it has too many directories inside each other, or too many names in one"
    case .needsRecursion: "it is a directory; -r copies directories"
    case .version: "\(SessionFailure.otherVersion) of the file protocol"
    }
  }

  /// Whether a file is not copied because another copy writes it.
  package static func isOfAnotherCopy(_ error: AppError) -> Bool {
    if case .fileWriteError(_, otherCopy) = error { true } else { false }
  }

  private static let isDirectory = "it is a directory"
  private static let notDirectory = "it, or what leads to it, is not an existing directory"

  /// What helps where neither permissions nor space are the cause; nil for other errors.
  package static func remedy(for error: AppError) -> String? {
    let reason: String
    switch error {
    case .fileReadError(_, let text) where [FileFault.nameTooLong, elsewhere, apart].contains(text):
      reason = text
    case .fileWriteError(_, let text): reason = text
    case _: return nil
    }
    return switch true {
    case reason == FileFault.nameTooLong:
      "A name has at most \(FileLimits.name) bytes, a path \(FileLimits.path): "
        + "choose a shorter one."
    case reason == otherCopy:
      "It is ended with Ctrl-C where it runs, or ends when it is done. After that the same command "
        + "goes on with what is there."
    case reason.hasPrefix(notDirectory), reason.hasPrefix(FileFault.noDirectory),
      reason.hasPrefix("Not a directory"),
      reason.hasSuffix(needsDirectory):
      "Make the directory first (`mkdir -p`), or name one that is there."
    case reason.hasPrefix("Too many open files"):
      "Raise the limit there (`ulimit -n`): each directory above a file is one of them."
    case reason == elsewhere:
      "The same command copies all of it to, or from, the machine that answers then."
    case reason == apart: "Without --streams all of it goes to, or comes from, one of them."
    case reason == isDirectory: "A file replaces no directory: name another path."
    case reason == FileFault.specialName: "Name a file, or a directory that it goes into."
    case _: nil
    }
  }

  /// Why a tree, or several sources, are not gone on with.
  static let elsewhere =
    "another machine answers now, or one with another home directory: what was copied before the "
    + "link was lost is on the other one"

  /// Why a file is not copied by several streams.
  static let apart =
    "its streams reach different machines under this name, or one with different home directories"

  private static let otherCopy = "another copy is writing it"

  /// Why a destination does not do for several sources.
  package static let needsDirectory = "several sources need a directory there"

  /// The other end broke the protocol.
  package static func error(_ violation: ProtocolError, host: String) -> AppError {
    .sshProtocolError(host: host, detail: "the file stream of bridge-host: \(violation)")
  }
}
