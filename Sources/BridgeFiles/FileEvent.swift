package import BridgeSessionProtocol

/// What an end of a copy reports about an entry.
package enum FileEvent: Sendable, Equatable {
  /// How much there is, as far as the sender knows.
  case totals(files: UInt64, bytes: UInt64)
  /// The length of the file that begins.
  case begun(size: UInt64)
  /// A file is in place. `digest` is its SHA-256; empty where its bytes were compared by another
  /// check, nil where they were not.
  case copied(FilePath, bytes: UInt64, digest: [UInt8]?, hasChanged: Bool)
  /// An entry is not copied.
  case missing(FilePath, FileFault, isTarget: Bool)
  /// Whether the copy lies inside the destination, a directory that was there.
  case placed(isInside: Bool)
  /// The host copies with its own tools, and has one for SHA-256, one for times.
  case hostTools(digests: Bool, times: Bool)
  /// A file goes on at an offset, where a part of it was there.
  case continued(FilePath, at: UInt64)
}

/// How much is settled.
package struct FileProgress: Sendable, Equatable {
  package var files: UInt64 = 0
  package var bytes: UInt64 = 0

  package init() {}
}
