/// Memory for one synchronous step on a reactor's thread: the code that fills it copies out what it
/// needs before the step ends.
///
/// One for all connections of a reactor, so that an idle connection holds none.
@safe package final class ScratchBuffer: @unchecked Sendable {
  /// Its bytes; what they hold is undefined at the start of a step.
  package let bytes: UnsafeMutableRawBufferPointer

  /// A buffer of `count` bytes.
  package init(count: Int) {
    unsafe bytes = .allocate(byteCount: count, alignment: 16)
  }

  deinit {
    unsafe bytes.deallocate()
  }
}
