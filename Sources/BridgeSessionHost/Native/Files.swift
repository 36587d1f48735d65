import CSessionSystem
import Glibc

/// Files of a directory that is held by its descriptor, so that no path is followed twice.
struct Directory {
  let descriptor: Descriptor

  /// Opens a directory; a symbolic link is refused unless it `follows` one.
  init(
    _ path: String, in parent: Directory? = nil, follows: Bool = false
  ) throws(SystemError) {
    let flags = O_RDONLY | O_DIRECTORY | (follows ? 0 : O_NOFOLLOW)
    let number = parent?.descriptor.number ?? AT_FDCWD
    descriptor = Descriptor(
      try check("open \(path)") { unsafe bridge_open_at(number, path, flags, 0) })
  }

  init(_ descriptor: Descriptor) { self.descriptor = descriptor }

  private var number: Int32 { descriptor.number }

  /// The directory at `path`, made where it is missing.
  ///
  /// - Throws: also where it is one of another user, or others may use it.
  static func ownAlone(_ path: String) throws(SystemError) -> Directory {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw SystemError("mkdir \(path)", errno) }
    let directory = try Directory(path)
    let info = try directory.descriptor.info()
    guard info.user == geteuid(), info.isPrivate else { throw SystemError("open \(path)", EPERM) }
    return directory
  }

  /// Removes a directory that has no files.
  static func removeEmpty(_ path: String) { unsafe rmdir(path) }

  /// Creates a directory that only its owner may use.
  func makeDirectory(_ name: String) throws(SystemError) {
    _ = try check("mkdir \(name)") { unsafe mkdirat(number, name, 0o700) }
  }

  func open(_ name: String, _ flags: Int32) throws(SystemError) -> Descriptor {
    Descriptor(
      try check("open \(name)") { unsafe bridge_open_at(number, name, flags | O_NOFOLLOW, 0o600) })
  }

  /// Whether it was removed while it is open: no file can be made in it again.
  var isRemoved: Bool { (try? descriptor.info().isRemoved) == true }

  /// When a name in it was added or removed, in seconds since 1970.
  var modified: UInt64? { try? descriptor.info().modified }

  /// Opens a file for reading; a pipe or a device in its place does not hold the caller.
  func openForReading(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, O_RDONLY | O_NONBLOCK)
  }

  /// Creates a file for appending and reading, or opens it.
  func create(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, O_RDWR | O_CREAT | O_NONBLOCK)
  }

  /// All bytes of a file; at most `limit`.
  func read(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try openForReading(name)
    let info = try file.info()
    guard info.isFile else { throw SystemError("read \(name)", EINVAL) }
    return try file.read(at: 0, count: min(limit, Int(clamping: info.size)))
  }

  /// All bytes of a file that may be a symbolic link, as those of the system are; at most `limit`.
  func readFollowing(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
    let flags = O_RDONLY | O_NONBLOCK
    let file = Descriptor(
      try check("open \(name)") { unsafe bridge_open_at(number, name, flags, 0) })
    return try file.info().isFile ? file.read(at: 0, count: limit) : []
  }

  /// Replaces a file by its new contents in one step; `syncs` makes it outlive the machine.
  func replace(_ name: String, _ bytes: [UInt8], syncs: Bool) throws(SystemError) {
    let temporary = name + ".new"
    let file = try open(temporary, O_RDWR | O_CREAT | O_TRUNC)
    try file.write(bytes, at: 0)
    if syncs { try file.sync() }
    _ = try check("rename \(name)") { unsafe renameat(number, temporary, number, name) }
    if syncs { try sync() }
  }

  /// Makes a file outlive the machine.
  func sync(_ name: String) throws(SystemError) { try openForReading(name).sync() }

  /// Makes the names in it outlive the machine, where its file system does that by itself or has a
  /// call for it: some network file systems refuse fsync(2) of a directory.
  func sync() throws(SystemError) {
    do throws(SystemError) {
      try descriptor.sync()
    } catch  where [EINVAL, ENOSYS, ENOTSUP].contains(error.code) {
      return
    }
  }

  /// Gives a directory with files in it a name; fails with `exists` where that is taken. rename(2)
  /// puts no directory in the place of a file, or of a directory with files: its flag for that is
  /// refused by network file systems.
  func claim(_ name: String, from temporary: String) throws(SystemError) {
    do throws(SystemError) {
      _ = try check("rename \(name)") { unsafe renameat(number, temporary, number, name) }
    } catch  where error.code == ENOTDIR {
      throw SystemError(error.call, EEXIST)
    }
  }

  /// Marks it and its files as used now: what cleans up directories of temporary files removes
  /// those that were not used for some days (tmpfiles.d(5)).
  func touch() {
    for name in names() { unsafe utimensat(number, name, nil, AT_SYMLINK_NOFOLLOW) }
    futimens(number, nil)
  }

  /// When one of its files was changed or touched last, in seconds since 1970; nil where that
  /// cannot be read.
  var used: UInt64? { names().compactMap { info(of: $0)?.modified }.max() }

  func remove(_ name: String) { unsafe unlinkat(number, name, 0) }

  /// Points a symbolic link elsewhere in one step; nil removes it.
  func link(_ name: String, to target: String?) {
    guard let target else { return remove(name) }
    let temporary = name + ".new"
    remove(temporary)
    guard unsafe symlinkat(target, number, temporary) == 0 else { return remove(name) }
    unsafe renameat(number, temporary, number, name)
  }

  /// Where a symbolic link points.
  func target(of name: String) -> String? { Self.target(of: name, in: number) }

  /// Where a symbolic link points; relative names begin at an open directory.
  static func target(of name: String, in directory: Int32 = AT_FDCWD) -> String? {
    var path = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlinkat(directory, name, &path, path.count)
    guard count > 0, count < path.count else { return nil }
    return String(decoding: path.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Where this directory is now.
  var path: String? {
    Self.target(of: "/proc/self/fd/\(number)").flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// What a name is; nil where there is none. A symbolic link is not followed.
  func info(of name: String) -> FileInfo? {
    var status = stat()
    guard unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return FileInfo(status)
  }

  /// Whether names in it can be looked up.
  var canBeSearched: Bool { unsafe faccessat(number, ".", X_OK, AT_EACCESS) == 0 }

  /// What is at `path`; nil where nothing is.
  static func info(at path: String) -> FileInfo? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return FileInfo(status)
  }

  /// Which file has a name (its inode).
  func number(of name: String) -> UInt64? { info(of: name)?.number }

  /// The socket of a keeper.
  static let socketName = "sock"

  /// Removes a directory and the files in it, and those that another process still adds: an
  /// attachment to a session that is removed records what was committed.
  func removeDirectory(_ name: String) {
    // Opened once: another directory may have taken its name meanwhile.
    let inner = try? Directory(name, in: self)
    for _ in 0..<Self.passes {
      for file in inner?.names() ?? [] { inner?.remove(file) }
      if unsafe unlinkat(number, name, AT_REMOVEDIR) == 0 || errno != ENOTEMPTY { return }
    }
  }

  private static let passes = 16

  /// The names in it, sorted; empty when it cannot be read.
  func names() -> [String] {
    let copy = unsafe bridge_open_at(number, ".", O_RDONLY | O_DIRECTORY, 0)
    guard copy >= 0, let stream = unsafe fdopendir(copy) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Listens on the socket "sock" of this directory.
  func listen() throws(SystemError) -> Descriptor {
    try listen(at: Self.socketName, isStream: false)
  }

  /// A listening socket of this name for programs that connect to it by a path, without messages'
  /// bounds; one that is there is replaced.
  func listen(stream name: String) throws(SystemError) -> Descriptor {
    try listen(at: name, isStream: true)
  }

  private func listen(at name: String, isStream: Bool) throws(SystemError) -> Descriptor {
    remove(name)
    return Descriptor(
      try check("bind") { unsafe bridge_listen(number, name, isStream ? 1 : 0) })
  }

  /// Connects to that socket, which must be this user's. Answers are waited for 10 s, unless
  /// `waitsForever` was called.
  func connect() throws(SystemError) -> Descriptor {
    let connected = Descriptor(
      try check("connect") { unsafe bridge_connect(number, Self.socketName) })
    var user: UInt32 = .max
    guard unsafe bridge_peer_user(connected.number, &user) == 0, user == geteuid() else {
      throw SystemError("connect", EPERM)
    }
    return connected
  }
}

extension Descriptor {
  /// `count` bytes at an offset; fewer at the end of the file.
  func read(at offset: UInt64, count: Int) throws(SystemError) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let part = unsafe UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
        let position = off_t(offset) + off_t(filled)
        let result = unsafe pread(number, part.baseAddress, part.count, position)
        if result < 0, errno == EINTR { continue }
        if result < 0 { failure = errno }
        guard result > 0 else { break }
        filled += result
      }
    }
    guard failure == 0 else { throw SystemError("read", failure) }
    return bytes
  }

  /// Writes all bytes at an offset.
  func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(
          number, buffer.baseAddress?.advanced(by: written), bytes.count - written,
          off_t(offset) + off_t(written))
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { throw SystemError("write", result < 0 ? errno : ENOSPC) }
      written += result
    }
  }

  /// Receives without a limit of time.
  func waitsForever() { bridge_set_timeout(number, 0) }

  func truncate(to size: UInt64) { ftruncate(number, off_t(size)) }

  func sync() throws(SystemError) { _ = try check("fsync") { fsync(number) } }

  /// Takes the lock of its file; false when another description holds it.
  func lock() throws(SystemError) -> Bool { try isTaken(bridge_lock(number)) }

  /// Shares the lock of its file; false when another description holds it alone.
  func share() throws(SystemError) -> Bool { try isTaken(bridge_lock_byte(number, 0, 1, 0)) }

  /// Whether another description holds the lock.
  func isLocked() throws(SystemError) -> Bool {
    try check("lock") { bridge_is_locked(number) } == 1
  }

  private func isTaken(_ result: Int32) throws(SystemError) -> Bool {
    if result == 0 { return true }
    guard errno == EAGAIN || errno == EACCES else { throw SystemError("lock") }
    return false
  }
}
