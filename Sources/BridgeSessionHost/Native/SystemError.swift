import Glibc

/// A system call that failed.
struct SystemError: Error, Equatable {
  var call: String
  var code: Int32

  init(_ call: String, _ code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  /// The call and the text of its error number.
  var text: String { unsafe "\(call): \(String(cString: strerror(code)))" }

  var isMissing: Bool { code == ENOENT }
  /// The socket is not one that the keeper of this user listens on.
  var isRefused: Bool { [ECONNREFUSED, ENOTSOCK, EPERM, ELOOP, EPROTOTYPE].contains(code) }
  /// The file system has no space, or the login may not write so much.
  var isShortage: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
  /// A wait was over before the other side answered.
  var isTimeout: Bool { code == EAGAIN }
  var exists: Bool { code == EEXIST || code == ENOTEMPTY }
  /// It is there, or may be, and lets this user not in.
  var isDenied: Bool { code == EACCES || code == EPERM }
  /// The file system cannot hold what is needed, or has no locks or no sockets; another one may.
  var isUnsuitablePlace: Bool {
    [
      EROFS, EACCES, EPERM, ENOSPC, EDQUOT, ENOTSUP, ENOENT, ENOTDIR, ENOLCK, ENOSYS, EINVAL,
    ].contains(code)
  }
  /// O_NOFOLLOW refused a symbolic link: with O_DIRECTORY the kernel returns ENOTDIR.
  var isSymbolicLink: Bool { code == ELOOP || code == ENOTDIR }
}

/// Runs a call that returns -1 on failure, again when a signal interrupted it.
func check(_ call: String, _ body: () -> Int32) throws(SystemError) -> Int32 {
  while true {
    let result = body()
    if result >= 0 { return result }
    if errno != EINTR { throw SystemError(call) }
  }
}
