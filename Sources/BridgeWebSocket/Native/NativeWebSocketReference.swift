import BridgeReactor
import BridgeTransport

/// A reference from the queues, which live on any thread, to the native WebSocket, which lives on
/// the reactor's.
@safe final class NativeWebSocketReference: @unchecked Sendable {
  /// On the reactor's thread only.
  weak var webSocket: NativeWebSocket?

  func allowReading() { webSocket?.allowReading() }

  func flush() { webSocket?.flush() }
}

extension SendQueue.Entry {
  /// A text message, with the library's padding in front.
  init(text: String) {
    var text = text
    let bytes = text.withUTF8 { unsafe Self.padded($0) }
    self.init(kind: .text, bytes: bytes)
  }

  /// A binary message, with the library's padding in front.
  init(binary payload: [UInt8]) {
    let bytes = unsafe payload.withUnsafeBufferPointer { unsafe Self.padded($0) }
    self.init(kind: .binary, bytes: bytes)
  }

  /// The ping of probe `id`, likewise.
  init(ping id: Int) {
    let payload = ProbeTable.payload(id)
    self.init(
      kind: .ping(id), bytes: [UInt8](repeating: 0, count: LibWebSockets.padding) + payload)
  }

  /// The library writes the header over what is left unset here.
  private static func padded(_ payload: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    let padding = LibWebSockets.padding
    return unsafe [UInt8](unsafeUninitializedCapacity: padding + payload.count) { buffer, count in
      unsafe buffer[..<padding].initialize(repeating: 0)
      _ = unsafe buffer[padding...].initialize(from: payload)
      count = padding + payload.count
    }
  }
}
