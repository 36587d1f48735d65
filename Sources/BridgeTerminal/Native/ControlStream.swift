import BridgeTransport
import BridgeWaiting
import CSessionSystem
import Glibc

/// A connection over a unix socket to another process of this user: packets both ways, each behind
/// its length, and descriptors behind some of them (unix(7), SCM_RIGHTS).
package final class ControlStream: Sendable {
  /// A packet without its length, and the descriptors that came behind it. Those that nothing takes
  /// are closed with it.
  package final class Packet: Sendable {
    /// What was sent.
    package let bytes: [UInt8]
    private let descriptors: Mutex<[Int32]>

    init(_ bytes: [UInt8], _ descriptors: [Int32] = []) {
      self.bytes = bytes
      self.descriptors = Mutex(descriptors)
    }

    deinit {
      for descriptor in takeDescriptors() { Glibc.close(descriptor) }
    }

    /// Its descriptors, as long as the packet lives.
    package var passed: [Int32] { descriptors.withLock(\.self) }

    /// Its descriptors, which are the caller's from then on.
    package func takeDescriptors() -> [Int32] {
      descriptors.withLock { descriptors in
        defer { descriptors = [] }
        return descriptors
      }
    }

    fileprivate func add(_ descriptor: Int32) { descriptors.withLock { $0.append(descriptor) } }
  }

  /// Why there is no connection.
  package enum Refusal: Error, Sendable, Equatable {
    /// Nothing is there.
    case absent(errno: Int32)
    /// A socket is there that no process listens at.
    case abandoned
    /// The process there is another user's.
    case foreign(user: UInt32)
    /// The process there does not answer.
    case silent

    /// The system's words.
    package var words: String {
      switch self {
      case .absent(let errno): unsafe String(cString: strerror(errno))
      case .abandoned: unsafe String(cString: strerror(ECONNREFUSED))
      case .foreign(let user): "the process there is one of user \(user)"
      case .silent: "the process there does not answer"
      }
    }
  }

  /// What comes, until the other side closes. One reader.
  package let packets: AsyncStream<Packet>
  private let sink: AsyncStream<Packet>.Continuation
  /// Closed by the thread that reads.
  private let descriptor: Int32
  private let isOver = Mutex(false)
  private let longest: Int
  private let descriptorCount: @Sendable ([UInt8]) -> Int

  /// How many packets wait for the reader: who sends more at once is no client.
  private static let mostWaiting = 64
  /// How long a process that takes nothing is waited for, in seconds.
  private static let sendLimit = 10

  /// Takes over a connected socket.
  ///
  /// - Parameters:
  ///   - longest: of a packet, in bytes; a longer one ends the connection.
  ///   - descriptorCount: how many descriptors follow a packet.
  init(
    _ descriptor: Int32, longest: Int, descriptorCount: @escaping @Sendable ([UInt8]) -> Int
  ) {
    self.descriptor = descriptor
    self.longest = longest
    self.descriptorCount = descriptorCount
    (packets, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostWaiting))
    var limit = timeval(tv_sec: Self.sendLimit, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    if !NativeThread.start({ [self] in run() }) { end() }
  }

  /// Connects to the process that listens at `path`; no descriptors come from there.
  ///
  /// - Throws: `Refusal`.
  package convenience init(path: String, longest: Int) throws(Refusal) {
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .absent(errno: errno) }
    guard let address = ControlAddress(path) else {
      Glibc.close(descriptor)
      throw .absent(errno: ENAMETOOLONG)
    }
    guard address.connect(descriptor) else {
      let code = errno
      Glibc.close(descriptor)
      throw switch code {
      case ECONNREFUSED: .abandoned
      // As many wait there as may.
      case EAGAIN: .silent
      default: .absent(errno: code)
      }
    }
    if let user = Self.stranger(at: descriptor) {
      Glibc.close(descriptor)
      throw .foreign(user: user)
    }
    self.init(descriptor, longest: longest, descriptorCount: { _ in 0 })
  }

  /// The user of the process at the other end; nil where that is this one, or root.
  static func stranger(at descriptor: Int32) -> UInt32? {
    var user: UInt32 = .max
    guard unsafe bridge_peer_user(descriptor, &user) == 0, user == 0 || user == geteuid() else {
      return user
    }
    return nil
  }

  /// Sends a packet, its length before it, and `descriptors` behind it, which stay open here; false
  /// where the other side is gone, or takes nothing.
  @discardableResult package func send(_ packet: [UInt8], _ descriptors: [Int32] = []) -> Bool {
    let isSent = isOver.withLock { isOver in
      !isOver && sendAll(packet) && descriptors.allSatisfy(send)
    }
    if !isSent { close() }
    return isSent
  }

  private func sendAll(_ packet: [UInt8]) -> Bool {
    var sent = 0
    while sent < packet.count {
      let count = unsafe packet.withUnsafeBytes { all in
        unsafe Glibc.send(
          descriptor, all.baseAddress?.advanced(by: sent), all.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// One byte carries it: a descriptor alone does not go over a stream.
  private func send(_ passed: Int32) -> Bool {
    var (byte, passed): (UInt8, Int32) = (0, passed)
    return unsafe bridge_send(descriptor, &byte, 1, &passed, 1) == 1
  }

  /// Closes the connection. Safe to call again.
  package func close() {
    isOver.withLock { isOver in
      if !isOver { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  private func end() {
    isOver.withLock { isOver in
      isOver = true
      Glibc.close(descriptor)
    }
    sink.finish()
  }

  private func run() {
    while let packet = next() {
      guard case .enqueued = sink.yield(packet) else { break }
    }
    end()
  }

  private func next() -> Packet? {
    guard let head = read(4) else { return nil }
    let length = head.reduce(0) { $0 << 8 | Int($1) }
    guard length <= longest, let bytes = read(length) else { return nil }
    let packet = Packet(bytes)
    for _ in 0..<descriptorCount(bytes) {
      guard let descriptor = receiveDescriptor() else { return nil }
      packet.add(descriptor)
    }
    return packet
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var position = 0
    while position < count {
      let got = unsafe bytes.withUnsafeMutableBytes { all in
        unsafe Glibc.read(descriptor, all.baseAddress?.advanced(by: position), count - position)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { return nil }
      position += got
    }
    return bytes
  }

  private func receiveDescriptor() -> Int32? {
    var byte: UInt8 = 0
    var passed: [Int32] = [-1, -1]
    var count: Int32 = 0
    var got = -1
    repeat {
      got = unsafe bridge_receive(descriptor, &byte, 1, &passed, &count)
    } while got < 0 && errno == EINTR
    if count == 2 { Glibc.close(passed[1]) }
    guard got == 1, count >= 1 else {
      if count >= 1 { Glibc.close(passed[0]) }
      return nil
    }
    return passed[0]
  }
}

/// The address of a unix socket.
struct ControlAddress {
  private var address = sockaddr_un()

  /// Nil for a path that is too long.
  init?(_ path: String) {
    let bytes = Array(path.utf8)
    guard !bytes.contains(0), !bytes.isEmpty,
      bytes.count < MemoryLayout.size(ofValue: address.sun_path)
    else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
  }

  /// Never waits: a process that accepts nothing may be stopped.
  func connect(_ descriptor: Int32) -> Bool {
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(descriptor, F_SETFL, flags) }
    return unsafe with { unsafe Glibc.connect(descriptor, $0, $1) == 0 }
  }

  func bind(_ descriptor: Int32) -> Bool {
    unsafe with { unsafe Glibc.bind(descriptor, $0, $1) == 0 }
  }

  private func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, size) }
    }
  }
}
