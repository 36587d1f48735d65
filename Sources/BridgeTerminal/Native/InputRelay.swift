import Glibc

/// Standard input, read here and passed on by a pipe: a terminal is read as a job may.
package final class InputRelay: Sendable {
  /// What another process reads, until `close`.
  package let descriptor: Int32
  private let reader = DescriptorReader(0)
  private let writer: DescriptorWriter

  /// Nil where the system has no descriptors left.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    descriptor = ends[0]
    writer = DescriptorWriter(ends[1], ownsDescriptor: true)
  }

  /// Passes it on until its end, or until the task is canceled.
  package func run() async {
    while case .bytes(let bytes) = await reader.read(), await writer.write(bytes) == .written {}
    reader.stop()
    writer.finish()
  }

  /// Closes this process's end of what is read: the other process has its own.
  package func close() { Glibc.close(descriptor) }
}
