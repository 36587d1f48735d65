/// Two running sums over 64-bit words, modulo 2^64 (as Fletcher's): finds changed and moved bytes
/// at the speed of memory.
struct Checksum: Equatable {
  private(set) var first: UInt64 = 0
  private(set) var second: UInt64 = 0
  private var partial: UInt64 = 0
  private var partialCount: UInt64 = 0

  mutating func add(_ bytes: [UInt8]) {
    var index = 0
    while index < bytes.count, partialCount != 0 || bytes.count - index < 8 {
      add(bytes[index])
      index += 1
    }
    var (first, second) = (first, second)
    index = bytes.forEachWord(from: index) { word in
      first &+= word
      second &+= first
    }
    (self.first, self.second) = (first, second)
    while index < bytes.count {
      add(bytes[index])
      index += 1
    }
  }

  /// The sums, with the last word filled with zeros, and the number of its bytes.
  var bytes: [UInt8] {
    var copy = self
    if partialCount > 0 { copy.add(word: partial) }
    return [copy.first, copy.second &+ partialCount].flatMap { value in
      (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - $0 * 8)) }
    }
  }

  private mutating func add(_ byte: UInt8) {
    partial |= UInt64(byte) << (partialCount * 8)
    partialCount += 1
    guard partialCount == 8 else { return }
    add(word: partial)
    (partial, partialCount) = (0, 0)
  }

  private mutating func add(word: UInt64) {
    first &+= word
    second &+= first
  }
}
