import Glibc

/// Bytes of a secret, whose memory is overwritten before it is given back. It never moves: no copy
/// of an older part stays behind.
@safe final class WipedBytes {
  private let storage: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  /// Space for `capacity` bytes, none of them there yet.
  init(capacity: Int) {
    unsafe storage = .allocate(byteCount: max(1, capacity), alignment: 1)
  }

  deinit {
    if let start = unsafe storage.baseAddress { unsafe explicit_bzero(start, storage.count) }
    unsafe storage.deallocate()
  }

  /// Whether no more bytes have space.
  var isFull: Bool { unsafe count == storage.count }

  /// Adds a byte; nothing where it is full.
  func append(_ byte: UInt8) {
    guard !isFull else { return }
    unsafe storage[count] = byte
    count += 1
  }

  /// Adds what one read of `descriptor` brings: how many bytes, 0 at the end of the file and where
  /// it is full, or -1 and `errno`.
  func append(from descriptor: Int32) -> Int {
    let space = unsafe UnsafeMutableRawBufferPointer(rebasing: storage[count...])
    guard unsafe !space.isEmpty else { return 0 }
    let result = unsafe read(descriptor, space.baseAddress, space.count)
    count += max(0, result)
    return result
  }

  /// Passes the bytes to `body`.
  func withSpan<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = unsafe UnsafeRawBufferPointer(rebasing: storage[..<count])
    return try body(unsafe bytes.bindMemory(to: UInt8.self).span)
  }
}
