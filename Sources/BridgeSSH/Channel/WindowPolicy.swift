/// How large a channel's receive window should be.
///
/// A server may have one window of bytes under way, so a small window on a slow link is slow; a
/// large one on a fast link costs memory and cache for nothing.
package struct WindowPolicy: Sendable {
  /// In bytes; for a link that is not slow, or not measured.
  package static let smallest = 2 << 20
  /// In bytes.
  package static let largest = 16 << 20
  /// In bytes, for what a person reads: all of it comes before the answer to a Ctrl-C. OpenSSH has
  /// 1 MiB (ssh.c); here a mailbox of 256 KiB may hold as much again.
  package static let ofTerminal = 768 << 10
  /// The throughput that the window should not limit, in bytes a second.
  private static let goal = 200e6

  /// The window for a link whose fastest round trip took `roundTrip`; the smallest while none was
  /// measured.
  package static func window(for roundTrip: Duration?, isTerminal: Bool = false) -> Int {
    guard !isTerminal else { return ofTerminal }
    guard let roundTrip else { return smallest }
    let seconds = roundTrip / .seconds(1)
    return min(largest, max(smallest, Int(seconds * goal)))
  }
}
