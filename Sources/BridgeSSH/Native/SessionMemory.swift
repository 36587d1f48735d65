import CLibSSH2
import Foundation

/// libssh2's allocator: bounded, small blocks zeroed on the way in and wiped on the way out.
///
/// The largest block of a normal session is 55 KB; a length that a peer invented is refused.
/// libssh2 frees password packets unwiped, and loses a block now and then (the host key, at each
/// key exchange after the first; the private key of one that is given up): the session remembers
/// what it lent. Blocks over `smallBlock` are bulk data and are left as they are, for speed.
enum SessionMemory {
  static let largestBlock = 512 << 10
  static let smallBlock = 4096

  static func allocate(
    _ count: Int, _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> UnsafeMutableRawPointer? {
    let owner = unsafe SSHSession.owner(abstract)
    guard count <= largestBlock, owner?.framing.mayAllocate(count) != false else { return nil }
    let block = unsafe count <= smallBlock ? calloc(1, max(1, count)) : malloc(count)
    if let block = unsafe block { unsafe owner?.note(lent: block) }
    return unsafe block
  }

  static func reallocate(
    _ block: UnsafeMutableRawPointer?, _ count: Int,
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> UnsafeMutableRawPointer? {
    guard count <= largestBlock else { return nil }
    guard let moved = unsafe realloc(block, max(1, count)) else { return nil }
    let owner = unsafe SSHSession.owner(abstract)
    if let block = unsafe block { unsafe owner?.note(returned: block) }
    unsafe owner?.note(lent: moved)
    return unsafe moved
  }

  static func free(
    _ block: UnsafeMutableRawPointer?,
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) {
    guard let block = unsafe block else { return }
    let owner = unsafe SSHSession.owner(abstract)
    unsafe owner?.note(returned: block)
    let count = unsafe malloc_usable_size(block)
    if count <= smallBlock {
      let bytes = unsafe UnsafeMutableRawBufferPointer(start: block, count: count)
      unsafe owner?.see(freed: UnsafeRawBufferPointer(bytes))
      unsafe explicit_bzero(block, count)
    }
    unsafe CLibSSH2.free(block)
  }

  /// Gives back the pages of a block that hold nothing but zeros; they read as zeros ever after.
  ///
  /// A libssh2 session is 55 KB, wiped when it is made: nearly all of it is room for the longest
  /// packets, which an idle link never sends.
  static func returnEmptyPages(of block: UnsafeMutableRawPointer) {
    let page = Int(getpagesize())
    let end = unsafe block + malloc_usable_size(block)
    var start = unsafe block.alignedUp(toMultipleOf: page)
    while unsafe start + page <= end {
      if unsafe start.load(as: UInt8.self) == 0, unsafe memcmp(start, start + 1, page - 1) == 0 {
        // For private memory: the next read maps a page of zeros (madvise(2)).
        _ = unsafe madvise(start, page, MADV_DONTNEED)
      }
      unsafe start += page
    }
  }

  /// Frees what the library lost.
  static func wipe(_ block: UnsafeMutableRawPointer?) {
    guard let block = unsafe block else { return }
    unsafe explicit_bzero(block, malloc_usable_size(block))
    unsafe CLibSSH2.free(block)
  }
}
