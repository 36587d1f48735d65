import BridgeReactor
import CLibUV

/// Looks at the links of one reactor after each turn of its loop for a frame that announces more
/// than may come: the library says nothing of a frame before it has a byte of its payload.
///
/// On the reactor's thread only. It looks at a few links a turn, in rotation, so that a turn costs
/// the same however many there are.
@safe final class FrameWatch: @unchecked Sendable {
  private static let webSocketsPerTurn = 4

  private let handle: UnsafeMutablePointer<uv_check_t>
  private var webSockets: [NativeWebSocket] = []
  private var next = 0

  /// Starts on the loop of `reactor`, which it does not keep alive.
  init(on reactor: Reactor) {
    unsafe handle = .allocate(capacity: 1)
    unsafe uv_check_init(reactor.native, handle)
    unsafe handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    unsafe uv_check_start(handle) { handle in
      guard let data = unsafe handle?.pointee.data else { return }
      unsafe Unmanaged<FrameWatch>.fromOpaque(data).takeUnretainedValue().checkNext()
    }
    unsafe handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { unsafe uv_unref($0) }
  }

  /// Stops, and frees the handle when libuv has let go of it.
  func stop() {
    webSockets = []
    unsafe handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { handle in
      unsafe uv_close(handle) { unsafe $0?.deallocate() }
    }
  }

  /// Looks at `webSocket` from now on.
  func add(_ webSocket: NativeWebSocket) {
    guard webSocket.watchIndex == nil else { return }
    webSocket.watchIndex = webSockets.count
    webSockets.append(webSocket)
  }

  /// Looks at `webSocket` no more.
  func remove(_ webSocket: NativeWebSocket) {
    guard let index = webSocket.watchIndex else { return }
    webSocket.watchIndex = nil
    guard webSockets.indices.contains(index), webSockets[index] === webSocket else { return }
    webSockets.swapAt(index, webSockets.count - 1)
    webSockets.removeLast()
    if index < webSockets.count { webSockets[index].watchIndex = index }
  }

  private func checkNext() {
    for _ in 0..<min(Self.webSocketsPerTurn, webSockets.count) {
      // A link that is refused may leave the list meanwhile.
      next = next + 1 < webSockets.count ? next + 1 : 0
      guard webSockets.indices.contains(next) else { return }
      webSockets[next].checkAnnouncedLength()
    }
  }
}
