import CLibUV
import Glibc

/// Watches for paths of this machine's network that came, went or became another one
/// (rtnetlink(7)).
///
/// Make and close it on the reactor's thread.
@safe final class NetworkWatch: @unchecked Sendable {
  /// A change is reported after this time: one network makes several routes.
  private static let pause = Duration.milliseconds(500)
  /// Larger than any message of the kernel about one route.
  private static let datagram = 16 << 10
  private static let readsPerTurn = 64
  /// `NETLINK_ROUTE`; `RTMGRP_IPV4_ROUTE` and `RTMGRP_IPV6_ROUTE` (linux/rtnetlink.h).
  private static let routing: Int32 = 0
  private static let routeGroups: UInt32 = 0x40 | 0x400
  /// The first two bytes of a word, as the family stands in an address.
  private static let family = UInt32(AF_NETLINK) << (UInt32(1).littleEndian == 1 ? 0 : 16)

  private let reactor: Reactor
  private let changed: () -> Void
  private var descriptor: Int32
  private var watcher: DescriptorWatcher?
  private var timer: LoopTimer?

  /// Calls `changed` for each change from now on; nil where the system reports none.
  init?(on reactor: Reactor, changed: @escaping () -> Void) {
    reactor.preconditionIsolated()
    let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    descriptor = socket(AF_NETLINK, kind, Self.routing)
    self.reactor = reactor
    self.changed = changed
    guard descriptor >= 0, joinGroups(), watch() else {
      close()
      return nil
    }
  }

  deinit { close() }

  private func joinGroups() -> Bool {
    // `sockaddr_nl` (netlink(7)): the family, a number of our own that the kernel chooses, groups.
    let address: [UInt32] = [Self.family, 0, Self.routeGroups]
    return unsafe address.withUnsafeBytes { bytes in
      unsafe bind(
        descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(bytes.count)) == 0
    }
  }

  private func watch() -> Bool {
    watcher = DescriptorWatcher(descriptor, on: reactor) { [weak self] _ in self?.read() }
    watcher?.watch(for: .readable)
    return watcher != nil
  }

  private func read() {
    for _ in 0..<Self.readsPerTurn {
      let datagram = unsafe [UInt8](unsafeUninitializedCapacity: Self.datagram) { buffer, count in
        count = unsafe max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
      }
      if datagram.isEmpty {
        // ENOBUFS: there was more than the kernel keeps.
        if errno == ENOBUFS { reportLater() }
        return
      }
      if RouteMessages.haveAPath(datagram) { reportLater() }
    }
  }

  private func reportLater() {
    guard timer == nil else { return }
    timer = LoopTimer(after: Self.pause, on: reactor) { [weak self] in
      self?.timer = nil
      self?.changed()
    }
  }

  /// Ends the watching. Closing twice does nothing.
  func close() {
    timer?.cancel()
    timer = nil
    watcher?.close()
    watcher = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}

extension Reactor {
  /// An element for each time that a path of this machine's network came, went or became another
  /// one: what a supervisor wants to know by `networkChanged`. Ends when the reactor stops, and at
  /// once where the system reports nothing (a sandbox without netlink sockets).
  public nonisolated func networkChanges() -> AsyncStream<Void> {
    let (stream, changes) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    execute { [self] in
      guard let watch = NetworkWatch(on: self, changed: { changes.yield() }) else {
        return changes.finish()
      }
      changes.onTermination = { [self] _ in execute { watch.close() } }
      atStop { [weak watch] in
        watch?.close()
        changes.finish()
      }
    }
    return stream
  }
}
