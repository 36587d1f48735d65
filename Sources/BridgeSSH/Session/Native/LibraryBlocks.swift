import CLibSSH2
import Glibc

/// The blocks of memory that libssh2 holds, each behind a header of ours: their exact sum, which of
/// them are packets of the server, and nothing that the library loses is lost to us.
///
/// Used on the thread that owns the session.
@safe struct LibraryBlocks {
  /// Stands before each block; a multiple of 16 bytes, so that the block is aligned as by `malloc`.
  @safe private struct Header {
    var previous: UnsafeMutablePointer<Header>?
    var next: UnsafeMutablePointer<Header>?
    var count: Int
    var isPacket: Bool
    /// A packet that was looked at while the library keeps it.
    var isSeen = false
  }

  /// The sum of all blocks with their headers, in bytes.
  private(set) var total = 0
  /// How many of them are packets of the server that nothing has taken yet.
  private(set) var packets = 0
  private var first: UnsafeMutablePointer<Header>?
  private static let headerSize = (MemoryLayout<Header>.size + 15) & ~15

  /// A block of `count` bytes; nil when memory is short. Zeros, but for a packet's, which the
  /// library fills at once.
  mutating func allocate(_ count: Int, isPacket: Bool) -> UnsafeMutableRawPointer? {
    let size = Self.headerSize + max(1, count)
    guard let base = unsafe isPacket ? malloc(size) : calloc(1, size) else { return nil }
    let header = unsafe base.bindMemory(to: Header.self, capacity: 1)
    unsafe header.initialize(
      to: Header(previous: nil, next: first, count: count, isPacket: isPacket))
    unsafe first?.pointee.previous = header
    unsafe first = header
    total += size
    packets += isPacket ? 1 : 0
    return unsafe base + Self.headerSize
  }

  /// The content of a block, whether it is a packet of the server, and whether that was looked at.
  static func contents(
    of block: UnsafeMutableRawPointer
  ) -> (bytes: UnsafeMutableRawBufferPointer, isPacket: Bool, isSeen: Bool) {
    let header = unsafe header(of: block)
    return unsafe (
      UnsafeMutableRawBufferPointer(start: block, count: header.pointee.count),
      header.pointee.isPacket, header.pointee.isSeen
    )
  }

  /// Passes the packet that came last to `look`, where the library keeps it and it was not looked
  /// at before; true marks it so.
  func lookAtNewestPacket(_ look: (Span<UInt8>) -> Bool) {
    var header = unsafe first
    while let block = unsafe header, unsafe !block.pointee.isPacket {
      unsafe header = block.pointee.next
    }
    guard let header = unsafe header, unsafe !header.pointee.isSeen else { return }
    let start = unsafe UnsafeRawPointer(header) + Self.headerSize
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: header.pointee.count)
    if unsafe look(bytes.bindMemory(to: UInt8.self).span) { unsafe header.pointee.isSeen = true }
  }

  /// Frees a block, wiped but for the bulk data of large packets.
  mutating func deallocate(_ block: UnsafeMutableRawPointer) {
    let header = unsafe Self.header(of: block)
    let (previous, next) = unsafe (header.pointee.previous, header.pointee.next)
    let (count, isPacket) = unsafe (header.pointee.count, header.pointee.isPacket)
    unsafe previous?.pointee.next = next
    unsafe next?.pointee.previous = previous
    if unsafe previous == nil { unsafe first = next }
    total -= Self.headerSize + max(1, count)
    packets -= isPacket ? 1 : 0
    if !isPacket || count <= Self.wipedPacket { unsafe explicit_bzero(block, count) }
    unsafe free(header)
  }

  /// Frees all remaining blocks: those that the library lost.
  mutating func deallocateAll() {
    while let header = unsafe first {
      unsafe deallocate(UnsafeMutableRawPointer(header) + Self.headerSize)
    }
  }

  /// Larger packets of the server are data of channels.
  private static let wipedPacket = 4096

  private static func header(of block: UnsafeMutableRawPointer) -> UnsafeMutablePointer<Header> {
    unsafe (block - headerSize).assumingMemoryBound(to: Header.self)
  }
}
