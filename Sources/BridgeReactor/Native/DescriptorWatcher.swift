import CLibUV

/// Tells, on the loop, when a descriptor can be read or written. It does not own the descriptor.
///
/// Make, change and close it on the reactor's thread; close it before the descriptor is closed.
@safe public final class DescriptorWatcher {
  /// What to watch for, and what was seen.
  public struct Readiness: OptionSet, Sendable {
    /// The bits, ours and not libuv's.
    public let rawValue: UInt8

    /// A set with these bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Bytes or an end of file can be read.
    public static let readable = Readiness(rawValue: 1)
    /// Bytes can be written.
    public static let writable = Readiness(rawValue: 2)
  }

  /// What the handle's callback needs, and what libuv watches for.
  private final class Callback {
    let ready: (Readiness) -> Void
    var interest: Readiness = []

    init(_ ready: @escaping (Readiness) -> Void) { self.ready = ready }
  }

  private let reactor: Reactor
  private let callback: Callback
  private var poll: UnsafeMutablePointer<uv_poll_t>?

  /// Watches `descriptor` for nothing yet; nil when the loop refuses it (a file, a closed
  /// descriptor).
  ///
  /// An error on the descriptor is reported as both readable and writable: the next read or write
  /// tells. The watching has ended then, until `watch` is called again.
  public init?(
    _ descriptor: Int32, on reactor: Reactor, ready: @escaping (Readiness) -> Void
  ) {
    reactor.preconditionIsolated()
    guard reactor.openLoop() == nil else { return nil }
    let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    guard unsafe uv_poll_init(reactor.native, poll, descriptor) == 0 else {
      unsafe poll.deallocate()
      return nil
    }
    self.reactor = reactor
    callback = Callback(ready)
    unsafe poll.pointee.data = Unmanaged.passRetained(callback).toOpaque()
    unsafe self.poll = poll
  }

  deinit { close() }

  /// From now on, watch for `wanted` (level-triggered) and nothing else.
  public func watch(for wanted: Readiness) {
    guard let poll = unsafe poll, wanted != callback.interest else { return }
    callback.interest = wanted
    guard !wanted.isEmpty else {
      unsafe uv_poll_stop(poll)
      return
    }
    var events: Int32 = 0
    if wanted.contains(.readable) { events |= Int32(UV_READABLE.rawValue) }
    if wanted.contains(.writable) { events |= Int32(UV_WRITABLE.rawValue) }
    unsafe uv_poll_start(poll, events) { unsafe DescriptorWatcher.called($0, $1, $2) }
  }

  /// Ends the watching; no call comes after this. Closing twice does nothing.
  public func close() {
    guard let poll = unsafe poll else { return }
    unsafe self.poll = nil
    unsafe LoopHandle(poll).close(on: reactor)
  }

  private static func called(
    _ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32
  ) {
    guard let data = unsafe poll?.pointee.data else { return }
    let callback = unsafe Unmanaged<Callback>.fromOpaque(data).takeUnretainedValue()
    var seen: Readiness = []
    // After an error libuv has stopped the handle.
    if status < 0 { callback.interest = [] }
    if status < 0 || events & Int32(UV_READABLE.rawValue) != 0 { seen.insert(.readable) }
    if status < 0 || events & Int32(UV_WRITABLE.rawValue) != 0 { seen.insert(.writable) }
    callback.ready(seen)
  }
}
