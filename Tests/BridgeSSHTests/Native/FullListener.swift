import Glibc

/// A port on loopback that takes no connection and refuses none: its queue is full, and the kernel
/// drops what asks for one more.
final class FullListener {
  let port: Int
  private var descriptors: [Int32] = []

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptors = [listener]
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size) == 0 && listen(listener, 0) == 0
          && getsockname(listener, $0, &size) == 0
      }
    }
    guard isListening else { throw Failed() }
    port = Int(UInt16(bigEndian: address.sin_port))
    for _ in 0..<4 {
      let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue
      let filler = socket(AF_INET, Int32(kind), 0)
      descriptors.append(filler)
      unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          _ = unsafe connect(filler, $0, size)
        }
      }
    }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }

  struct Failed: Error {}
}
