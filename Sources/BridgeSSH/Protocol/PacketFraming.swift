/// Where the server's packets end (RFC 4253, 6), as libssh2 1.10 shows it without being asked.
///
/// Its `decrypt` ends the process by an assertion when a length inside an encrypted packet was
/// damaged or forged so that it is no multiple of the cipher's block, and nothing in its interface
/// can be asked before. But it reads a packet in two steps: first one block, for the length, then
/// it asks for space for the rest. Given that one block and no more, what it asks for next is the
/// length, and space for a wrong one can be refused.
package struct PacketFraming: Sendable {
  private enum Position: Equatable {
    /// Version lines, which the library reads a byte at a time.
    case versionLines
    /// At a packet's start, so much of its first block handed over.
    case firstBlock(passed: Int)
    /// The library has the first block: what it allocates next is for the rest.
    case length
    /// In what follows the first block, of known length.
    case rest(left: Int, of: Int)
  }

  /// A length was no length: nothing after it can be read.
  package private(set) var isDamaged = false

  private var position = Position.versionLines
  /// The protection of the current packet; nil in clear.
  private var protection: PacketProtection?
  private var isEncrypted = false
  /// The packet under way is SSH_MSG_NEWKEYS, in clear: the next one is encrypted.
  private var isLastInClear = false

  /// Creates an empty parser.
  package init() {}

  /// Whether `protect(with:)` is to be called before `allowance(of:)`: each packet has that of the
  /// last key exchange.
  package var needsProtection: Bool { isEncrypted && position == .firstBlock(passed: 0) }

  /// The next packet is protected with this; nil for one that is not known, which ends it.
  package mutating func protect(with protection: PacketProtection?) {
    self.protection = protection
    if protection == nil { isDamaged = true }
  }

  /// Whether the library has a packet's first block: what it allocates next is for the packet.
  package var awaitsPacket: Bool { position == .length }

  /// How many bytes the library may have now of the `wanted` ones; none when it is over.
  package mutating func allowance(of wanted: Int) -> Int {
    if isDamaged { return 0 }
    switch position {
    case .versionLines:
      guard wanted > 1 else { return wanted }
      position = .firstBlock(passed: 0)
      return min(wanted, blockSize)
    case .firstBlock(let passed): return min(wanted, blockSize - passed)
    case .length:
      // It found the length impossible by itself.
      isDamaged = true
      return 0
    case .rest(let left, _): return min(wanted, left)
    }
  }

  /// Records bytes that the library received.
  package mutating func passed(_ bytes: Span<UInt8>) {
    switch position {
    case .versionLines, .length: break
    case .firstBlock(let passed):
      let now = passed + bytes.count
      position = now < blockSize ? .firstBlock(passed: now) : .length
    case .rest(let left, let whole):
      if !isEncrypted, left == whole, bytes.count > 0 { isLastInClear = bytes[0] == 21 }
      position = .rest(left: left - bytes.count, of: whole)
      if left == bytes.count { endPacket() }
    }
  }

  /// Whether the library may have a block of `count` bytes. False for the rest of a packet whose
  /// length is wrong.
  package mutating func mayAllocate(_ count: Int) -> Bool {
    guard position == .length else { return true }
    let left = Self.lengthFields + count - blockSize
    let clear = Self.lengthFields + count - (protection?.macLength ?? 0)
    guard left > 0, protection == nil || clear % blockSize == 0 else {
      isDamaged = true
      return false
    }
    position = .rest(left: left, of: left)
    return true
  }

  /// The lengths of the packet and of its padding, which libssh2 keeps apart from the rest.
  private static let lengthFields = 5

  /// The number of bytes that libssh2 reads before it checks the length.
  private var blockSize: Int { protection?.blockSize ?? Self.lengthFields }

  private mutating func endPacket() {
    isEncrypted = isEncrypted || isLastInClear
    position = .firstBlock(passed: 0)
  }
}
