import CLibSSH2

/// Unpredictable numbers from the kernel (getrandom(2)), for salts; fetched a few at a time.
struct KernelRandom: RandomNumberGenerator {
  private var words: [UInt64] = []

  mutating func next() -> UInt64 {
    if words.isEmpty {
      words = [UInt64](repeating: 0, count: 8)
      // Up to 256 bytes are never interrupted or cut short once the pool is up.
      _ = unsafe getrandom(&words, words.count * MemoryLayout<UInt64>.size, 0)
    }
    return words.removeLast()
  }
}
