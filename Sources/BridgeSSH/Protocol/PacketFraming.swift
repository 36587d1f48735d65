/// Where the server's packets end (RFC 4253, 6), as libssh2 shows it without being asked.
///
/// Its `decrypt` ends the process by an assertion when a length inside an encrypted packet was
/// damaged or forged so that it is no multiple of the cipher's block, and nothing in its interface
/// can be asked before. But it reads a packet in two steps: first what it needs for the length,
/// then it asks for space for the rest. Given that much and no more, what it asks for next is the
/// length, and space for a wrong one can be refused.
///
/// It also shows what became of a packet that was handed over whole: by what it does next.
package struct PacketFraming: Sendable {
  private enum Position: Equatable {
    /// Version lines, which the library reads a byte at a time.
    case versionLines
    /// At a packet's start, so much handed over of what its length needs.
    case firstBlock(passed: Int)
    /// The library can tell the length: what it allocates next is for the rest.
    case length
    /// In what follows, of known length.
    case rest(left: Int, of: Int)
  }

  /// A length was no length: nothing after it can be read.
  package private(set) var isDamaged = false
  /// A tag was wrong: the packet was changed on its way.
  package private(set) var isForged = false

  private var position = Position.versionLines
  /// The protection of the current packet; nil in clear.
  private var protection: PacketProtection?
  private var isEncrypted = false
  /// The packet under way is SSH_MSG_NEWKEYS, in clear: the next one is encrypted.
  private var isLastInClear = false
  /// The space that the library has for the packet under way.
  private var space = 0
  /// The space of the packet that was handed over whole, while the library has done nothing since:
  /// its tag may still be found wrong.
  private var unchecked: Int?

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

  /// Whether the block of `count` bytes that the library allocates next is for a packet's content.
  package func isPacket(_ count: Int) -> Bool {
    guard protection?.layout == .macOfCiphertext else { return position == .length }
    // What was received stays encrypted, and is decrypted to another place.
    return unchecked.map { protection?.length(allocating: $0) == count } ?? false
  }

  /// Whether the packet that the library frees now may be a forged one: GCM's is decrypted before
  /// its tag is checked, and freed if that is wrong.
  package var mayFreeForged: Bool { protection?.layout == .gcm && unchecked != nil }

  /// Whether nothing of the next packet was handed over.
  package var isBetweenPackets: Bool { position == .firstBlock(passed: 0) }

  /// The library has used what it was given last: it was genuine.
  package mutating func confirm() { unchecked = nil }

  /// A call of the library failed.
  package mutating func callFailed() {
    // It does not get past a length that it finds impossible.
    if position == .length { isDamaged = true }
    if mayFreeForged { isForged = true }
  }

  /// How many bytes the library may have now of the `wanted` ones; none when it is over.
  package mutating func allowance(of wanted: Int) -> Int {
    if isDamaged || isForged { return 0 }
    confirm()
    switch position {
    case .versionLines:
      guard wanted > 1 else { return wanted }
      position = .firstBlock(passed: 0)
      return min(wanted, firstRead)
    case .firstBlock(let passed): return min(wanted, firstRead - passed)
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
      position = now < firstRead ? .firstBlock(passed: now) : .length
    case .rest(let left, let whole):
      if !isEncrypted, left == whole, bytes.count > 0 { isLastInClear = bytes[0] == 21 }
      position = .rest(left: left - bytes.count, of: whole)
      if left == bytes.count { endPacket() }
    }
  }

  /// Whether the library may have a block of `count` bytes. False for the rest of a packet whose
  /// length is wrong, and for a packet that it would read once more.
  package mutating func mayAllocate(_ count: Int) -> Bool {
    guard position == .length else {
      // Finding a wrong tag, chacha20 answers with a number that means a packet, and starts again
      // with the same bytes, for ever. No other block for a packet's content is as large.
      isForged = isForged || (protection?.layout == .chachaPoly && unchecked == count)
      confirm()
      return !isForged
    }
    let whole: Int
    if let protection {
      let length = protection.length(allocating: count)
      isDamaged = isDamaged || !protection.isWhole(length)
      whole = 4 + length + protection.macLength
    } else {
      whole = Self.lengthFields + count
    }
    let left = whole - firstRead
    isDamaged = isDamaged || left <= 0
    guard !isDamaged else { return false }
    position = .rest(left: left, of: left)
    space = count
    return true
  }

  /// The lengths of the packet and of its padding, which libssh2 keeps apart from the rest.
  private static let lengthFields = 5

  /// The number of bytes that libssh2 reads before it checks the length.
  private var firstRead: Int { protection?.firstRead ?? Self.lengthFields }

  private mutating func endPacket() {
    unchecked = space
    isEncrypted = isEncrypted || isLastInClear
    position = .firstBlock(passed: 0)
  }
}
