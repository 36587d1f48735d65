import BridgeSessionProtocol
import CLibCrypto

/// SHA-256 of bytes that come one after the other; its state between two blocks can be stored and
/// taken up again.
package struct FileHash: Sendable {
  private var hash = SHA256_CTX()
  /// Bytes so far.
  package private(set) var count: UInt64 = 0

  /// Of no bytes yet.
  package init() { unsafe bridge_sha256_begin(&hash) }

  /// After `count` bytes, a multiple of `FileLimits.block`, whose state is known.
  package init(_ state: [UInt8], count: UInt64) {
    self.init()
    guard state.count == FileLimits.state, count.isMultiple(of: FileLimits.block) else { return }
    unsafe bridge_sha256_load(&hash, state, count)
    self.count = count
  }

  /// Adds bytes from `start` on.
  package mutating func add(_ bytes: [UInt8], from start: Int = 0) {
    guard start < bytes.count else { return }
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe bridge_sha256_add(
        &hash, buffer.baseAddress?.advanced(by: start), bytes.count - start)
    }
    count += UInt64(bytes.count - start)
  }

  /// Its state; of use after a whole number of blocks.
  package var state: [UInt8] {
    var (copy, bytes) = (hash, [UInt8](repeating: 0, count: FileLimits.state))
    unsafe bridge_sha256_store(&copy, &bytes)
    return bytes
  }

  /// SHA-256 of all bytes.
  package var digest: [UInt8] {
    var (copy, bytes) = (hash, [UInt8](repeating: 0, count: FileLimits.state))
    unsafe bridge_sha256_end(&copy, &bytes)
    return bytes
  }

  /// Of some bytes at once.
  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hash = FileHash()
    hash.add(bytes)
    return hash.digest
  }
}
