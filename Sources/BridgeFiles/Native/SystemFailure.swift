package import BridgeSessionProtocol
import Glibc

/// A call about a file that failed.
package struct SystemFailure: Error, Equatable {
  /// The number of its error.
  package var code: Int32

  init(_ code: Int32 = errno) { self.code = code }

  /// What the system calls it.
  package var text: String { unsafe String(cString: strerror(code)) }

  package var isMissing: Bool { code == ENOENT }
  package var exists: Bool { code == EEXIST }
  /// O_NOFOLLOW refused a symbolic link, or O_DIRECTORY something else.
  package var isNoDirectory: Bool { code == ELOOP || code == ENOTDIR }

  /// Why a source is not read.
  package var ofSource: FileFault {
    switch code {
    case ENOENT: FileFault(.notFound)
    case EACCES, EPERM: FileFault(.denied)
    case EISDIR: FileFault(.isDirectory)
    case ELOOP, ENXIO: FileFault(.special)
    case _: FileFault(.unreadable, text)
    }
  }

  /// Why a destination is not written.
  package var ofTarget: FileFault {
    switch code {
    case ENOSPC, EDQUOT: FileFault(.noSpace, text)
    case EISDIR: FileFault(.isDirectory)
    case ENOTDIR, ELOOP: FileFault(.notDirectory)
    case _: FileFault(.unwritable, text)
    }
  }
}

/// Runs a call that returns -1 on failure, again when a signal interrupted it.
func checked(_ body: () -> Int32) throws(SystemFailure) -> Int32 {
  while true {
    let result = body()
    if result >= 0 { return result }
    if errno != EINTR { throw SystemFailure() }
  }
}

extension [UInt8] {
  /// With the zero byte that ends a name in C; none of the bytes is one.
  var cName: [CChar] {
    var name = self.map { CChar(bitPattern: $0) }
    name.append(0)
    return name
  }
}
