/// One login with an RSA key by rsa-sha2-256 (RFC 8332), through a libssh2 that knows no such
/// method.
///
/// The library reads the key that it is given twice: its first string is the name of the method,
/// and later the whole goes into the packet. It gets a buffer that begins with the method's name,
/// and that holds the key once the packet was allocated. Nothing but this buffer is written, and
/// what is to be signed is parsed first: a library that works otherwise gets no signature.
@safe final class RSARequest: @unchecked Sendable {
  static let method = "rsa-sha2-256"
  /// The signature flag of agents for it (draft-miller-ssh-agent, 4.5.1).
  static let agentFlags: UInt32 = 2

  let user: String
  let blob: [UInt8]
  private let buffer: UnsafeMutableRawBufferPointer
  private var isSwapped = false

  /// Nil where `blob` is too short for any RSA key.
  init?(user: String, blob: [UInt8]) {
    guard blob.count >= 64 else { return nil }
    self.user = user
    self.blob = blob
    unsafe buffer = .allocate(byteCount: blob.count, alignment: 1)
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
    var name = WireWriter()
    name.string(Self.method)
    unsafe buffer.copyBytes(from: name.bytes)
  }

  deinit { unsafe buffer.deallocate() }

  /// Passes what the library is to be given for the key.
  func withKey<Result>(_ body: (UnsafePointer<UInt8>, Int) -> Result) -> Result? {
    guard let base = unsafe buffer.baseAddress else { return nil }
    return unsafe body(base.assumingMemoryBound(to: UInt8.self), buffer.count)
  }

  /// What the library reads now.
  var shown: [UInt8] { unsafe Array(buffer) }

  /// The library allocates a block while it works on this request.
  func libraryAllocates(_ count: Int) {
    guard !isSwapped, count == packetSize else { return }
    isSwapped = true
    unsafe buffer.copyBytes(from: blob)
  }

  /// Packet, method and space for the signature, as the library adds them up.
  private var packetSize: Int {
    let method = Self.method.utf8.count
    return 45 + user.utf8.count + method + blob.count + 4 + (4 + method) + (4 + blob.count)
  }

  /// Whether `message` is the session's id and this request, and nothing else (RFC 4252, 7).
  func covers(_ message: [UInt8]) -> Bool {
    var reader = WireReader(message)
    return reader.string() != nil && reader.byte() == 50
      && reader.string() == Array(user.utf8) && reader.string() == Array("ssh-connection".utf8)
      && reader.string() == Array("publickey".utf8) && reader.byte() == 1
      && reader.string() == Array(Self.method.utf8) && reader.string() == blob
      && reader.remaining == 0
  }
}
