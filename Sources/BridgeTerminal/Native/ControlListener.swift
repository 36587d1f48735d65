import BridgeTransport
import BridgeWaiting
import Glibc

/// A unix socket that processes of this user connect to.
package final class ControlListener: Sendable {
  /// Why there is none.
  package enum Refusal: Error, Sendable, Equatable {
    /// Another process has the path.
    case isInUse
    case failed(errno: Int32)

    /// The system's words.
    package var words: String {
      switch self {
      case .isInUse: unsafe String(cString: strerror(EADDRINUSE))
      case .failed(let errno): unsafe String(cString: strerror(errno))
      }
    }
  }

  /// Those that have connected. One reader.
  package let clients: AsyncStream<ControlStream>
  private let sink: AsyncStream<ControlStream>.Continuation
  private let path: String
  private let file: FileNumber?
  /// Closed by the thread that accepts.
  private let descriptor: Int32
  private let isOver = Mutex(false)

  /// Behind the path while it is made, so that none finds a socket that nothing listens at yet.
  private static func suffix() -> String { ".\(getpid())" }
  private static let backlog: Int32 = 64
  /// How long nothing is accepted when descriptors have run out, in milliseconds.
  private static let shortagePause: Int32 = 100

  /// Whether a socket cannot be made at `path`; nil where it can, as far as that is known before.
  package static func problem(at path: String) -> Refusal? {
    guard ControlAddress(path + suffix()) != nil else { return .failed(errno: ENAMETOOLONG) }
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { String(path[..<$0]) + "/" } ?? "."
    return unsafe access(directory, W_OK | X_OK) == 0 ? nil : .failed(errno: errno)
  }

  /// Makes the socket, which others cannot use.
  ///
  /// - Parameters:
  ///   - longest: of a packet of a client, in bytes.
  ///   - descriptorCount: how many descriptors follow a packet.
  /// - Throws: `Refusal`.
  package init(
    path: String, longest: Int, descriptorCount: @escaping @Sendable ([UInt8]) -> Int
  ) throws(Refusal) {
    let draft = path + Self.suffix()
    // Of a process that had the same number.
    unsafe unlink(draft)
    descriptor = try Self.listen(at: draft)
    self.path = path
    if let refusal = Self.move(draft, to: path) {
      Glibc.close(descriptor)
      throw refusal
    }
    file = FileNumber(path)
    (clients, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Int(Self.backlog)))
    let isStarted = NativeThread.start { [self] in
      run { ControlStream($0, longest: longest, descriptorCount: descriptorCount) }
    }
    if !isStarted {
      unsafe unlink(path)
      Glibc.close(descriptor)
      throw .failed(errno: EAGAIN)
    }
  }

  private static func listen(at path: String) throws(Refusal) -> Int32 {
    guard let address = ControlAddress(path) else { throw .failed(errno: ENAMETOOLONG) }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { throw .failed(errno: errno) }
    // Nothing can connect before it listens. Whatever umask(2) is.
    guard address.bind(descriptor), unsafe chmod(path, 0o600) == 0,
      Glibc.listen(descriptor, backlog) == 0
    else {
      let code = errno
      Glibc.close(descriptor)
      throw .failed(errno: code)
    }
    return descriptor
  }

  private static func move(_ draft: String, to path: String) -> Refusal? {
    defer { unsafe unlink(draft) }
    guard unsafe link(draft, path) != 0 else { return nil }
    switch errno {
    case EEXIST: return .isInUse
    // A file system without links.
    case EPERM, EOPNOTSUPP, ENOSYS:
      guard FileNumber(path) == nil else { return .isInUse }
      return unsafe rename(draft, path) == 0 ? nil : .failed(errno: errno)
    case let code: return .failed(errno: code)
    }
  }

  /// Removes a socket that no process listens at.
  package static func removeAbandoned(_ path: String) {
    let number = FileNumber(path)
    guard let address = ControlAddress(path), let number, number.isSocket else { return }
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    defer { Glibc.close(descriptor) }
    guard descriptor >= 0, !address.connect(descriptor), errno == ECONNREFUSED,
      FileNumber(path) == number
    else { return }
    unsafe unlink(path)
  }

  /// Takes no more, and removes the socket. Safe to call again.
  package func close() {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    guard isFirst else { return }
    if let file, FileNumber(path) == file { unsafe unlink(path) }
    // Wakes the thread.
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  private func run(_ stream: (Int32) -> ControlStream) {
    while !isOver.withLock(\.self) {
      let client = accept(descriptor, nil, nil)
      if client >= 0 {
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        guard ControlStream.stranger(at: client) == nil else {
          Glibc.close(client)
          continue
        }
        let next = stream(client)
        if case .enqueued = sink.yield(next) { continue }
        next.close()
        continue
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: _ = poll(nil, 0, Self.shortagePause)
      default:
        close()
      }
    }
    Glibc.close(descriptor)
    sink.finish()
  }
}

/// What a path leads to: the same file as long as this is the same.
private struct FileNumber: Equatable {
  private let device: dev_t
  private let number: ino_t
  let isSocket: Bool

  /// Nil where nothing is there.
  init?(_ path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    (device, number) = (status.st_dev, status.st_ino)
    isSocket = status.st_mode & S_IFMT == S_IFSOCK
  }
}
