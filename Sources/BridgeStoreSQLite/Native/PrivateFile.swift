import Glibc

/// A file that only its user reads.
enum PrivateFile {
  /// Creates an empty file where none is: SQLite would make one that every user reads, and its log
  /// has the permissions of the file. A failure is left to SQLite, which then names it.
  static func create(at path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// Whether there is such a file and this process may not write it. It is not opened: closing it
  /// would end the locks that SQLite has on it (https://www.sqlite.org/howtocorrupt.html, 2.2).
  static func isReadOnly(_ path: String) -> Bool {
    unsafe access(path, W_OK) != 0 && [EACCES, EPERM, EROFS].contains(errno)
  }

  /// Whether it has less than the header of a database, 100 bytes, and is not empty: SQLite takes
  /// one byte for nothing, and writes over it (https://www.sqlite.org/fileformat2.html, 1.3).
  static func isCutOff(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && (1..<100).contains(status.st_size)
  }
}
