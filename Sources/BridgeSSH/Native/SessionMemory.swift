import CLibSSH2
import Foundation

/// libssh2's allocator: bounded, small blocks zeroed on the way in and wiped on the way out.
///
/// The largest block of a normal session is 55 KB; a length that a peer invented is refused.
/// libssh2 frees password packets unwiped. Blocks over `smallBlock` are bulk data and are left as
/// they are, for speed.
enum SessionMemory {
  static let largestBlock = 512 << 10
  static let smallBlock = 4096

  static func allocate(
    _ count: Int, _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> UnsafeMutableRawPointer? {
    guard count <= largestBlock else { return nil }
    return unsafe count <= smallBlock ? calloc(1, max(1, count)) : malloc(count)
  }

  static func reallocate(
    _ block: UnsafeMutableRawPointer?, _ count: Int,
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> UnsafeMutableRawPointer? {
    guard count <= largestBlock else { return nil }
    return unsafe realloc(block, max(1, count))
  }

  static func free(
    _ block: UnsafeMutableRawPointer?,
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) {
    guard let block = unsafe block else { return }
    let count = unsafe malloc_usable_size(block)
    if count <= smallBlock {
      let bytes = unsafe UnsafeMutableRawBufferPointer(start: block, count: count)
      if let owner = unsafe SSHSession.owner(abstract) {
        unsafe owner.see(freed: UnsafeRawBufferPointer(bytes))
      }
      unsafe explicit_bzero(block, count)
    }
    unsafe CLibSSH2.free(block)
  }
}
