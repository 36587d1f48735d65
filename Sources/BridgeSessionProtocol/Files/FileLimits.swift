/// The bounds of the file stream. Sizes are in bytes.
package enum FileLimits {
  /// The versions of the stream that this code speaks; striped files came with the second, a check
  /// with a key with the third, names that are left out with the fourth.
  package static let versions: ClosedRange<UInt8> = 1...4
  /// Follows the marker before the first frame.
  package static let greeting = "files 1\n"
  /// The longest payload of a data frame; a multiple of `unit`.
  package static let data = 64 << 10
  /// The blocks of SHA-256: its state is passed on between two of them only.
  package static let block: UInt64 = 64
  /// The blocks of the check with a key, likewise; a multiple of the others.
  package static let unit: UInt64 = 4096
  /// The length of a stored state, and of a digest.
  package static let state = 32
  /// The length of the key of a check.
  package static let key = 16
  /// The longest name of a file.
  package static let name = 255
  /// The longest target of a symbolic link, and the longest path of a request.
  package static let path = 4095
  /// All patterns of names that are left out.
  package static let exclusion = 32 << 10
  /// The longest name of a boot, and of who writes a part.
  package static let boot = 64
  /// Directories inside each other.
  package static let depth = 128
  /// Names in one directory.
  package static let names = 2_000_000
  /// Entries that were sent and are not settled.
  package static let entries = 4096
  /// Marks that were sent and are not acknowledged.
  package static let marks = 1024
  /// Settled entries after which an acknowledgement is sent at once.
  package static let settled: UInt64 = 64
  /// The longest payload of open, ready and of a fault.
  package static let fields: UInt32 = 128 << 10
}
