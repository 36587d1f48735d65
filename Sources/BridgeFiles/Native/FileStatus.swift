package import BridgeSessionProtocol
import Glibc

/// What stat(2) says of a file.
package struct FileStatus: Equatable {
  /// What it is.
  package enum Kind {
    case file
    case directory
    case link
    case special
  }

  package var kind: Kind
  package var size: UInt64
  package var meta: FileMeta
  /// Which file of its file system it is (`st_ino`).
  package var number: UInt64
  /// Which file it is, and which state of it.
  package var identity: [UInt8]

  init(_ status: stat) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: kind = .file
    case S_IFDIR: kind = .directory
    case S_IFLNK: kind = .link
    case _: kind = .special
    }
    size = UInt64(max(0, status.st_size))
    let bits: UInt32 = kind == .directory ? 0o777 | FileMeta.sticky : 0o777
    meta = FileMeta(
      mode: UInt32(status.st_mode) & bits, seconds: Int64(status.st_mtim.tv_sec),
      nanoseconds: UInt32(clamping: status.st_mtim.tv_nsec))
    number = UInt64(status.st_ino)
    let numbers = [
      UInt64(status.st_dev), UInt64(status.st_ino), size,
      UInt64(bitPattern: Int64(status.st_mtim.tv_sec)),
      UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)),
      UInt64(bitPattern: Int64(status.st_ctim.tv_sec)),
      UInt64(bitPattern: Int64(status.st_ctim.tv_nsec)),
    ]
    identity = numbers.flatMap { number in
      (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
    }
  }

  /// Whether the content may be another one: a program can set back the time of its last change,
  /// but not that of its status (stat(2)).
  package func hasChanged(since other: FileStatus) -> Bool { identity != other.identity }
}
