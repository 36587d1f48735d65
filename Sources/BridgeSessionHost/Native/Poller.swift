import CSessionSystem
import Glibc

/// One descriptor to wait for, and what came of it.
struct PollEntry<Token> {
  var token: Token
  var descriptor: Int32
  var reads = false
  var writes = false
  /// Bytes, a connection or an end can be read.
  var isReadable = false
  var isWritable = false
  /// The peer is gone; there may be bytes left to read.
  var isClosed = false
}

enum Poller {
  /// Waits until one entry is ready or `milliseconds` have passed; nil waits without end.
  static func wait<Token>(_ entries: inout [PollEntry<Token>], _ milliseconds: UInt64?) {
    var polled = entries.map { entry in
      let events = (entry.reads ? POLLIN : 0) | (entry.writes ? POLLOUT : 0)
      return pollfd(fd: entry.descriptor, events: Int16(events), revents: 0)
    }
    let timeout = milliseconds.map { Int32(min($0, 60_000)) } ?? -1
    guard unsafe poll(&polled, nfds_t(polled.count), timeout) > 0 else { return }
    for index in entries.indices {
      let found = Int32(polled[index].revents)
      entries[index].isClosed = found & (POLLHUP | POLLERR | POLLNVAL) != 0
      entries[index].isReadable = entries[index].reads && found & (POLLIN | POLLHUP | POLLERR) != 0
      entries[index].isWritable = entries[index].writes && found & (POLLOUT | POLLERR) != 0
    }
  }

  /// Waits for a time only.
  static func pause(_ milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }
}
