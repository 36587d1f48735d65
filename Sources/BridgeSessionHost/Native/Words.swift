extension [UInt8] {
  /// The little-endian words of 8 bytes from `start` on; returns where fewer bytes are left.
  @inline(__always)
  func forEachWord(from start: Int, _ body: (UInt64) -> Void) -> Int {
    unsafe withUnsafeBytes { buffer in
      var index = start
      while buffer.count - index >= 8 {
        let word = unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        body(UInt64(littleEndian: word))
        index += 8
      }
      return index
    }
  }
}
