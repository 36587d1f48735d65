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

  /// Readable or writable through a description of its own, so that O_NONBLOCK changes no
  /// other one. A socket cannot be opened again: its calls pass MSG_DONTWAIT.
  func reopened(forWriting: Bool) throws(SystemError) -> Channel {
    if try info().isSocket { return Channel(self, isSocket: true) }
    let flags = (forWriting ? O_WRONLY : O_RDONLY) | O_NONBLOCK
    let path = "/proc/self/fd/\(number)"
    let opened = try check("open") { unsafe bridge_open_at(AT_FDCWD, path, flags, 0) }
    return Channel(Descriptor(opened), isSocket: false)
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

/// A descriptor whose reads and writes do not wait.
struct Channel {
  let descriptor: Descriptor
  let isSocket: Bool

  init(_ descriptor: Descriptor, isSocket: Bool) {
    self.descriptor = descriptor
    self.isSocket = isSocket
  }

  enum Input {
    case bytes([UInt8])
    case nothing
    case end
  }

  enum Output: Equatable {
    case wrote(Int)
    case nothing
    case closed
  }

  /// What is there, at most `limit` bytes. An error of the peer is an end.
  func read(_ limit: Int) -> Input {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var result = -1
      repeat {
        result =
          isSocket
          ? unsafe recv(descriptor.number, buffer.baseAddress, limit, Int32(MSG_DONTWAIT))
          : unsafe Glibc.read(descriptor.number, buffer.baseAddress, limit)
        failure = result < 0 ? errno : 0
      } while failure == EINTR
      count = max(0, result)
    }
    if failure == EAGAIN { return .nothing }
    return bytes.isEmpty ? .end : .bytes(bytes)
  }

  /// Writes bytes from `start` on, as many as fit now.
  func write(_ bytes: [UInt8], from start: Int) -> Output {
    start < bytes.count ? write(bytes[start...], []) : .wrote(0)
  }

  /// Writes two parts, as many bytes of them as fit now.
  func write(_ bytes: ArraySlice<UInt8>, _ more: ArraySlice<UInt8>) -> Output {
    unsafe bytes.withUnsafeBytes { first in
      unsafe more.withUnsafeBytes { second in
        while true {
          let result = unsafe bridge_write_parts(
            descriptor.number, isSocket ? 1 : 0, first.baseAddress, first.count,
            second.baseAddress, second.count)
          if result >= 0 { return .wrote(result) }
          if errno == EINTR { continue }
          return errno == EAGAIN ? .nothing : .closed
        }
      }
    }
  }
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
