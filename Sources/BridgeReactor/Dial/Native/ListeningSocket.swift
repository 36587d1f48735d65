import CLibUV
import Glibc

/// A socket that takes connections on one local address, as long as it is open.
///
/// Make, start and close it on the reactor's thread.
@safe package final class ListeningSocket: @unchecked Sendable {
  /// Why there is none.
  package struct Failure: Error, Sendable, Equatable {
    /// The system's number for it.
    package let errno: Int32

    /// Whether something else has the address.
    package var isInUse: Bool { errno == EADDRINUSE }

    /// The system's words.
    package var words: String { unsafe String(cString: strerror(errno)) }
  }

  /// Connections that wait to be taken.
  private static let backlog: Int32 = 128
  /// The most that are taken in one turn of the loop.
  private static let acceptsPerTurn = 64
  /// How long nothing is taken when descriptors have run out.
  private static let shortagePause = Duration.milliseconds(100)

  /// The longest path, with its zero byte (unix(7)).
  private static let pathLimit = 108

  /// The TCP port; 0 for a unix socket.
  package let port: Int
  private let file: SocketFile?
  private var descriptor: Int32
  private var watcher: DescriptorWatcher?
  private var pause: LoopTimer?

  /// Listens on `port` of `address`, 0 for any free one.
  package init(_ address: NetworkAddress, port: Int) throws(Failure) {
    let family = address.family == .v4 ? AF_INET : AF_INET6
    descriptor = try Self.make(family)
    file = nil
    let isBound = unsafe address.withSocketAddress(port: UInt16(clamping: port)) {
      [descriptor] address, size in
      var yes: Int32 = 1
      let length = socklen_t(MemoryLayout<Int32>.size)
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, length)
      if family == AF_INET6 {
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, length)
      }
      return unsafe bind(descriptor, address, size) == 0
    }
    guard isBound, Glibc.listen(descriptor, Self.backlog) == 0 else {
      let failure = Failure(errno: errno)
      Glibc.close(descriptor)
      throw failure
    }
    self.port = Self.port(of: descriptor)
  }

  /// Makes a unix socket at `path`, for this user alone.
  ///
  /// - Parameter replaces: whether it takes the place of a socket that is there. Anything else
  ///   stays there.
  package init(path: String, replaces: Bool = false) throws(Failure) {
    let descriptor = try Self.make(AF_UNIX)
    do throws(Failure) {
      do throws(Failure) {
        file = try Self.listen(descriptor, at: path)
      } catch {
        guard replaces, error.isInUse, SocketFile.isSocket(path), unsafe unlink(path) == 0 else {
          throw error
        }
        file = try Self.listen(descriptor, at: path)
      }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    // Only now: an object that is whole removes its file when it goes.
    self.descriptor = descriptor
    port = 0
  }

  deinit { close() }

  /// Calls `accept` with each connection from now on.
  package func start(on reactor: Reactor, _ accept: @escaping (Socket) -> Void) -> Bool {
    watcher = DescriptorWatcher(descriptor, on: reactor) { [weak self] _ in
      self?.takeWaiting(on: reactor, accept)
    }
    watcher?.watch(for: .readable)
    return watcher != nil
  }

  /// Takes no more connections, and removes a unix socket. Closing twice does nothing.
  package func close() {
    guard descriptor >= 0 else { return }
    pause?.cancel()
    watcher?.close()
    watcher = nil
    Glibc.close(descriptor)
    descriptor = -1
    file?.remove()
  }

  private func takeWaiting(on reactor: Reactor, _ accept: (Socket) -> Void) {
    for _ in 0..<Self.acceptsPerTurn where descriptor >= 0 {
      guard hasSpare else { return wait(on: reactor) }
      if let socket = Socket(acceptedFrom: descriptor) {
        socket.sendAtOnce()
        accept(socket)
      } else if ErrorNumber.isShortage(errno) {
        return wait(on: reactor)
      } else if errno != ECONNABORTED, errno != EINTR {
        return
      }
    }
  }

  /// It stays readable: without a pause the loop would spin.
  private func wait(on reactor: Reactor) {
    watcher?.watch(for: [])
    pause = LoopTimer(after: Self.shortagePause, on: reactor) { [weak self] in
      self?.watcher?.watch(for: .readable)
    }
  }

  /// Whether one more may be taken.
  private var hasSpare: Bool {
    let next = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard next >= 0 else { return false }
    Glibc.close(next)
    return DescriptorReserve.links.isKept(taking: next)
  }

  private static func listen(
    _ descriptor: Int32, at path: String
  ) throws(Failure) -> SocketFile {
    var address = sockaddr_un()
    let bytes = Array(path.utf8)
    guard !bytes.contains(0), bytes.count < pathLimit else { throw Failure(errno: ENAMETOOLONG) }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    // The mode of the file is that of the socket when it is bound.
    fchmod(descriptor, 0o600)
    let isBound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, size) == 0
      }
    }
    guard isBound else { throw Failure(errno: errno) }
    let file = SocketFile(path)
    unsafe chmod(path, 0o600)
    guard Glibc.listen(descriptor, backlog) == 0 else {
      let failure = Failure(errno: errno)
      file.remove()
      throw failure
    }
    return file
  }

  private static func make(_ family: Int32) throws(Failure) -> Int32 {
    let kind = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = Glibc.socket(family, Int32(kind), 0)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    return descriptor
  }

  private static func port(of descriptor: Int32) -> Int {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let isKnown = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isKnown else { return 0 }
    // Both families have the port behind the family.
    return unsafe withUnsafeBytes(of: storage) { bytes in
      unsafe Int(bytes[2]) << 8 | Int(bytes[3])
    }
  }
}

/// The name that was made for a socket, and the file that it led to then.
private struct SocketFile {
  private let path: String
  private let identity: Identity?

  private struct Identity: Equatable {
    let device: dev_t
    let number: ino_t
  }

  init(_ path: String) {
    self.path = path
    identity = Self.identity(of: path)
  }

  /// Removes the name, where it still leads to that file: another program may have taken it.
  func remove() {
    guard let identity, Self.identity(of: path) == identity else { return }
    unsafe unlink(path)
  }

  /// Whether the name itself is that of a socket.
  static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, number: status.st_ino)
  }
}
