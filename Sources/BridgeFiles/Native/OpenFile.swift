package import BridgeSessionProtocol
import CSessionSystem
import Glibc

/// An open file or directory; closed with the last reference to it. Names are of one directory:
/// none is followed further unless it says so.
package final class OpenFile {
  private let number: Int32

  private init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  private static func open(
    _ path: [UInt8], in directory: OpenFile?, _ flags: Int32, mode: UInt32 = 0o600
  ) throws(SystemFailure) -> OpenFile {
    let start = directory?.number ?? AT_FDCWD
    let name = path.cName
    return OpenFile(try checked { unsafe bridge_open_at(start, name, flags, mode) })
  }

  /// Opens a path that the user named: symbolic links in it are followed.
  package static func named(_ path: [UInt8]) throws(SystemFailure) -> OpenFile {
    try open(path, in: nil, O_RDONLY | O_NONBLOCK)
  }

  /// Opens a directory that the user named.
  package static func directory(named path: [UInt8]) throws(SystemFailure) -> OpenFile {
    try open(path, in: nil, O_RDONLY | O_DIRECTORY)
  }

  /// Opens a directory of this one, which is no symbolic link.
  package func directory(_ name: [UInt8]) throws(SystemFailure) -> OpenFile {
    try Self.open(name, in: self, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  }

  /// Opens a file of this directory for reading; a pipe in its place does not hold the caller.
  package func file(_ name: [UInt8]) throws(SystemFailure) -> OpenFile {
    try Self.open(name, in: self, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  }

  /// Creates a file of this directory, which must not be there.
  package func create(_ name: [UInt8]) throws(SystemFailure) -> OpenFile {
    try Self.open(name, in: self, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
  }

  /// Opens a file of this directory for writing, which only this user has: in a directory where
  /// others may write, one of them could have put it there, and keep it open.
  ///
  /// - Throws: EPERM for any other file.
  package func reopen(_ name: [UInt8]) throws(SystemFailure) -> OpenFile {
    let file = try Self.open(name, in: self, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    var status = stat()
    _ = try checked { unsafe fstat(file.number, &status) }
    let isFile = status.st_mode & S_IFMT == S_IFREG
    guard isFile, status.st_uid == geteuid(), status.st_nlink == 1 else {
      throw SystemFailure(EPERM)
    }
    return file
  }

  /// What this is.
  package func status() throws(SystemFailure) -> FileStatus {
    var status = stat()
    _ = try checked { unsafe fstat(number, &status) }
    return FileStatus(status)
  }

  /// What a name of this directory is.
  package func status(of name: [UInt8]) throws(SystemFailure) -> FileStatus {
    try Self.status(name, in: number, AT_SYMLINK_NOFOLLOW)
  }

  /// What a symbolic link of this directory leads to.
  func followedStatus(of name: [UInt8]) throws(SystemFailure) -> FileStatus {
    try Self.status(name, in: number, 0)
  }

  /// What is at a path that the user named.
  package static func status(named path: [UInt8]) throws(SystemFailure) -> FileStatus {
    try status(path, in: AT_FDCWD, 0)
  }

  private static func status(
    _ path: [UInt8], in directory: Int32, _ flags: Int32
  ) throws(SystemFailure) -> FileStatus {
    var status = stat()
    let name = path.cName
    _ = try checked { unsafe fstatat(directory, name, &status, flags) }
    return FileStatus(status)
  }

  /// The names in this directory, sorted; nil for more than `limit`.
  package func names(limit: Int) throws(SystemFailure) -> [[UInt8]]? {
    let copy = try checked { unsafe bridge_open_at(number, ".", O_RDONLY | O_DIRECTORY, 0) }
    guard let stream = unsafe fdopendir(copy) else {
      close(copy)
      throw SystemFailure()
    }
    defer { unsafe closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        unsafe Array(bytes.prefix { $0 != 0 })
      }
      guard FileName(name) != nil else { continue }
      guard names.count < limit else { return nil }
      names.append(name)
    }
    names.sort { $0.lexicographicallyPrecedes($1) }
    return names
  }

  /// Where a symbolic link of this directory points.
  package func target(of name: [UInt8]) throws(SystemFailure) -> [UInt8] {
    var path = [CChar](repeating: 0, count: FileLimits.path + 1)
    let name = name.cName
    let count = unsafe readlinkat(number, name, &path, path.count)
    guard count >= 0 else { throw SystemFailure() }
    return path.prefix(count).map { UInt8(bitPattern: $0) }
  }

  package func makeDirectory(_ name: [UInt8]) throws(SystemFailure) {
    let name = name.cName
    _ = try checked { unsafe mkdirat(number, name, 0o700) }
  }

  /// Gives a file of this directory its name, in place of what has it.
  package func rename(_ old: [UInt8], to new: [UInt8]) throws(SystemFailure) {
    let (old, new) = (old.cName, new.cName)
    _ = try checked { unsafe renameat(number, old, number, new) }
  }

  package func remove(_ name: [UInt8]) {
    let name = name.cName
    _ = unsafe unlinkat(number, name, 0)
  }

  package func makeLink(_ name: [UInt8], to target: [UInt8]) throws(SystemFailure) {
    let (name, target) = (name.cName, target.cName)
    _ = try checked { unsafe symlinkat(target, number, name) }
  }

  /// Sets permission bits and the time of the last change of a directory, which keeps what its
  /// parent or its owner gave it beside them: the group of what is made in it, who may remove that.
  package func setDirectory(_ meta: FileMeta) throws(SystemFailure) {
    var status = stat()
    _ = try checked { unsafe fstat(number, &status) }
    try set(meta, beside: status.st_mode & 0o3000)
  }

  /// Sets permission bits and the time of the last change of a file.
  package func set(_ meta: FileMeta) throws(SystemFailure) {
    var meta = meta
    meta.mode &= 0o777
    try set(meta, beside: 0)
  }

  private func set(_ meta: FileMeta, beside others: mode_t) throws(SystemFailure) {
    _ = try checked { fchmod(number, mode_t(meta.mode) | others) }
    let times = [
      timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2),  // UTIME_OMIT
      timespec(tv_sec: Int(meta.seconds), tv_nsec: Int(meta.nanoseconds)),
    ]
    _ = try checked { unsafe futimens(number, times) }
  }

  /// Takes the owner and the group of the file that it replaces, as far as this user may give them
  /// away: a write into that file would leave them. Not where every user may make names, for the
  /// file may be a trap of another one.
  func takeOwner(of name: [UInt8], in directory: OpenFile) {
    var (own, old, place) = (stat(), stat(), stat())
    let name = name.cName
    guard unsafe fstat(number, &own) == 0, unsafe fstat(directory.number, &place) == 0,
      place.st_mode & S_IWOTH == 0,
      unsafe fstatat(directory.number, name, &old, AT_SYMLINK_NOFOLLOW) == 0,
      old.st_mode & S_IFMT == S_IFREG
    else { return }
    if own.st_uid != old.st_uid, fchown(number, old.st_uid, old.st_gid) == 0 { return }
    if own.st_gid != old.st_gid { _ = fchown(number, uid_t.max, old.st_gid) }
  }

  /// Whether a name of a directory is that of this file.
  package func isNamed(_ name: [UInt8], in directory: OpenFile) -> Bool {
    guard let own = try? status(), let named = try? directory.status(of: name) else { return false }
    // Device and number.
    return own.identity.prefix(16) == named.identity.prefix(16)
  }

  /// Lets its owner make names in this directory, whatever its mode says.
  package func allowNames() {
    guard let mode = try? status().meta.mode, mode & 0o700 != 0o700 else { return }
    _ = fchmod(number, mode_t(mode | 0o700))
  }

  /// Whether this has another mode than `meta` and another owner, who alone may change it.
  package func keepsMode(insteadOf meta: FileMeta) -> Bool {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, !FileStatus(status).meta.hasMode(of: meta) else {
      return false
    }
    return fchmod(number, status.st_mode & 0o7777) < 0 && errno == EPERM
  }

  /// Bytes that are free in this file system, those that are kept for some users included: who may
  /// use them only the file system knows. Nil where it has no size, or none that is known.
  package var freeSpace: UInt64? {
    var status = statvfs()
    guard unsafe fstatvfs(number, &status) == 0, status.f_blocks > 0 else { return nil }
    return UInt64(status.f_bfree) &* UInt64(status.f_frsize)
  }

  /// Bytes that its content takes in the file system; holes take none.
  package var allocated: UInt64 {
    var status = stat()
    // In units of 512 bytes, whatever the file system has: inode(7).
    return unsafe fstat(number, &status) == 0 ? UInt64(status.st_blocks) &* 512 : 0
  }

  package func truncate(to size: UInt64) throws(SystemFailure) {
    _ = try checked { ftruncate(number, off_t(size)) }
  }

  /// Takes the lock of the file; false when another open file has it.
  ///
  /// Some network disks have no locks: nothing keeps two writers apart there, and each may go on.
  package func lock() -> Bool {
    bridge_lock(number) == 0 || [ENOLCK, ENOSYS, EINVAL, EOPNOTSUPP].contains(errno)
  }

  /// Likewise, where no other process has it for longer than a moment: one that is being started
  /// shares it until its program runs.
  package func lockSoon() -> Bool {
    for _ in 0..<Self.lockAttempts {
      if lock() { return true }
      _ = poll(nil, 0, Self.lockPause)
    }
    return lock()
  }

  private static let lockAttempts = 10
  /// In milliseconds.
  private static let lockPause: Int32 = 5

  /// How a lock of one byte is held.
  enum ByteLock: Int32 {
    case none
    case shared
    case alone
  }

  /// Changes the lock of one byte; false where another open file has it in a way that does not
  /// allow this.
  ///
  /// - Parameter waits: whether the call holds its caller up until that is over.
  func lock(byte: Int, _ mode: ByteLock, waits: Bool = false) -> Bool {
    bridge_lock_byte(number, byte, mode.rawValue, waits ? 1 : 0) == 0
  }

  /// Where, from `offset` on, the bytes end that were written: a block of the file system further
  /// at most. The end of the file where that keeps no holes (lseek(2)).
  func endOfData(from offset: UInt64) throws(SystemFailure) -> UInt64 {
    guard offset < UInt64(Int64.max) else { return offset }
    let end = lseek(number, off_t(offset), 4)  // SEEK_HOLE
    if end >= 0 { return UInt64(end) }
    // The file ends before.
    guard errno == ENXIO else { throw SystemFailure() }
    return offset
  }

  /// Adds up to `count` bytes from an offset on to `bytes`; fewer at the end of the file.
  package func read(
    at offset: UInt64, count: Int, into bytes: inout [UInt8]
  ) throws(SystemFailure) {
    var failure: Int32 = 0
    bytes.append(addingCapacity: count) { span in
      unsafe span.withUnsafeMutableBufferPointer { buffer, filled in
        while filled < count {
          let place = off_t(offset) + off_t(filled)
          let result = unsafe pread(
            number, buffer.baseAddress?.advanced(by: filled), count - filled, place)
          if result < 0, errno == EINTR { continue }
          if result < 0 { failure = errno }
          guard result > 0 else { return }
          filled += result
        }
      }
    }
    guard failure == 0 else { throw SystemFailure(failure) }
  }

  /// Writes all bytes at an offset.
  package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemFailure) {
    var written = 0
    while written < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(
          number, buffer.baseAddress?.advanced(by: written), bytes.count - written,
          off_t(offset) + off_t(written))
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw SystemFailure(result < 0 ? errno : ENOSPC) }
      written += result
    }
  }
}
