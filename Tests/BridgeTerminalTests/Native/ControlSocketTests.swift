import BridgeTerminal
import Foundation
import Testing

/// Packets and descriptors over a unix socket.
@Suite(.timeLimit(.minutes(1))) struct ControlSocketTests {
  private let path = NSTemporaryDirectory() + "/ctl-\(UUID().uuidString.prefix(8))"

  /// The first byte of a packet says how many descriptors follow it.
  private func listen() throws -> ControlListener {
    try ControlListener(path: path, longest: 1000, descriptorCount: { Int($0.first ?? 0) })
  }

  private func packet(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }

  private func next(_ listener: ControlListener) async -> ControlStream? {
    for await client in listener.clients { return client }
    return nil
  }

  private func next(_ stream: ControlStream) async -> ControlStream.Packet? {
    for await packet in stream.packets { return packet }
    return nil
  }

  @Test func packetsGoBothWaysAndDescriptorsOne() async throws {
    let listener = try listen()
    defer { listener.close() }
    let client = try ControlStream(path: path, longest: 1000)
    let server = try #require(await next(listener))
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    #expect(client.send(packet([2, 7, 8]), [ends[1], ends[1]]))
    #expect(client.send(packet([0])))
    let first = try #require(await next(server))
    #expect(first.bytes == [2, 7, 8])
    let passed = first.takeDescriptors()
    #expect(Set(passed + ends).count == 4)
    for descriptor in passed {
      #expect(unsafe write(descriptor, "x", 1) == 1)
      #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
      close(descriptor)
    }
    close(ends[1])
    var bytes = [UInt8](repeating: 0, count: 8)
    #expect(unsafe read(ends[0], &bytes, 8) == 2)
    // None is held any more.
    #expect(unsafe read(ends[0], &bytes, 8) == 0)
    close(ends[0])
    #expect(await next(server)?.bytes == [0])
    #expect(server.send(packet([5])))
    #expect(await next(client)?.bytes == [5])
    client.close()
    #expect(await next(server) == nil)
    #expect(!server.send(packet([1])))
  }

  /// Of a packet that nothing has read, and of one that nothing has taken them of.
  @Test(arguments: [true, false]) func descriptorsThatNothingTakesAreClosed(_ isRead: Bool)
    async throws
  {
    let listener = try listen()
    defer { listener.close() }
    let client = try ControlStream(path: path, longest: 1000)
    var server = await next(listener)
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    #expect(client.send(packet([1]), [ends[1]]))
    if isRead, let server { #expect(await next(server)?.passed.count == 1) }
    close(ends[1])
    client.close()
    server?.close()
    server = nil
    var byte: UInt8 = 0
    #expect(unsafe read(ends[0], &byte, 1) == 0)
    close(ends[0])
  }

  /// Longer than agreed, without its descriptors, or cut.
  @Test(arguments: [
    [0, 0, 4, 0], [0, 0, 0, 1, 3], [0, 0, 0, 9, 1], [0, 0], [255, 255, 255, 255],
  ])
  func whatIsNoPacketEndsTheStream(_ bytes: [UInt8]) async throws {
    let listener = try listen()
    defer { listener.close() }
    let client = try ControlStream(path: path, longest: 1000)
    let server = try #require(await next(listener))
    #expect(client.send(bytes))
    client.close()
    #expect(await next(server) == nil)
  }

  @Test func aPathIsOneListenersAndGoesWithIt() throws {
    #expect(throws: ControlStream.Refusal.absent(errno: ENOENT)) {
      try ControlStream(path: path, longest: 1)
    }
    let first = try listen()
    #expect(throws: ControlListener.Refusal.isInUse) { try listen() }
    var status = stat()
    #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    ControlListener.removeAbandoned(path)
    #expect(FileManager.default.fileExists(atPath: path))
    first.close()
    #expect(!FileManager.default.fileExists(atPath: path))
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let left = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(!left.contains { $0.hasPrefix(URL(fileURLWithPath: path).lastPathComponent) })
  }

  /// One that another has in the meantime stays there.
  @Test func onlyTheSocketOfOnesOwnIsRemoved() throws {
    let first = try listen()
    try FileManager.default.removeItem(atPath: path)
    let second = try listen()
    first.close()
    #expect(FileManager.default.fileExists(atPath: path))
    second.close()
  }

  @Test func aFileIsNoAbandonedSocket() throws {
    try Data().write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(throws: ControlStream.Refusal.abandoned) { try ControlStream(path: path, longest: 1) }
    ControlListener.removeAbandoned(path)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(throws: ControlListener.Refusal.isInUse) { try listen() }
  }

  /// Of a process that is stopped: the one behind those that wait there is not kept.
  @Test func aProcessThatAcceptsNothingIsNotWaitedFor() throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) {
      unsafe $0.copyBytes(from: Array(path.utf8))
    }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let isBound = unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, size) == 0
      }
    }
    try #require(isBound && Glibc.listen(descriptor, 1) == 0)
    var waiting: [ControlStream] = []
    #expect(throws: ControlStream.Refusal.silent) {
      for _ in 0..<4 { waiting.append(try ControlStream(path: path, longest: 1)) }
    }
    #expect(waiting.count == 2)
    close(descriptor)
    try FileManager.default.removeItem(atPath: path)
  }

  @Test func aPlaceIsLookedAtBefore() {
    #expect(ControlListener.problem(at: path) == nil)
    #expect(ControlListener.problem(at: "/none/x") == .failed(errno: ENOENT))
    let long = "/tmp/" + String(repeating: "a", count: 100)
    #expect(ControlListener.problem(at: long) == .failed(errno: ENAMETOOLONG))
  }

  /// All that was handed over is written first.
  @Test func aWriterClosesWhatIsItsOwnAtItsEnd() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    let writer = DescriptorWriter(ends[1], ownsDescriptor: true)
    writer.post("ab")
    writer.finish()
    var bytes = [UInt8](repeating: 0, count: 8)
    #expect(unsafe read(ends[0], &bytes, 8) == 2)
    #expect(unsafe read(ends[0], &bytes, 8) == 0)
    #expect(await writer.write([1]) == .failed)
    close(ends[0])
    try #require(unsafe pipe(&ends) == 0)
    DescriptorWriter(ends[1], ownsDescriptor: true).finish()
    #expect(unsafe read(ends[0], &bytes, 8) == 0)
    close(ends[0])
  }
}
