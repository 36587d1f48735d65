import CLibUV
import Glibc

extension Socket {
  /// A system call's `errno`.
  struct CallFailure: Error {
    let errno: Int32
  }

  /// A socket whose connection to `address` is under way. It can be written to when that is
  /// settled: ask `connectOutcome` then.
  ///
  /// - Parameter source: the address of this end; nil for any.
  /// - Throws: what `socket` or `connect` refused at once, EMFILE and ENFILE included; ENODEV where
  ///   `source` is no address of this machine.
  static func connecting(
    to address: NetworkAddress, port: Int, from source: NetworkAddress? = nil
  ) throws(CallFailure) -> Socket {
    guard let port = UInt16(exactly: port), port > 0 else {
      throw CallFailure(errno: ErrorNumber.invalidArgument)
    }
    let family = address.family == .v4 ? AF_INET : AF_INET6
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Glibc.socket(family, Int32(kind), Int32(IPPROTO_TCP))
    guard descriptor >= 0 else { throw CallFailure(errno: errno) }
    let socket = Socket(descriptor: descriptor)
    guard DescriptorReserve.runtime.isKept(taking: descriptor) else {
      socket.close()
      throw CallFailure(errno: EMFILE)
    }
    socket.sendAtOnce()
    if let source, let errno = bind(descriptor, to: source) {
      socket.close()
      throw CallFailure(errno: errno)
    }
    let result = unsafe address.withSocketAddress(port: port) { unsafe connect(descriptor, $0, $1) }
    // EINTR: the connection is made in the background all the same (connect(3p)).
    guard result == 0 || errno == EINPROGRESS || errno == EINTR else {
      let failure = CallFailure(errno: errno)
      socket.close()
      throw failure
    }
    return socket
  }

  /// Binds to an address; the port is chosen with that of the other end (ip(7),
  /// IP_BIND_ADDRESS_NO_PORT). The error number; nil for none.
  private static func bind(_ descriptor: Int32, to address: NetworkAddress) -> Int32? {
    var isOn: Int32 = 1
    _ = unsafe setsockopt(
      descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &isOn,
      socklen_t(MemoryLayout<Int32>.size))
    let result = unsafe address.withSocketAddress(port: 0) { unsafe Glibc.bind(descriptor, $0, $1) }
    guard result != 0 else { return nil }
    return errno == EADDRNOTAVAIL ? ErrorNumber.sourceMissing : errno
  }

  /// A socket that is connected to the unix socket at `path`, which a program has not accepted yet:
  /// nothing is waited for.
  ///
  /// - Throws: what the system says, EAGAIN where too many wait to be taken.
  package static func connected(toPath path: String) throws(ListeningSocket.Failure) -> Socket {
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    guard !bytes.contains(0), bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { throw .init(errno: ENAMETOOLONG) }
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Glibc.socket(AF_UNIX, Int32(kind), 0)
    guard descriptor >= 0 else { throw .init(errno: errno) }
    let socket = Socket(descriptor: descriptor)
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isConnected else {
      let failure = ListeningSocket.Failure(errno: errno)
      socket.close()
      throw failure
    }
    return socket
  }

  /// Two sockets that are connected to each other (socketpair(2)): for what takes sockets only.
  ///
  /// - Throws: `errno` of what has run out.
  package static func pair() throws(ListeningSocket.Failure) -> (Socket, Socket) {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    var ends: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { throw .init(errno: errno) }
    let pair = (Socket(descriptor: ends[0]), Socket(descriptor: ends[1]))
    guard DescriptorReserve.runtime.isKept(taking: ends[1]) else { throw .init(errno: EMFILE) }
    return pair
  }

  /// The outcome of the connection once the descriptor is writable: 0, or an `errno`.
  package func connectOutcome() -> Int32 {
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length) == 0 else {
      return errno
    }
    // A port of the ephemeral range on this machine, dialed again and again with no listener, is
    // sooner or later chosen as our own port too, and TCP connects the socket to itself.
    if error == 0, isConnectedToItself { return ErrorNumber.refused }
    return error
  }

  private var isConnectedToItself: Bool {
    guard let own = unsafe Self.name(of: descriptor, getsockname),
      let peer = unsafe Self.name(of: descriptor, getpeername)
    else { return false }
    return own == peer
  }

  private typealias NameCall = (
    Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>
  ) -> Int32

  private static func name(of descriptor: Int32, _ call: NameCall) -> [UInt8]? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe call(descriptor, $0, &length)
      }
    }
    guard result == 0 else { return nil }
    return unsafe withUnsafeBytes(of: storage) { unsafe Array($0.prefix(Int(length))) }
  }

  /// The address that the kernel would send from to `address`, without a port; nil where nothing
  /// leads there. Nothing is sent (connect(2), udp(7)).
  static func source(toward address: NetworkAddress) -> [UInt8]? {
    let family = address.family == .v4 ? AF_INET : AF_INET6
    let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Glibc.socket(family, Int32(kind), 0)
    guard descriptor >= 0 else { return nil }
    defer { Glibc.close(descriptor) }
    let leads = unsafe address.withSocketAddress(port: 9) { pointer, length in
      unsafe Glibc.connect(descriptor, pointer, length) == 0
    }
    guard leads, var name = unsafe name(of: descriptor, getsockname) else { return nil }
    // The port is another one each time.
    name.replaceSubrange(2..<4, with: [0, 0])
    return name
  }

  /// The `errno` of a shortage of descriptors or memory, nil while there is none.
  package static func shortage() -> Int32? {
    let kind = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Glibc.socket(AF_UNIX, Int32(kind), 0)
    guard descriptor < 0 else {
      _ = Glibc.close(descriptor)
      return nil
    }
    return ErrorNumber.isShortage(errno) ? errno : nil
  }
}
