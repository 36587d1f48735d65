/// Permission bits and the time of the last change.
package struct FileMeta: Sendable, Equatable {
  /// The lower nine bits of the mode, and that for a directory of which only an owner may remove
  /// names (sticky). What could give rights that the reader does not have is not passed on.
  package var mode: UInt32
  /// Seconds since 1970.
  package var seconds: Int64
  /// And nanoseconds.
  package var nanoseconds: UInt32

  package init(mode: UInt32, seconds: Int64, nanoseconds: UInt32) {
    self.mode = mode & (0o777 | Self.sticky)
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// S_ISVTX, inode(7).
  package static let sticky: UInt32 = 0o1000

  /// Whether a directory with this mode has that of `other`; it keeps a sticky bit of its own.
  package func hasMode(of other: FileMeta) -> Bool { mode == other.mode | mode & Self.sticky }

  /// Whether the last change was at the same time.
  package func hasTime(of other: FileMeta) -> Bool {
    seconds == other.seconds && nanoseconds == other.nanoseconds
  }

  static let length = 16

  init(_ bytes: ArraySlice<UInt8>) throws(ProtocolError) {
    let start = bytes.startIndex
    self.init(
      mode: UInt32(truncatingIfNeeded: bytes.bigEndian(at: start, count: 4)),
      seconds: Int64(bitPattern: bytes.bigEndian(at: start + 4, count: 8)),
      nanoseconds: UInt32(truncatingIfNeeded: bytes.bigEndian(at: start + 12, count: 4)))
    guard nanoseconds < 1_000_000_000 else { throw .malformedFields("nanoseconds") }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt64(mode), count: 4)
    bytes.append(bigEndian: UInt64(bitPattern: seconds), count: 8)
    bytes.append(bigEndian: UInt64(nanoseconds), count: 4)
    return bytes
  }
}

/// The beginning of a file.
package struct FileStart: Sendable, Equatable {
  package var name: [UInt8]
  /// So many bytes follow, from `offset` on to here.
  package var size: UInt64
  /// The offset of the first byte that follows: what the receiver has already lies before it.
  package var offset: UInt64
  package var meta: FileMeta
  /// Which file this is, for a later channel; at most 64 bytes.
  package var identity: [UInt8]

  package init(
    name: [UInt8], size: UInt64, offset: UInt64, meta: FileMeta, identity: [UInt8]
  ) {
    self.name = name
    self.size = size
    self.offset = offset
    self.meta = meta
    self.identity = identity
  }
}

/// The end of a file.
package struct FileEnd: Sendable, Equatable {
  /// The check of all its bytes: SHA-256, or that with the key of the request. Nil where the sender
  /// has no tool for it.
  package var digest: [UInt8]?
  /// Whether it was changed while it was read: the copy has what it was when it was opened, or a
  /// mixture.
  package var hasChanged: Bool

  package init(digest: [UInt8]?, hasChanged: Bool) {
    self.digest = digest
    self.hasChanged = hasChanged
  }
}

/// Where a host is: which machine, with which home directory, and in which directory there.
package struct FileSite: Sendable, Equatable {
  /// The id of the home directory's sessions; nil where the host has no `bridge-host`, and where
  /// there is none.
  package var home: Identifier?
  /// The name of the machine and the number of the home directory (`st_ino`), as the usual tools
  /// of a host know them.
  package var name: [UInt8]
  /// The number of the directory around what is copied; 0 where it is not known. The home directory
  /// may be on many machines, and others not.
  package var directory: UInt64

  package init(home: Identifier? = nil, name: [UInt8], directory: UInt64 = 0) {
    (self.home, self.directory) = (home, directory)
    self.name = Array(name.prefix(Self.longestName))
  }

  static let length = 24 + longestName
  private static let longestName = 64
  private static let nowhere = [UInt8](repeating: 0, count: 16)

  init(_ payload: ArraySlice<UInt8>) {
    directory = payload.bigEndian(at: payload.startIndex, count: 8)
    let id = Array(payload.dropFirst(8).prefix(16))
    home = id == Self.nowhere ? nil : Identifier(bytes: id)
    name = Array(payload.dropFirst(24))
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: directory, count: 8)
    return bytes + (home?.bytes ?? Self.nowhere) + name
  }

  /// Whether what was copied there is here as well, as far as is known.
  package func isSame(as other: FileSite) -> Bool {
    if let home, let known = other.home { return home == known }
    return name == other.name
  }

  /// Whether it is in the same directory, as far as is known.
  package func hasDirectory(of other: FileSite) -> Bool {
    directory == 0 || other.directory == 0 || directory == other.directory
  }
}

/// One unit of the file stream, read and verified.
package enum FileFrame: Sendable, Equatable {
  /// Client: the first frame.
  case open(FileRequest)
  /// Receiver: where to go on. Only then files flow.
  case ready(FilePoint)
  /// Receiver: all entries below `entry` are settled, and so many bytes of `entry` are written.
  case acknowledge(entry: UInt64, bytes: UInt64)
  /// Receiver: an entry is not written.
  case refused(entry: UInt64, FileFault)
  /// Sender: how much there is, as far as it knows.
  case totals(files: UInt64, bytes: UInt64)
  /// Sender: a directory; what follows is in it, until leave.
  case directory(entry: UInt64, name: [UInt8], FileMeta)
  /// Sender: the directory is complete.
  case leave
  /// Sender: a file; its data follow.
  case file(entry: UInt64, FileStart)
  /// Sender: a symbolic link.
  case link(entry: UInt64, name: [UInt8], target: [UInt8])
  /// Sender: bytes of the file.
  case data(offset: UInt64, [UInt8])
  /// Sender: the state of the check after so many bytes of the file.
  case mark(offset: UInt64, state: [UInt8])
  /// Sender: all bytes of the file were sent.
  case end(size: UInt64, FileEnd)
  /// Sender: an entry cannot be read; where it is the file under way, that is given up.
  case skipped(entry: UInt64, name: [UInt8], FileFault)
  /// Sender: there were so many entries in this stream.
  case done(entries: UInt64)
  /// Receiver: all of them are settled.
  case finished
  /// Either: nothing more is copied.
  case failed(FileFault)
  /// Host: where it is, before all else, where the request asks for that.
  case site(FileSite)

  /// The numbers of the wire.
  enum Kind: UInt8 {
    case open = 1
    case ready, acknowledge, refused, totals, directory, leave, file, link, data, mark, end
    case skipped, done, finished, failed, site

    var lengths: ClosedRange<UInt32> {
      switch self {
      case .open, .ready, .failed: 0...FileLimits.fields
      case .refused: 0...4096
      case .acknowledge, .totals: 8...8
      case .directory: 16...UInt32(FileMeta.length + FileLimits.name)
      case .leave, .done, .finished: 0...0
      case .file: 33...UInt32(33 + 64 + FileLimits.name)
      case .link: 2...UInt32(1 + FileLimits.name + FileLimits.path)
      case .data: 1...UInt32(FileLimits.data)
      case .mark: 32...32
      case .end: 33...33
      case .skipped: 1...4352
      case .site: 24...UInt32(FileSite.length)
      }
    }
  }

  var kind: Kind {
    switch self {
    case .open: .open
    case .ready: .ready
    case .acknowledge: .acknowledge
    case .refused: .refused
    case .totals: .totals
    case .directory: .directory
    case .leave: .leave
    case .file: .file
    case .link: .link
    case .data: .data
    case .mark: .mark
    case .end: .end
    case .skipped: .skipped
    case .done: .done
    case .finished: .finished
    case .failed: .failed
    case .site: .site
    }
  }

  /// The number of its kind, for an error.
  package var number: UInt8 { kind.rawValue }
}
