import CLibUV
import Glibc

/// Watches whether the way out of this machine becomes another one (rtnetlink(7)): the address that
/// the kernel would send from. Routes that come and go beside it are no news for a connection.
///
/// Make and close it on the reactor's thread.
@safe final class NetworkWatch: @unchecked Sendable {
  /// One network makes several routes within this time.
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
  private var pace = ChangePace()
  /// The addresses of the way out that was reported last.
  private var origin = NetworkWatch.origin()

  /// Calls `changed` for each change to a way that leads out; nil where the system reports none.
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

  private func reportLater(after delay: Duration = NetworkWatch.pause) {
    guard timer == nil else { return }
    timer = LoopTimer(after: delay, on: reactor) { [weak self] in self?.report() }
  }

  private func report() {
    timer = nil
    let (now, found) = (ContinuousClock.now, Self.origin())
    guard found != origin else { return }
    guard !found.isEmpty else {
      origin = found
      return
    }
    let delay = pace.delay(at: now)
    guard delay == .zero else { return reportLater(after: delay) }
    origin = found
    pace.report(at: now)
    changed()
  }

  /// The addresses that the kernel would send from to the networks beyond this one.
  private static func origin() -> [[UInt8]] {
    beyond.compactMap { Socket.source(toward: $0) }
  }

  /// Addresses for documents, which are behind the default route as any other (RFC 5737, RFC 3849).
  private static let beyond = [
    NetworkAddress(bytes: [192, 0, 2, 1]),
    NetworkAddress(bytes: [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]),
  ].compactMap(\.self)

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
  /// An element for each time that this machine comes to another network: what a supervisor wants
  /// to know by `networkChanged`. At least 5 s apart, and later each time while it goes on. Ends
  /// when the reactor stops, and at once where the system reports nothing (a sandbox without
  /// netlink sockets).
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
