import Glibc

/// The end of a file, where records are added.
enum FileTail {
  /// The `errno` of a call that failed.
  struct Failure: Error {
    let errno: Int32
  }

  /// Writes all of `bytes` at the end of the file at `path`, which is there.
  static func append(_ bytes: [UInt8], toFile path: String) throws(Failure) {
    let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    defer { close(descriptor) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else { throw Failure(errno: errno) }
      rest = rest.dropFirst(max(0, count))
    }
  }
}
