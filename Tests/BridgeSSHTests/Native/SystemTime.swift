import BridgeWaiting
import Foundation
import Glibc

/// The seconds of time(2) as libssh2 sees them, which counts its own timeout of a minute with them.
/// For tests in processes of their own.
enum SystemTime {
  fileprivate static let advance = Mutex(0)

  /// Puts libssh2's clock forward; false where this cannot be done.
  static func jump(seconds: Int) -> Bool {
    advance.withLock { $0 += seconds }
    return isRedirected
  }

  private static let isRedirected = redirect()

  /// Has libssh2 call `timeWithJumps` where it calls time(2): in its table of functions from other
  /// libraries (elf(5), DT_JMPREL and DT_RELA).
  private static func redirect() -> Bool {
    guard let base = unsafe base(of: "libssh2.so") else { return false }
    let library = unsafe Library(base: base)
    guard let slot = unsafe library.slot(of: "time") else { return false }
    let page = sysconf(Int32(_SC_PAGESIZE))
    let start = unsafe UnsafeMutableRawPointer(
      bitPattern: UInt(bitPattern: slot) / UInt(page) * UInt(page))
    guard unsafe mprotect(start, page, PROT_READ | PROT_WRITE) == 0 else { return false }
    let replacement: @convention(c) (UnsafeMutablePointer<time_t>?) -> time_t = {
      unsafe timeWithJumps($0)
    }
    unsafe slot.storeBytes(
      of: unsafeBitCast(replacement, to: UInt.self), as: UInt.self)
    return true
  }

  /// Where a library is loaded, from /proc (proc_pid_maps(5)).
  private static func base(of library: String) -> UnsafeMutableRawPointer? {
    let file = FileHandle(forReadingAtPath: "/proc/self/maps")
    let maps = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
    let line = maps.split(separator: "\n").first { $0.contains("/\(library)") }
    guard let address = line?.prefix(while: { $0 != "-" }) else { return nil }
    guard let number = UInt(address, radix: 16) else { return nil }
    return unsafe UnsafeMutableRawPointer(bitPattern: number)
  }

  /// A loaded library.
  @safe private struct Library {
    let base: UnsafeMutableRawPointer

    /// Where the library keeps the address of the function `name`.
    func slot(of name: String) -> UnsafeMutableRawPointer? {
      var tables: [Int: UInt] = [:]
      guard var entry = unsafe dynamicSection() else { return nil }
      while case let tag = unsafe entry.load(as: Int.self), tag != 0 {
        tables[tag] = unsafe entry.load(fromByteOffset: 8, as: UInt.self)
        unsafe entry += 16
      }
      // DT_STRTAB, DT_SYMTAB; DT_JMPREL with DT_PLTRELSZ, DT_RELA with DT_RELASZ.
      guard let names = unsafe table(tables[5]), let symbols = unsafe table(tables[6]) else {
        return nil
      }
      for (start, size) in [(tables[23], tables[2]), (tables[7], tables[8])] {
        guard let rows = unsafe table(start) else { continue }
        for offset in stride(from: 0, to: Int(size ?? 0), by: 24) {
          let symbol = unsafe Int(rows.load(fromByteOffset: offset + 8, as: UInt.self) >> 32)
          let index = unsafe symbols.load(fromByteOffset: symbol * 24, as: UInt32.self)
          let found = unsafe names.advanced(by: Int(index)).assumingMemoryBound(to: CChar.self)
          guard symbol != 0, unsafe strcmp(found, name) == 0 else { continue }
          return unsafe base + Int(rows.load(fromByteOffset: offset, as: UInt.self))
        }
      }
      return nil
    }

    /// The PT_DYNAMIC segment.
    private func dynamicSection() -> UnsafeMutableRawPointer? {
      let headers = unsafe base + Int(base.load(fromByteOffset: 32, as: UInt.self))
      let count = unsafe Int(base.load(fromByteOffset: 56, as: UInt16.self))
      for index in 0..<count
      where unsafe headers.load(fromByteOffset: index * 56, as: UInt32.self) == 2 {
        return unsafe base + Int(headers.load(fromByteOffset: index * 56 + 16, as: UInt.self))
      }
      return nil
    }

    /// The C library has put addresses where the file has offsets.
    private func table(_ address: UInt?) -> UnsafeMutableRawPointer? {
      guard let address else { return nil }
      return unsafe address >= UInt(bitPattern: base)
        ? UnsafeMutableRawPointer(bitPattern: address) : base + Int(address)
    }
  }
}

private func timeWithJumps(_ result: UnsafeMutablePointer<time_t>?) -> time_t {
  var now = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &now)
  let seconds = now.tv_sec + SystemTime.advance.withLock { $0 }
  if let result = unsafe result { unsafe result.pointee = seconds }
  return seconds
}
