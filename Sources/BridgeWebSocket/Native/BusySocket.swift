import Glibc

/// A unix socket whose queue is full: a connection to it stays under way (EAGAIN, connect(2)) until
/// it is closed. Nothing is ever accepted or sent.
@safe final class BusySocket {
  /// What libwebsockets dials: `+` and, for the abstract namespace, `@` (lws-client.h).
  let address: String
  private var listener: Int32
  /// The one connection that fits.
  private var filler: Int32

  /// Nil where descriptors have run out.
  init?() {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    listener = socket(AF_UNIX, kind, 0)
    filler = socket(AF_UNIX, kind, 0)
    guard listener >= 0, filler >= 0, let name = Self.listen(listener, filledBy: filler) else {
      address = ""
      close()
      return nil
    }
    address = "+@" + name
  }

  deinit { close() }

  /// Nothing can connect any more. Closing twice does nothing.
  func close() {
    for descriptor in [listener, filler] where descriptor >= 0 {
      _ = Glibc.close(descriptor)
    }
    (listener, filler) = (-1, -1)
  }

  /// Listens at a free name of the kernel's choice, five hexadecimal digits (unix(7), autobind).
  private static func listen(_ listener: Int32, filledBy filler: Int32) -> String? {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var length = socklen_t(MemoryLayout<sa_family_t>.size)
    let isFull = unsafe withUnsafeMutablePointer(to: &name) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        guard unsafe bind(listener, name, length) == 0, Glibc.listen(listener, 0) == 0 else {
          return false
        }
        length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return unsafe getsockname(listener, name, &length) == 0
          && connect(filler, name, length) == 0
      }
    }
    // A zero byte stands before the name.
    let first = MemoryLayout<sa_family_t>.size + 1
    guard isFull, Int(length) > first else { return nil }
    return unsafe withUnsafeBytes(of: name) {
      unsafe String(decoding: $0[first..<Int(length)], as: UTF8.self)
    }
  }
}
