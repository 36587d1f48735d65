import BridgeSessionProtocol
import Foundation
import Glibc

@testable import BridgeSessionHost

/// A process of a test with pipes to its standard input and from its standard output.
final class RunningProcess {
  let process: Int32
  private(set) var input: Channel?
  let output: Channel
  private var status: Int32?

  init(_ arguments: [String], environment: [String: String]) throws {
    let (input, output) = (try BridgeSessionHost.Pipe(), try BridgeSessionHost.Pipe())
    let null = try Directory("/dev").openForReading("null")
    process = try Programs.spawn(
      arguments[0], arguments.map { Array($0.utf8) },
      environment: environment.map { Array("\($0.key)=\($0.value)".utf8) },
      descriptors: [input.reader.number, output.writer.number, null.number])
    try input.writer.setNonblocking()
    try output.reader.setNonblocking()
    self.input = Channel(input.writer, .own)
    self.output = Channel(output.reader, .own)
  }

  deinit { end() }

  /// Kills it, if it still runs, and reaps it.
  func end() {
    guard status == nil else { return }
    kill(process, SIGKILL)
    _ = exitStatus()
  }

  func closeInput() { input = nil }

  /// Waits for its end; its exit status, or 256 and the signal.
  func exitStatus() -> Int32 {
    if let status { return status }
    var code: Int32 = 0
    while unsafe waitpid(process, &code, 0) < 0, errno == EINTR {}
    let found = code & 0x7F == 0 ? (code >> 8) & 0xFF : 256 + (code & 0x7F)
    status = found
    return found
  }

  /// Waits until it can read or (with `writes`) write, at most a second.
  func wait(writes: Bool) {
    var list = PollList<Void>()
    list.add((), output.descriptor.number, reads: true)
    list.add((), input?.descriptor.number ?? -1, writes: writes)
    list.wait(1000)
  }

  /// Its output until it ends; `bytes` are its input.
  func finish(_ bytes: [UInt8] = []) -> (output: [UInt8], status: Int32) {
    var (sent, received) = (0, [UInt8]())
    while true {
      if sent < bytes.count, case .wrote(let count)? = input?.write(bytes, from: sent) {
        sent += count
      }
      if sent == bytes.count { closeInput() }
      switch output.read(64 << 10) {
      case .bytes(let more): received += more
      case .nothing: wait(writes: sent < bytes.count)
      case .end: return (received, exitStatus())
      }
    }
  }
}

enum TestMachine {
  /// Whether the programs under test are built with the thread sanitizer.
  static let isThreadSanitized = unsafe dlsym(nil, "__tsan_init") != nil

  /// Writing to a process that ended must not end the test.
  static let ignoresBrokenPipes: Void = { Programs.ignoreBrokenPipes() }()

  static func kill(_ process: Int32) { Glibc.kill(process, SIGKILL) }

  static func stop(_ process: Int32) { Glibc.kill(process, SIGSTOP) }
  static func resume(_ process: Int32) { Glibc.kill(process, SIGCONT) }

  /// False also for one that has ended and was not reaped: proc_pid_stat(5).
  static func isAlive(_ process: Int32) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    guard let status, let end = status.lastIndex(of: ")") else { return false }
    return !status[end...].dropFirst(2).hasPrefix("Z")
  }

  /// Whether a process holds a lock on a file of this name: proc_pid_fdinfo(5).
  static func locks(_ name: String, process: Int32) -> Bool {
    let files = FileManager.default
    let numbers = (try? files.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
    return numbers.contains { number in
      let path = try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(number)")
      let info = try? String(contentsOfFile: "/proc/\(process)/fdinfo/\(number)", encoding: .utf8)
      return path?.hasSuffix("/\(name)") == true && info?.contains("\nlock:") == true
    }
  }

  static var isRoot: Bool { geteuid() == 0 }

  /// Where the test's own executable is: the products are beside it.
  static var products: URL {
    var path = [CChar](repeating: 0, count: 4096)
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let bytes = path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    let own = URL(fileURLWithPath: String(decoding: bytes, as: UTF8.self))
    return own.deletingLastPathComponent()
  }

  static func pause() { Poller.pause(2) }
}
