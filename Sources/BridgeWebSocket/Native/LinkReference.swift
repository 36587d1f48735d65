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
    var bytes = [UInt8]()
    bytes.reserveCapacity(LibWebSockets.room + text.utf8.count)
    bytes.append(contentsOf: repeatElement(0, count: LibWebSockets.room))
    bytes.append(contentsOf: text.utf8)
    self.init(isText: true, bytes: bytes)
  }

  /// A binary message, with the library's room in front.
  init(binary payload: [UInt8]) {
    var bytes = [UInt8]()
    bytes.reserveCapacity(LibWebSockets.room + payload.count)
    bytes.append(contentsOf: repeatElement(0, count: LibWebSockets.room))
    bytes.append(contentsOf: payload)
    self.init(isText: false, bytes: bytes)
  }
}
