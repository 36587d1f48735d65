import CLibUV
import CLibWebSockets
import Glibc

/// What wakes the library's own loops: an eventfd that it makes for a foreign loop's context too.
///
/// `lws_context_destroy` closes it at once (`lws_plat_pipe_close`), and the end of its handle in a
/// later turn closes the same number again (`__lws_close_free_wsi_final`): by then it may be
/// another thread's descriptor. The second time is prevented by taking the number away in between.
@safe struct WakePipe {
  private let connection: OpaquePointer

  /// The pipe of a context that was just made on `loop`; nil where it cannot be found, or in a
  /// version of the library that is not known to do this. `others` were on the loop before.
  init?(on loop: UnsafeMutablePointer<uv_loop_t>, besides others: Set<UnsafeMutableRawPointer>) {
    let handles = unsafe Self.watchers(on: loop).subtracting(others)
    guard LWS_LIBRARY_VERSION_MAJOR == 4, LWS_LIBRARY_VERSION_MINOR <= 3,
      unsafe handles.count == 1,
      let handle = unsafe handles.first?.assumingMemoryBound(to: uv_handle_t.self)
    else { return nil }
    // A watcher's `data` is the connection it is for.
    var descriptor: Int32 = -1
    guard unsafe uv_fileno(handle, &descriptor) == 0, let data = unsafe handle.pointee.data
    else { return nil }
    unsafe connection = OpaquePointer(data)
    guard unsafe lws_get_socket_fd(connection) == descriptor else { return nil }
  }

  /// Runs `destroy`, which closes the descriptor, and makes sure that nothing closes it later.
  func closeOnce(_ destroy: () -> Void) {
    let number = unsafe placeOfNumber
    destroy()
    unsafe number?.pointee = -1
  }

  /// Where the library keeps the descriptor's number: what it does not tell any more when that
  /// place is changed.
  private var placeOfNumber: UnsafeMutablePointer<Int32>? {
    let number = unsafe lws_get_socket_fd(connection)
    let start = unsafe UnsafeMutableRawPointer(connection)
    let count = unsafe malloc_usable_size(start) / MemoryLayout<Int32>.stride
    let words = unsafe UnsafeMutableBufferPointer(
      start: start.assumingMemoryBound(to: Int32.self), count: count)
    return unsafe words.indices.first { index in
      guard unsafe words[index] == number else { return false }
      unsafe words[index] = -1
      defer { unsafe words[index] = number }
      return unsafe lws_get_socket_fd(connection) == -1
    }.flatMap { index in unsafe words.baseAddress.map { unsafe $0 + index } }
  }

  /// The handles of `loop` that watch descriptors.
  static func watchers(on loop: UnsafeMutablePointer<uv_loop_t>) -> Set<UnsafeMutableRawPointer> {
    var found = unsafe Set<UnsafeMutableRawPointer>()
    unsafe withUnsafeMutablePointer(to: &found) { found in
      unsafe uv_walk(
        loop,
        { handle, found in
          guard let handle = unsafe handle, unsafe handle.pointee.type == UV_POLL else { return }
          _ = unsafe found?.assumingMemoryBound(to: Set<UnsafeMutableRawPointer>.self).pointee
            .insert(UnsafeMutableRawPointer(handle))
        }, found)
    }
    return unsafe found
  }
}
