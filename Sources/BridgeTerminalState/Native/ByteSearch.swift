import Glibc

extension ArraySlice<UInt8> {
  /// The index of the first ESC, SO or SI from `start` on; `endIndex` where there is none. All
  /// output of a terminal passes here, and memchr(3) compares 32 bytes at once.
  func firstControl(from start: Int) -> Int {
    let from = start - startIndex
    let count = unsafe withUnsafeBufferPointer { all -> Int in
      guard let base = all.baseAddress else { return 0 }
      let text = unsafe base + from
      let escape = unsafe Self.distance(to: 0x1B, in: text, all.count - from)
      let shiftOut = unsafe Self.distance(to: 0x0E, in: text, escape)
      return unsafe Self.distance(to: 0x0F, in: text, shiftOut)
    }
    return start + count
  }

  /// How far a byte lies behind `text`; `count` where it is not among so many.
  private static func distance(
    to byte: Int32, in text: UnsafePointer<UInt8>, _ count: Int
  ) -> Int {
    guard let found = unsafe memchr(text, byte, count) else { return count }
    return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(text)
  }
}
