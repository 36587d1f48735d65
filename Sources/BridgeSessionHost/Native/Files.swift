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

  /// Creates a directory that only its owner may use.
  func makeDirectory(_ name: String) throws(SystemError) {
    _ = try check("mkdir \(name)") { unsafe mkdirat(number, name, 0o700) }
  }

  func open(_ name: String, _ flags: Int32) throws(SystemError) -> Descriptor {
    Descriptor(
      try check("open \(name)") { unsafe bridge_open_at(number, name, flags | O_NOFOLLOW, 0o600) })
  }

  /// When a name in it was added or removed, in seconds since 1970.
  var modified: UInt64? { try? descriptor.info().modified }

  func openForReading(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, O_RDONLY)
  }

  /// Creates a file for appending and reading, or opens it.
  func create(_ name: String) throws(SystemError) -> Descriptor {
    try open(name, O_RDWR | O_CREAT)
  }

  /// All bytes of a file; at most `limit`.
  func read(_ name: String, limit: Int) throws(SystemError) -> [UInt8] {
    let file = try open(name, O_RDONLY)
    return try file.read(at: 0, count: min(limit, Int(try file.info().size)))
  }

  /// Replaces a file by its new contents in one step; `syncs` makes it outlive the machine.
  func replace(_ name: String, _ bytes: [UInt8], syncs: Bool) throws(SystemError) {
    let temporary = name + ".new"
    let file = try open(temporary, O_RDWR | O_CREAT | O_TRUNC)
    try file.write(bytes, at: 0)
    if syncs { try file.sync() }
    _ = try check("rename \(name)") { unsafe renameat(number, temporary, number, name) }
    if syncs { try descriptor.sync() }
  }

  /// Renames; fails with `exists` where the new name is taken.
  func claim(_ name: String, from temporary: String) throws(SystemError) {
    _ = try check("rename \(name)") { unsafe bridge_rename_no_replace(number, temporary, name) }
  }

  func remove(_ name: String) { unsafe unlinkat(number, name, 0) }

  /// Removes a directory and the files in it.
  func removeDirectory(_ name: String) {
    if let inner = try? Directory(name, in: self) {
      for file in inner.names() { inner.remove(file) }
    }
    unsafe unlinkat(number, name, AT_REMOVEDIR)
  }

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
    remove("sock")
    return Descriptor(try check("bind") { bridge_listen(number) })
  }

  func connect() throws(SystemError) -> Descriptor {
    Descriptor(try check("connect") { bridge_connect(number) })
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

  func truncate(to size: UInt64) { ftruncate(number, off_t(size)) }

  func sync() throws(SystemError) { _ = try check("fsync") { fsync(number) } }

  /// Takes the lock of its file; false when another description holds it.
  func lock() -> Bool { bridge_lock(number) == 0 }

  /// True when another description holds the lock.
  var isLocked: Bool { bridge_is_locked(number) == 1 }
}
