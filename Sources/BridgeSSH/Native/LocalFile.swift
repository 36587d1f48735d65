package import BridgeErrors
import Glibc

/// Small files of the user, read whole and added to. Calls may wait for a disk: not
/// for a reactor's thread.
package enum LocalFile {
  /// The largest file that is read, in bytes.
  package static let limit = 16 << 20

  /// A file's content, owner and mode.
  package struct Content: Sendable {
    /// The bytes.
    package let bytes: [UInt8]
    /// The permission bits, `0o777` at most.
    package let mode: UInt32
    /// The owner's user id.
    package let owner: UInt32

    /// Whether only this user and root can have written it: OpenSSH's rule for ssh_config.
    package var isOurs: Bool { (owner == 0 || owner == getuid()) && mode & 0o022 == 0 }

    /// The bytes as text, repaired where they are not UTF-8.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// The content of `path`, or nil when there is no such file.
  ///
  /// Waits for no writer: only regular files and devices are read.
  /// - Throws: `filePermissionDenied`, or `fileReadError` with the system's words.
  package static func read(_ path: String, limit: Int = limit) throws(AppError) -> Content? {
    do throws(Unreadable) {
      return try content(of: path, limit: limit)
    } catch {
      throw error.error
    }
  }

  /// A file that cannot be read: the error for its reader, and the `errno` behind it (0 where it is
  /// not the system that refuses).
  struct Unreadable: Error {
    var error: AppError
    var errno: Int32 = 0
  }

  /// As `read`, with the `errno` of a failure.
  static func content(of path: String, limit: Int = limit) throws(Unreadable) -> Content? {
    do throws(AppError) { try refuseZero(path) } catch { throw Unreadable(error: error) }
    do throws(ReadFailure) {
      guard let (descriptor, status) = try opened(path) else { return nil }
      defer { close(descriptor) }
      return Content(
        bytes: try bytes(of: descriptor, limit: limit), mode: UInt32(status.st_mode & 0o777),
        owner: status.st_uid)
    } catch {
      guard error.code != 0 else {
        throw Unreadable(error: .fileReadError(path: path, reason: error.reason))
      }
      throw Unreadable(error: readError(path, error.code), errno: error.code)
    }
  }

  /// Why a file cannot be read.
  struct ReadFailure: Error {
    /// The `errno`; 0 where it is not the system that refuses.
    var code: Int32 = 0
    /// The cause in words.
    var reason: String
  }

  /// As `Content`, of a file that may hold a secret.
  struct SecretContent {
    let bytes: WipedBytes
    let mode: UInt32
    let owner: UInt32

    /// Whether it may hold a secret: OpenSSH's rule for private keys. A file of another owner is
    /// that owner's responsibility.
    var isSecret: Bool { owner != getuid() || mode & 0o077 == 0 }
  }

  /// The content of `path`, which is a secret, or nil when there is no such file. As `read`, but no
  /// copy of it stays in memory.
  static func readSecret(_ path: String, limit: Int) throws(ReadFailure) -> SecretContent? {
    guard let (descriptor, status) = try opened(path) else { return nil }
    defer { close(descriptor) }
    let bytes = WipedBytes(capacity: limit + 1)
    while true {
      let count = bytes.append(from: descriptor)
      guard bytes.count <= limit else {
        throw ReadFailure(reason: "It is larger than \(limit) bytes.")
      }
      if count == 0 {
        return SecretContent(
          bytes: bytes, mode: UInt32(status.st_mode & 0o777), owner: status.st_uid)
      }
      guard count > 0 || errno == EINTR else { throw failed(errno) }
    }
  }

  private static func opened(_ path: String) throws(ReadFailure) -> (Int32, stat)? {
    guard !path.utf8.contains(0), !path.isEmpty else {
      throw ReadFailure(reason: "It is not a path.")
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw failed(errno)
    }
    var status = stat()
    var problem: ReadFailure?
    if unsafe fstat(descriptor, &status) != 0 { problem = failed(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFCHR: break
    case S_IFDIR: problem = failed(EISDIR)
    default: problem = problem ?? ReadFailure(reason: "It is not a regular file.")
    }
    guard let problem else { return (descriptor, status) }
    close(descriptor)
    throw problem
  }

  private static func failed(_ code: Int32) -> ReadFailure {
    ReadFailure(code: code, reason: words(of: code))
  }

  /// Why nothing is found at `path`, in the system's words; nil where something is, which may
  /// forbid to be read.
  package static func absence(of path: String) -> String? {
    guard !path.utf8.contains(0) else { return words(of: ENOENT) }
    return unsafe access(path, F_OK) == 0 ? nil : words(of: errno)
  }

  /// The names in the directory at `path`, unordered; none when it cannot be read. At most 4,096.
  package static func names(in path: String) -> [String] {
    guard !path.utf8.contains(0), let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while names.count < 4096, let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
        unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// The home directory of `user`, or nil when there is no such user.
  package static func home(of user: String) -> String? {
    guard !user.utf8.contains(0) else { return nil }
    var entry = unsafe passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    let result = unsafe getpwnam_r(user, &entry, &buffer, buffer.count, &found)
    guard result == 0, unsafe found != nil, let home = unsafe entry.pw_dir else { return nil }
    return unsafe String(cString: home)
  }

  /// Adds to the file at `path` what `addition` makes of its content (empty when there is none),
  /// all or nothing, in place: as with ssh, mode, owner and links stay, and a file that is mounted
  /// by itself or in a directory that cannot be written is added to all the same. A new file is
  /// 0600, a new directory 0700; a device, such as /dev/null, is written to. Changes by several
  /// processes go one after the other (a lock on the file, waited for one second at most).
  ///
  /// - Throws: what `read` throws, or `filePermissionDenied` and `fileWriteError` of the write.
  package static func append(
    to path: String, addition: (Content?) -> String
  ) throws(AppError) {
    try refuseZero(path)
    try makeDirectory(parent(of: path))
    let old = try read(path)
    guard !isDevice(path) else { return try give(Array(addition(old).utf8), toDevice: path) }
    // Another process may put a new file in its place before the lock is had.
    for _ in 0..<8 {
      let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
      let descriptor = unsafe open(path, flags, 0o600)
      guard descriptor >= 0 else { throw writeError(path, errno) }
      defer { close(descriptor) }
      try takeLock(descriptor, path: path)
      if let size = size(of: descriptor, at: path) {
        return try add(addition(try read(path)), to: descriptor, after: size, path)
      }
    }
    throw .fileWriteError(path: path, reason: "Other processes replace it again and again.")
  }

  /// Takes the lines out of the file at `path` that `numbers` finds in its content, counted from 1,
  /// in place, under the lock of `append`. A file that is not there, and a device, has none.
  ///
  /// - Throws: what `read` throws, or `filePermissionDenied` and `fileWriteError` of the write.
  package static func removeLines(
    of path: String, _ numbers: (Content) -> Set<Int>
  ) throws(AppError) {
    for _ in 0..<8 {
      // What needs no change needs no right to make one.
      guard !isDevice(path), let first = try read(path), !numbers(first).isEmpty else { return }
      let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
      guard descriptor >= 0 else { throw writeError(path, errno) }
      defer { close(descriptor) }
      try takeLock(descriptor, path: path)
      guard size(of: descriptor, at: path) != nil, let content = try read(path) else { continue }
      let lines = content.bytes.split(separator: 10, omittingEmptySubsequences: false)
      let removed = numbers(content)
      let kept = lines.enumerated().filter { !removed.contains($0.offset + 1) }.map(\.element)
      let bytes = [UInt8](kept.joined(separator: [10]))
      let failure = rewrite(bytes, in: descriptor)
      guard failure != 0 else { return }
      _ = rewrite(content.bytes, in: descriptor)
      throw writeError(path, failure)
    }
    throw .fileWriteError(path: path, reason: "Other processes replace it again and again.")
  }

  /// Makes `bytes` the content of an open file: 0, or the `errno`.
  private static func rewrite(_ bytes: [UInt8], in descriptor: Int32) -> Int32 {
    guard lseek(descriptor, 0, SEEK_SET) == 0 else { return errno }
    let failure = writeAll(bytes, to: descriptor)
    guard failure == 0 else { return failure }
    guard ftruncate(descriptor, off_t(bytes.count)) == 0, fsync(descriptor) == 0 else {
      return errno
    }
    return 0
  }

  /// The size of the open file; nil where another one is at `path`.
  private static func size(of descriptor: Int32, at path: String) -> off_t? {
    var (mine, there) = (stat(), stat())
    guard unsafe fstat(descriptor, &mine) == 0, unsafe stat(path, &there) == 0,
      mine.st_ino == there.st_ino, mine.st_dev == there.st_dev
    else { return nil }
    return mine.st_size
  }

  /// A part that was written is taken back.
  private static func add(
    _ text: String, to descriptor: Int32, after size: off_t, _ path: String
  ) throws(AppError) {
    guard !text.isEmpty else { return }
    var failure = writeAll(Array(text.utf8), to: descriptor)
    if failure == 0, fsync(descriptor) != 0 { failure = errno }
    guard failure != 0 else { return }
    _ = ftruncate(descriptor, size)
    throw writeError(path, failure)
  }

  private static func isDevice(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFCHR
  }

  private static func give(_ bytes: [UInt8], toDevice path: String) throws(AppError) {
    guard !bytes.isEmpty else { return }
    let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw writeError(path, errno) }
    defer { close(descriptor) }
    let failure = writeAll(bytes, to: descriptor)
    guard failure == 0 else { throw writeError(path, failure) }
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { all in
        unsafe write(descriptor, all.baseAddress?.advanced(by: written), all.count - written)
      }
      if count > 0 {
        written += count
      } else if count == 0 || errno != EINTR {
        return count == 0 ? EIO : errno
      }
    }
    return 0
  }

  private static func bytes(
    of descriptor: Int32, limit: Int
  ) throws(ReadFailure) -> [UInt8] {
    var result: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe systemRead(descriptor, &chunk, chunk.count)
      if count == 0 { return result }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failed(errno) }
      result += chunk[..<count]
      guard result.count <= limit else {
        throw ReadFailure(reason: "It is larger than \(limit) bytes.")
      }
    }
  }

  private static func systemRead(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int
  ) -> Int {
    unsafe Glibc.read(descriptor, buffer, count)
  }

  private static func makeDirectory(_ path: String) throws(AppError) {
    guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    throw writeError(path, errno)
  }

  private static func takeLock(_ descriptor: Int32, path: String) throws(AppError) {
    for _ in 0..<100 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      // A file system without locks: one write has to do.
      guard errno == EWOULDBLOCK || errno == EINTR else { return }
      _ = poll(nil, 0, 10)
    }
    throw .fileWriteError(path: path, reason: "Another process keeps it locked.")
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func refuseZero(_ path: String) throws(AppError) {
    guard path.utf8.contains(0) || path.isEmpty else { return }
    throw .fileReadError(path: PeerText.escaped(path), reason: "It is not a path.")
  }

  private static func readError(_ path: String, _ code: Int32) -> AppError {
    code == EACCES || code == EPERM
      ? .filePermissionDenied(path: path)
      : .fileReadError(path: path, reason: words(of: code))
  }

  private static func writeError(_ path: String, _ code: Int32) -> AppError {
    code == EACCES || code == EPERM || code == EROFS
      ? .filePermissionDenied(path: path)
      : .fileWriteError(path: path, reason: words(of: code))
  }

  private static func words(of code: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe strerror_r(code, &buffer, buffer.count) == 0 else { return "errno \(code)" }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
  }
}
