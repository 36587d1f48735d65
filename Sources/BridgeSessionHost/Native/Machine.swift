import CSessionSystem
import Glibc

/// Clocks, randomness and the identity of this boot.
enum Machine {
  /// A clock that never goes back and runs on while the machine is suspended.
  static var milliseconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }

  /// Seconds since 1970.
  static var seconds: UInt64 { UInt64(max(0, time(nil))) }

  static func entropy() -> UInt64 {
    var value: UInt64 = 0
    while unsafe bridge_random(&value, 8) != 8 {}
    return value
  }

  /// Random for each boot of the machine.
  static let boot: [UInt8] = {
    let folder = try? Directory("/proc/sys/kernel/random")
    let bytes = try? folder?.open("boot_id", O_RDONLY).read(at: 0, count: 36)
    return bytes ?? []
  }()

  /// Whether /proc is mounted.
  static var hasProcesses: Bool { Directory.target(of: "/proc/self/exe") != nil }

  /// The name of this machine.
  static let node: String = {
    var name = [CChar](repeating: 0, count: 65)
    guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }()

  /// From now on freed memory stays with the process until `returnFreedMemory`: buffers come and go
  /// with each read.
  static func keepFreedMemory() { bridge_keep_freed(8 << 20) }

  static func returnFreedMemory() { bridge_return_freed() }

  static func end(_ status: UInt8) -> Never { exit(Int32(status)) }

  /// Writes all bytes to a descriptor that waits; false when its reader is gone.
  @discardableResult
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
      let result = unsafe bytes.withUnsafeBytes { buffer in
        unsafe Glibc.write(
          descriptor, buffer.baseAddress?.advanced(by: written), bytes.count - written)
      }
      if result < 0, errno == EINTR { continue }
      guard result > 0 else { return false }
      written += result
    }
    return true
  }

  /// Reads exactly `count` bytes from a descriptor that waits; nil at its end, or where nothing
  /// comes for `timeout` milliseconds.
  static func read(
    _ count: Int, from descriptor: Int32, timeout: UInt64? = nil
  ) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
      if let timeout, !Poller.isReadable(descriptor, within: timeout) { return nil }
      let left = count - bytes.count
      let more = unsafe [UInt8](unsafeUninitializedCapacity: left) { buffer, filled in
        var result = -1
        repeat {
          result = unsafe Glibc.read(descriptor, buffer.baseAddress, left)
        } while result < 0 && errno == EINTR
        filled = max(0, result)
      }
      guard !more.isEmpty else { return nil }
      bytes += more
    }
    return bytes
  }

  /// Some bytes from a descriptor that waits; nil at its end.
  static func readSome(from descriptor: Int32) -> [UInt8]? {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, filled in
      var result = -1
      repeat {
        result = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      } while result < 0 && errno == EINTR
      filled = max(0, result)
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Whether there is something to read now, or an end.
  static func isReadable(_ descriptor: Int32) -> Bool {
    Poller.isReadable(descriptor)
  }

  /// Standard input and output hold more, where they are pipes or sockets.
  static func widenStandardDescriptors() {
    for number in Int32(0)...1 { bridge_widen(number, 1 << 20) }
  }

  /// Points descriptors 0, 1 and 2 at /dev/null.
  static func releaseStandardDescriptors() {
    let null = unsafe bridge_open_at(AT_FDCWD, "/dev/null", O_RDWR, 0)
    for number in Int32(0)...2 { dup2(null, number) }
    if null > 2 { close(null) }
  }
}
