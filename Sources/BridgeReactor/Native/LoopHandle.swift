import CLibUV

/// A libuv handle on the heap whose `data` owns what its callbacks need.
@safe struct LoopHandle: @unchecked Sendable {
  private let handle: UnsafeMutablePointer<uv_handle_t>

  init(_ handle: UnsafeMutableRawPointer) {
    unsafe self.handle = handle.assumingMemoryBound(to: uv_handle_t.self)
  }

  /// Ends the handle: no callback comes after this when it is called on the loop. The owner of a
  /// handle may be dropped by any thread, but libuv must be called on its own: from elsewhere the
  /// loop is asked to do it. Memory and `data` are given back a turn later.
  func close(on reactor: Reactor) {
    if reactor.isCurrent { close() } else { reactor.execute { close() } }
  }

  private func close() {
    unsafe uv_close(handle) { handle in
      guard let handle = unsafe handle else { return }
      if let data = unsafe handle.pointee.data {
        unsafe Unmanaged<AnyObject>.fromOpaque(data).release()
      }
      unsafe UnsafeMutableRawPointer(handle).deallocate()
    }
  }
}
