import CLibWebSockets
import Glibc

/// Holds small segments of a socket back until it is drawn, so that a burst of frames, which the
/// library sends one by one, travels as few segments and wakes the peer once (tcp(7), TCP_CORK).
struct Cork {
  private let descriptor: Int32

  /// Corks `descriptor`; -1 for none.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    set(1)
  }

  /// Sends what was held back.
  func draw() { set(0) }

  private func set(_ value: Int32) {
    guard descriptor >= 0 else { return }
    var value = value
    _ = unsafe setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
