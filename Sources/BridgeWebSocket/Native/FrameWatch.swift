import BridgeReactor
import CLibUV

/// Looks at the links of one reactor after each turn of its loop for a frame that announces more
/// than may come: the library says nothing of a frame before it has a byte of its payload.
///
/// On the reactor's thread only. It looks at a few links a turn, in rotation, so that a turn costs
/// the same however many there are.
@safe final class FrameWatch: @unchecked Sendable {
  private static let linksPerTurn = 4

  private let handle: UnsafeMutablePointer<uv_check_t>
  private var links: [Link] = []
  private var next = 0

  /// Starts on the loop of `reactor`, which it does not keep alive.
  init(on reactor: Reactor) {
    unsafe handle = .allocate(capacity: 1)
    unsafe uv_check_init(reactor.native, handle)
    unsafe handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    unsafe uv_check_start(handle) { handle in
      guard let data = unsafe handle?.pointee.data else { return }
      unsafe Unmanaged<FrameWatch>.fromOpaque(data).takeUnretainedValue().look()
    }
    unsafe handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { unsafe uv_unref($0) }
  }

  /// Stops, and frees the handle when libuv has let go of it.
  func stop() {
    links = []
    unsafe handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { handle in
      unsafe uv_close(handle) { unsafe $0?.deallocate() }
    }
  }

  /// Looks at `link` from now on.
  func add(_ link: Link) {
    guard link.watchIndex == nil else { return }
    link.watchIndex = links.count
    links.append(link)
  }

  /// Looks at `link` no more.
  func remove(_ link: Link) {
    guard let index = link.watchIndex else { return }
    link.watchIndex = nil
    guard links.indices.contains(index), links[index] === link else { return }
    links.swapAt(index, links.count - 1)
    links.removeLast()
    if index < links.count { links[index].watchIndex = index }
  }

  private func look() {
    for _ in 0..<min(Self.linksPerTurn, links.count) {
      // A link that is refused may leave the list meanwhile.
      next = next + 1 < links.count ? next + 1 : 0
      guard links.indices.contains(next) else { return }
      links[next].checkAnnouncedLength()
    }
  }
}
