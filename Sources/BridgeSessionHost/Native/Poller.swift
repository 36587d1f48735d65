import CSessionSystem
import Glibc

/// What came of a descriptor that was waited for.
struct Readiness: Equatable {
  /// Bytes, a connection or an end can be read.
  var isReadable = false
  var isWritable = false
  /// The peer is gone; there may be bytes left to read.
  var isClosed = false

  /// Whether anything came.
  var isAny: Bool { isReadable || isWritable || isClosed }
}

/// Descriptors to wait for. It is filled anew for each wait, in the storage of the one before: a
/// key that a user types is on its way sooner.
struct PollList<Token> {
  private var polled: [pollfd] = []
  private var tokens: [Token] = []

  /// How many there are.
  var count: Int { tokens.count }

  mutating func removeAll() {
    polled.removeAll(keepingCapacity: true)
    tokens.removeAll(keepingCapacity: true)
  }

  /// Adds a descriptor; its end is noticed also where it is neither read nor written.
  mutating func add(
    _ token: Token, _ descriptor: Int32, reads: Bool = false, writes: Bool = false
  ) {
    let events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0)
    polled.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    tokens.append(token)
  }

  /// Waits until one is ready or `milliseconds` have passed; nil waits without end.
  mutating func wait(_ milliseconds: UInt64?) {
    let timeout = milliseconds.map { Int32(min($0, 3_600_000)) } ?? -1
    _ = unsafe poll(&polled, nfds_t(polled.count), timeout)
  }

  subscript(index: Int) -> (token: Token, readiness: Readiness) {
    let (entry, token) = (polled[index], tokens[index])
    let (asked, found) = (Int32(entry.events), Int32(entry.revents))
    return (
      token,
      Readiness(
        isReadable: asked & POLLIN != 0 && found & (POLLIN | POLLHUP | POLLERR) != 0,
        isWritable: asked & POLLOUT != 0 && found & (POLLOUT | POLLERR) != 0,
        isClosed: found & (POLLHUP | POLLERR | POLLNVAL) != 0)
    )
  }
}

enum Poller {
  /// Whether a descriptor can be read, or has ended, within `milliseconds`.
  static func isReadable(_ descriptor: Int32, within milliseconds: UInt64 = 0) -> Bool {
    var list = PollList<Void>()
    list.add((), descriptor, reads: true)
    list.wait(milliseconds)
    return list[0].readiness.isAny
  }

  /// Whether a descriptor can be written now, or has no reader.
  static func isWritable(_ descriptor: Int32) -> Bool {
    var list = PollList<Void>()
    list.add((), descriptor, writes: true)
    list.wait(0)
    return list[0].readiness.isAny
  }

  /// Whether what is written to a descriptor has no reader any more, within `milliseconds`: the
  /// connection that carried it is gone.
  static func isAbandoned(_ descriptor: Int32, within milliseconds: UInt64) -> Bool {
    var list = PollList<Void>()
    list.add((), descriptor)
    list.wait(milliseconds)
    return list[0].readiness.isClosed
  }

  /// Waits until a descriptor can be read, or has ended; false where `output` has no reader any
  /// more before, nil where neither comes within `milliseconds`.
  static func isReadable(
    _ descriptor: Int32, whileRead output: Int32, within milliseconds: UInt64
  ) -> Bool? {
    var list = PollList<Void>()
    list.add((), descriptor, reads: true)
    list.add((), output)
    list.wait(milliseconds)
    if list[0].readiness.isAny { return true }
    return list[1].readiness.isClosed ? false : nil
  }

  /// Waits for a time only.
  static func pause(_ milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
