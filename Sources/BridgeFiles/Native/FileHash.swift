import BridgeSessionProtocol
import CLibCrypto

/// The check over the bytes of a file, one after the other, that both ends of a copy compare; its
/// state between two blocks can be stored and taken up again.
///
/// With the key of a copy it is a chain of GHASH, in a fifth of the time of SHA-256 where a
/// processor multiplies without carries. Only the two ends know the key, which is random: other
/// bytes have the same check with a probability below 2^-100 for each GiB.
package struct FileHash: Sendable {
  private enum Algorithm {
    case sha256(SHA256_CTX)
    case keyed(KeyedChain)
  }

  private var algorithm: Algorithm
  /// Bytes so far.
  package private(set) var count: UInt64 = 0

  /// Of no bytes yet: SHA-256, or with a key of 16 bytes the chain.
  package init(key: [UInt8]? = nil) {
    if let key {
      algorithm = .keyed(KeyedChain(key))
      return
    }
    var hash = SHA256_CTX()
    unsafe bridge_sha256_begin(&hash)
    algorithm = .sha256(hash)
  }

  /// After `count` bytes, a multiple of the blocks, whose state is known; else of no bytes.
  package init(_ state: [UInt8], count: UInt64, key: [UInt8]? = nil) {
    self.init(key: key)
    guard state.count == FileLimits.state else { return }
    switch algorithm {
    case .sha256(var hash):
      guard count.isMultiple(of: FileLimits.block) else { return }
      unsafe bridge_sha256_load(&hash, state, count)
      algorithm = .sha256(hash)
    case .keyed(var chain):
      guard count.isMultiple(of: FileLimits.unit) else { return }
      chain.state = Array(state.prefix(KeyedChain.length))
      algorithm = .keyed(chain)
    }
    self.count = count
  }

  /// Adds bytes from `start` on.
  package mutating func add(_ bytes: [UInt8], from start: Int = 0) {
    guard start < bytes.count else { return }
    count += UInt64(bytes.count - start)
    switch algorithm {
    case .sha256(var hash):
      unsafe bytes.withUnsafeBytes { buffer in
        unsafe bridge_sha256_add(
          &hash, buffer.baseAddress?.advanced(by: start), bytes.count - start)
      }
      algorithm = .sha256(hash)
    case .keyed(var chain):
      // Its buffer is not to be copied for that.
      algorithm = .keyed(KeyedChain([]))
      chain.add(bytes[start...])
      algorithm = .keyed(chain)
    }
  }

  /// Its state; of use after a whole number of blocks.
  package var state: [UInt8] {
    switch algorithm {
    case .sha256(var hash):
      var bytes = [UInt8](repeating: 0, count: FileLimits.state)
      unsafe bridge_sha256_store(&hash, &bytes)
      return bytes
    case .keyed(let chain): return chain.padded
    }
  }

  /// The check of all bytes.
  package var digest: [UInt8] {
    switch algorithm {
    case .sha256(var hash):
      var bytes = [UInt8](repeating: 0, count: FileLimits.state)
      unsafe bridge_sha256_end(&hash, &bytes)
      return bytes
    case .keyed(let chain): return chain.ended(count).padded
    }
  }

  /// SHA-256 of some bytes at once.
  package static func digest(of bytes: [UInt8]) -> [UInt8] {
    var hash = FileHash()
    hash.add(bytes)
    return hash.digest
  }
}

/// Blocks of 4 KiB, each hashed with the state before it.
private struct KeyedChain {
  static let length = 16
  private static let block = Int(FileLimits.unit)

  private let key: [UInt8]
  var state = [UInt8](repeating: 0, count: length)
  /// Less than a block.
  private var rest: [UInt8] = []

  init(_ key: [UInt8]) { self.key = key }

  var padded: [UInt8] { state + [UInt8](repeating: 0, count: FileLimits.state - Self.length) }

  mutating func add(_ bytes: ArraySlice<UInt8>) {
    var bytes = bytes
    if !rest.isEmpty {
      let missing = bytes.prefix(Self.block - rest.count)
      rest += missing
      bytes = bytes.dropFirst(missing.count)
      guard rest.count == Self.block else { return }
      advance(rest[...], by: Self.block)
      rest = []
    }
    let whole = bytes.count / Self.block * Self.block
    advance(bytes.prefix(whole), by: Self.block)
    rest = Array(bytes.dropFirst(whole))
  }

  /// Closed by what is no whole block, and by the length of all.
  func ended(_ count: UInt64) -> KeyedChain {
    var chain = self
    if !rest.isEmpty { chain.advance(rest[...], by: rest.count) }
    let length = (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * UInt64($0))) }
    chain.advance(length[...], by: length.count)
    return chain
  }

  private mutating func advance(_ bytes: ArraySlice<UInt8>, by size: Int) {
    guard !bytes.isEmpty else { return }
    let isDone = unsafe bytes.withUnsafeBytes { buffer in
      unsafe bridge_ghash_chain(key, &state, buffer.baseAddress, buffer.count / size, size)
    }
    precondition(isDone == 1, "no memory for a hash")
  }
}
