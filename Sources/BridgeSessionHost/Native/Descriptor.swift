import CSessionSystem
import Glibc

/// An open descriptor; closed with the last reference to it.
final class Descriptor {
  /// -1 once it was closed.
  private(set) var number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { closeNow() }

  func closeNow() {
    if number >= 0 { close(number) }
    number = -1
  }

  /// No program that is started inherits it.
  func closesOnExec() { _ = bridge_close_on_exec(number) }

  /// What the file behind it is.
  func info() throws(SystemError) -> FileInfo {
    var status = stat()
    _ = try check("fstat") { unsafe fstat(number, &status) }
    return FileInfo(status)
  }

  /// A channel over this descriptor, which other processes may share: nothing is changed for them.
  func channel(forWriting: Bool) -> Channel {
    if (try? info())?.isSocket == true { return Channel(self, .socket) }
    let flags = (forWriting ? O_WRONLY : O_RDONLY) | O_NONBLOCK
    let path = "/proc/self/fd/\(number)"
    // A pipe that another user has made cannot be opened again, nor any where there is no /proc.
    let opened = unsafe bridge_open_at(AT_FDCWD, path, flags, 0)
    return opened >= 0 ? Channel(Descriptor(opened), .own) : Channel(self, .shared)
  }

  /// Makes a pipe or a socket hold 512 KiB, where the user's share of such memory allows it
  /// (pipe(7), pipe-user-pages-soft; socket(7), wmem_max): one of the usual 64 or 208 KiB stops its
  /// writer twice as often.
  func widen() { bridge_widen(number, 512 << 10) }

  func setNonblocking() throws(SystemError) {
    _ = try check("fcntl") { bridge_set_nonblocking(number) }
  }
}

/// The parts of stat(2) that are used.
struct FileInfo: Equatable {
  var user: UInt32
  var mode: UInt32
  var size: UInt64
  var number: UInt64
  /// Seconds since 1970.
  var modified: UInt64
  /// No name leads to it any more.
  var isRemoved: Bool

  init(_ status: stat) {
    user = status.st_uid
    number = UInt64(status.st_ino)
    mode = status.st_mode
    size = UInt64(max(0, status.st_size))
    modified = UInt64(max(0, status.st_mtim.tv_sec))
    isRemoved = status.st_nlink == 0
  }

  var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
  var isFile: Bool { mode & S_IFMT == S_IFREG }
  var isSocket: Bool { mode & S_IFMT == S_IFSOCK }
  /// Permission bits of the group and of others.
  var isPrivate: Bool { mode & 0o077 == 0 }
}

/// Both ends of a pipe.
struct Pipe {
  let reader: Descriptor
  let writer: Descriptor

  init() throws(SystemError) {
    var ends: [Int32] = [0, 0]
    _ = try check("pipe") { unsafe bridge_pipe(&ends) }
    reader = Descriptor(ends[0])
    writer = Descriptor(ends[1])
  }
}
