import Glibc

/// Compares long pieces: element by element is slow in a debug build.
func areSame(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> Bool {
  unsafe left.withUnsafeBytes { left in
    unsafe right.withUnsafeBytes { right in
      guard left.count == right.count else { return false }
      guard let first = left.baseAddress, let second = right.baseAddress else { return true }
      return unsafe memcmp(first, second, left.count) == 0
    }
  }
}
