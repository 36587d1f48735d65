import CSessionSystem
import Glibc

extension Descriptor {
  /// The next connection of this user to a listening socket; others are closed at once.
  func accept() -> Descriptor? {
    let number = bridge_accept(self.number)
    guard number >= 0 else { return nil }
    let connection = Descriptor(number)
    var user: UInt32 = .max
    guard unsafe bridge_peer_user(number, &user) == 0, user == geteuid() else { return nil }
    return connection
  }

  /// Sends one message with descriptors; false when the peer is gone.
  func send(_ message: [UInt8], passing descriptors: [Int32] = []) -> Bool {
    let sent = unsafe message.withUnsafeBytes { buffer in
      unsafe bridge_send(
        number, buffer.baseAddress, buffer.count, descriptors, Int32(descriptors.count))
    }
    return sent == message.count
  }

  enum Message {
    case bytes([UInt8], [Descriptor])
    case nothing
    case end
  }

  /// Receives one message of at most 128 bytes.
  func receive() -> Message {
    var bytes = [UInt8](repeating: 0, count: 128)
    var passed: [Int32] = [-1, -1]
    var count: Int32 = 0
    while true {
      let received = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe bridge_receive(number, buffer.baseAddress, buffer.count, &passed, &count)
      }
      let descriptors = passed.prefix(Int(count)).map { Descriptor($0) }
      if received > 0 { return .bytes(Array(bytes.prefix(received)), descriptors) }
      if received == 0 || errno != EINTR {
        return received < 0 && errno == EAGAIN ? .nothing : .end
      }
    }
  }
}
