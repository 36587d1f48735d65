import CLibSSH2

/// Unpredictable numbers from the kernel (getrandom(2)), for salts.
struct KernelRandom: RandomNumberGenerator {
  mutating func next() -> UInt64 {
    var word: UInt64 = 0
    // Up to 256 bytes are never interrupted or cut short once the pool is up.
    _ = unsafe getrandom(&word, MemoryLayout<UInt64>.size, 0)
    return word
  }
}
