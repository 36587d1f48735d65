import Foundation

/// Calls about files that Foundation has not.
enum FileDetails {
  /// Mode, seconds and nanoseconds of the last change; a symbolic link is not followed.
  static func of(_ path: String) -> [Int] {
    var status = stat()
    unsafe lstat(path, &status)
    return [Int(status.st_mode), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }

  static func owner(_ path: String) -> uid_t {
    var status = stat()
    unsafe lstat(path, &status)
    return status.st_uid
  }

  static var isRoot: Bool { geteuid() == 0 }

  static func setOwner(_ path: String, _ user: uid_t) { _ = unsafe chown(path, user, user) }

  static func setMode(_ path: String, _ mode: mode_t) { _ = unsafe chmod(path, mode) }

  static func setTime(_ path: String, seconds: Int, nanoseconds: Int) {
    let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    _ = unsafe utimensat(AT_FDCWD, path, [time, time], 0)
  }

  static func setSize(_ path: String, _ size: Int) { _ = unsafe truncate(path, size) }

  static func isPipe(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  static func makePipe(_ path: String) -> Bool { unsafe mkfifo(path, 0o600) == 0 }

  /// Makes an empty file whose name is these bytes.
  static func make(_ name: [UInt8], in folder: String) -> Bool {
    let path = (Array("\(folder)/".utf8) + name + [0]).map { CChar(bitPattern: $0) }
    let descriptor = unsafe creat(path, 0o600)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }
}
