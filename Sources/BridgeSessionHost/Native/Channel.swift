import CSessionSystem
import Glibc

/// A descriptor whose reads and writes do not wait.
struct Channel {
  /// What keeps a call from waiting.
  enum Kind {
    /// O_NONBLOCK, of a description that no other process shares.
    case own
    /// MSG_DONTWAIT. A socket cannot be opened again, and its description is shared.
    case socket
    /// A look before each call: the description is shared, and O_NONBLOCK would be for all. Between
    /// the look and the call only this process reads or writes here.
    case shared
  }

  let descriptor: Descriptor
  private let kind: Kind

  init(_ descriptor: Descriptor, _ kind: Kind) {
    self.descriptor = descriptor
    self.kind = kind
  }

  /// A pipe that can be written takes so much at once (PIPE_BUF, pipe(7)).
  private static let longestShared = 4096

  enum Input {
    case bytes([UInt8])
    case nothing
    case end
  }

  enum Output: Equatable {
    case wrote(Int)
    case nothing
    case closed
  }

  /// What is there, at most `limit` bytes. An error of the peer is an end.
  func read(_ limit: Int) -> Input {
    if kind == .shared, !Poller.isReadable(descriptor.number) { return .nothing }
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      var result = -1
      repeat {
        result =
          kind == .socket
          ? unsafe recv(descriptor.number, buffer.baseAddress, limit, Int32(MSG_DONTWAIT))
          : unsafe Glibc.read(descriptor.number, buffer.baseAddress, limit)
        failure = result < 0 ? errno : 0
      } while failure == EINTR
      count = max(0, result)
    }
    if failure == EAGAIN { return .nothing }
    return bytes.isEmpty ? .end : .bytes(bytes)
  }

  /// Writes bytes from `start` on, as many as fit now.
  func write(_ bytes: [UInt8], from start: Int) -> Output {
    start < bytes.count ? write(bytes[start...], []) : .wrote(0)
  }

  /// Writes two parts, as many bytes of them as fit now.
  func write(_ bytes: ArraySlice<UInt8>, _ more: ArraySlice<UInt8>) -> Output {
    guard kind == .shared else { return writeNow(bytes, more) }
    guard Poller.isWritable(descriptor.number) else { return .nothing }
    let first = bytes.prefix(Self.longestShared)
    let space = first.count == bytes.count ? Self.longestShared - first.count : 0
    return writeNow(first, more.prefix(space))
  }

  private func writeNow(_ bytes: ArraySlice<UInt8>, _ more: ArraySlice<UInt8>) -> Output {
    unsafe bytes.withUnsafeBytes { first in
      unsafe more.withUnsafeBytes { second in
        while true {
          let result = unsafe bridge_write_parts(
            descriptor.number, kind == .socket ? 1 : 0, first.baseAddress, first.count,
            second.baseAddress, second.count)
          if result >= 0 { return .wrote(result) }
          if errno == EINTR { continue }
          return errno == EAGAIN ? .nothing : .closed
        }
      }
    }
  }
}
