import CLibSSH2
import Glibc

/// libssh2's allocator: bounded, zeroed on the way in and wiped on the way out.
///
/// The largest block of a normal session is 55 KB; a length that a peer invented is refused.
/// libssh2 frees password packets unwiped, and loses a block now and then (the host key, at each
/// key exchange after the first): `LibraryBlocks` remembers every block that was allocated.
enum SessionMemory {
  static let largestBlock = 512 << 10

  static func allocate(
    _ count: Int, _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> UnsafeMutableRawPointer? {
    guard let owner = unsafe SSHSession.owner(abstract) else { return nil }
    return unsafe owner.allocate(count)
  }

  /// Moves the block, because `realloc` would leave an unwiped copy behind.
  static func reallocate(
    _ block: UnsafeMutableRawPointer?, _ count: Int,
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> UnsafeMutableRawPointer? {
    guard let owner = unsafe SSHSession.owner(abstract), let moved = unsafe owner.allocate(count)
    else { return nil }
    guard let block = unsafe block else { return unsafe moved }
    let old = unsafe LibraryBlocks.contents(of: block).bytes
    unsafe moved.copyMemory(from: block, byteCount: min(old.count, count))
    unsafe owner.deallocate(block)
    return unsafe moved
  }

  static func free(
    _ block: UnsafeMutableRawPointer?,
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) {
    guard let block = unsafe block, let owner = unsafe SSHSession.owner(abstract) else { return }
    unsafe owner.deallocate(block)
  }

  /// Gives back the pages of a block that hold nothing but zeros; they read as zeros ever after.
  ///
  /// A libssh2 session is 55 KB, wiped when it is made: nearly all of it is space for the longest
  /// packets, which an idle link never sends.
  static func returnEmptyPages(of block: UnsafeMutableRawPointer) {
    let page = Int(getpagesize())
    let end = unsafe block + LibraryBlocks.contents(of: block).bytes.count
    var start = unsafe block.alignedUp(toMultipleOf: page)
    while unsafe start + page <= end {
      if unsafe start.load(as: UInt8.self) == 0, unsafe memcmp(start, start + 1, page - 1) == 0 {
        // For private memory: the next read maps a page of zeros (madvise(2)).
        _ = unsafe madvise(start, page, MADV_DONTNEED)
      }
      unsafe start += page
    }
  }
}
