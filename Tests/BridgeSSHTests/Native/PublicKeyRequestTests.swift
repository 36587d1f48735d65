import BridgeErrors
import Testing

@testable import BridgeSSH

/// What libssh2 is given of a key and of its signature, and what becomes of it in the packet.
@Suite struct PublicKeyRequestTests {
  private static let rsa = key("ssh-rsa", 268)

  /// A key of `type`, with so many bytes behind it.
  private static func key(_ type: String, _ count: Int) -> [UInt8] {
    var writer = WireWriter()
    writer.string(type)
    return writer.bytes + [UInt8](repeating: 7, count: count)
  }

  private func message(
    session: [UInt8] = [1, 2], number: UInt8 = 50, user: String = "ann", isSigned: UInt8 = 1,
    method: String = "rsa-sha2-256", blob: [UInt8] = rsa, rest: [UInt8] = []
  ) -> [UInt8] {
    var writer = WireWriter()
    writer.string(session)
    writer.byte(number)
    for text in [user, "ssh-connection", "publickey"] { writer.string(text) }
    writer.byte(isSigned)
    writer.string(method)
    writer.string(blob)
    return writer.bytes + rest
  }

  @Test func onlyThisRequestIsSigned() throws {
    let request = try #require(PublicKeyRequest(user: "ann", blob: Self.rsa))
    #expect(request.covers(message()))
    for other in [
      message(number: 51), message(user: "bob"), message(isSigned: 0), message(method: "ssh-rsa"),
      message(method: "rsa-sha2-512"), message(blob: Self.key("ssh-rsa", 269)),
      message(rest: [0]), Array(message().dropLast()), [],
    ] {
      #expect(!request.covers(other))
    }
    for blob in [[1, 2, 3], Self.key("ssh-dss", 268), Self.key("ssh-rsa", 3)] as [[UInt8]] {
      #expect(PublicKeyRequest(user: "ann", blob: blob) == nil)
    }
  }

  @Test func theKeyIsThereOnceThePacketIsAllocatedAndNotBefore() throws {
    let request = try #require(PublicKeyRequest(user: "ann", blob: Self.rsa))
    let name = [0, 0, 0, 12] + Array("rsa-sha2-256".utf8)
    #expect(request.shown.prefix(16) == name[...] && request.shown.count == Self.rsa.count)
    unsafe request.libraryAllocated(nil, 12)
    unsafe request.libraryAllocated(nil, 500)
    #expect(request.shown.prefix(16) == name[...])
    unsafe request.libraryAllocated(nil, 45 + 3 + 12 + 279 + 4 + 16 + 4 + 279)
    #expect(request.shown == Self.rsa)
  }

  static let types = [
    ("ssh-ed25519", "ssh-ed25519", "ssh-ed25519"),
    ("ssh-rsa", "rsa-sha2-256", "rsa-sha2-256"),
    ("ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519"),
    ("ssh-rsa-cert-v01@openssh.com", "rsa-sha2-256-cert-v01@openssh.com", "rsa-sha2-256"),
    (
      "sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519@openssh.com"
    ),
    (
      "sk-ssh-ed25519-cert-v01@openssh.com", "sk-ssh-ed25519-cert-v01@openssh.com",
      "sk-ssh-ed25519@openssh.com"
    ),
  ]

  /// The library of Debian 12, written down: what it sends is what a server of today expects.
  @Test(arguments: types) func theSignatureInThePacketIsTheOneThatWasMade(
    _ type: String, _ method: String, _ name: String
  ) throws {
    let blob = Self.key(type, 400)
    let library = LibraryVersion(1, 10, 0)
    let request = try #require(PublicKeyRequest(user: "ann", blob: blob, library: library))
    #expect(request.algorithm.method == method && request.algorithm.signature == name)
    let bare = Self.string([UInt8](repeating: 9, count: 64))
    let end: [UInt8] = name.hasPrefix("sk-") ? [1, 0, 0, 0, 5] : []
    let signature = Self.string(Array(name.utf8)) + bare + end
    let given = try #require(request.given(for: signature))
    var head = WireWriter()
    head.byte(50)
    for text in ["ann", "ssh-connection", "publickey"] { head.string(text) }
    head.byte(1)
    head.string(method)
    head.string(blob)
    let size = head.bytes.count + 4 + (4 + method.utf8.count) + (4 + blob.count)
    let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: given.count, alignment: 1)
    defer {
      unsafe packet.deallocate()
      unsafe block.deallocate()
    }
    unsafe request.libraryAllocated(packet.baseAddress, size)
    var body = WireWriter()
    body.string(method)
    body.string(given)
    head.string(body.bytes)
    unsafe packet.copyBytes(from: head.bytes)
    unsafe request.gave(try #require(block.baseAddress))
    unsafe request.libraryFrees(try #require(packet.baseAddress))
    unsafe request.libraryFrees(try #require(block.baseAddress))
    let sent = unsafe Array(packet.prefix(head.bytes.count))
    #expect(sent.suffix(signature.count + 4) == Self.string(signature)[...])
  }

  /// So it is with those that the library knows.
  @Test func ofACertificateOfAnECDSAKeyTheLibraryWritesTheRightName() throws {
    let blob = Self.key("ecdsa-sha2-nistp521-cert-v01@openssh.com", 400)
    let request = try #require(
      PublicKeyRequest(user: "ann", blob: blob, library: LibraryVersion(1, 10, 0)))
    let signature = Self.string(Array("ecdsa-sha2-nistp521".utf8)) + Self.string([9, 9])
    #expect(request.given(for: signature) == [9, 9])
  }

  /// Later ones know certificates and security keys themselves.
  @Test func aLibraryThatKnowsTheAlgorithmGetsTheBareSignature() throws {
    let blob = Self.key("sk-ssh-ed25519-cert-v01@openssh.com", 400)
    let request = try #require(
      PublicKeyRequest(user: "ann", blob: blob, library: LibraryVersion(1, 11, 1)))
    let bare = Self.string([9, 9]) + [1, 0, 0, 0, 5]
    let signature = Self.string(Array("sk-ssh-ed25519@openssh.com".utf8)) + bare
    #expect(request.given(for: signature) == bare)
    #expect(request.given(for: Self.string(Array("ssh-ed25519".utf8)) + bare) == nil)
  }

  private static func string(_ bytes: [UInt8]) -> [UInt8] {
    var writer = WireWriter()
    writer.string(bytes)
    return writer.bytes
  }
}
