import Glibc

/// The terminal that this process was started from.
package enum LoginTerminal {
  /// What distinguishes it from others, and from one of the same name later: the process that has
  /// it as its own (credentials(7)), and when that started. Nil where that is not known.
  package static var identity: String? {
    let leader = getsid(0)
    let file = unsafe open("/proc/\(leader)/stat", O_RDONLY | O_CLOEXEC)
    guard leader > 0, file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = unsafe read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    // The name of the program, in parentheses, may have any character (proc(5)).
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 19 ? "\(leader).\(fields[19])" : nil
  }
}
