import BridgeReactor
import BridgeTransport

/// The way from the queues, which live on any thread, to the link, which lives on the reactor's.
@safe final class LinkReference: @unchecked Sendable {
  /// On the reactor's thread only.
  weak var link: Link?

  func allowReading() { link?.allowReading() }

  func flush() { link?.flush() }
}

extension Outbox.Entry {
  /// A text message, with the library's room in front.
  init(text: String) {
    var text = text
    let bytes = text.withUTF8 { unsafe Self.roomed($0) }
    self.init(kind: .text, bytes: bytes)
  }

  /// A binary message, with the library's room in front.
  init(binary payload: [UInt8]) {
    let bytes = unsafe payload.withUnsafeBufferPointer { unsafe Self.roomed($0) }
    self.init(kind: .binary, bytes: bytes)
  }

  /// The ping of probe `id`, likewise.
  init(ping id: Int) {
    let payload = ProbeTable.payload(id)
    self.init(
      kind: .ping(id), bytes: [UInt8](repeating: 0, count: LibWebSockets.room) + payload)
  }

  /// The library writes the header over what is left unset here.
  private static func roomed(_ payload: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    let room = LibWebSockets.room
    return unsafe [UInt8](unsafeUninitializedCapacity: room + payload.count) { buffer, count in
      unsafe buffer[..<room].initialize(repeating: 0)
      _ = unsafe buffer[room...].initialize(from: payload)
      count = room + payload.count
    }
  }
}
