/// One login with a key, by an algorithm that libssh2 may not know: RSA with SHA-2 (RFC 8332),
/// certificates (PROTOCOL.certkeys) and security keys (PROTOCOL.u2f).
///
/// The library reads the key that it is given twice: its first string is the name of the method,
/// and later the whole goes into the packet. Where that name is another one than the key's type, it
/// gets a buffer that begins with it, and that holds the key once the packet was allocated. Where
/// it would write another signature than the one that was made, it gets one of the same size to
/// write, and that is replaced in the packet when the library frees it, before it sends. Nothing is
/// written but this buffer and what has exactly the expected bytes, and what is to be signed is
/// parsed first: a library that works otherwise gets no signature.
@safe final class PublicKeyRequest: @unchecked Sendable {
  let user: String
  let blob: [UInt8]
  let algorithm: PublicKeyAlgorithm
  private let library: LibraryVersion
  private let buffer: UnsafeMutableRawBufferPointer
  private var packet: UnsafeMutableRawPointer?
  /// What the library writes in place of the signature.
  private var substitute: Substitute?

  private struct Substitute {
    var bytes: [UInt8]
    var signature: [UInt8]
  }

  /// The library's block of it.
  private var substituteBlock: UnsafeMutableRawPointer?

  /// Nil where `blob` is too short for any key, or of a type that cannot be used.
  init?(user: String, blob: [UInt8], library: LibraryVersion = .linked) {
    var reader = WireReader(blob)
    guard let type = reader.string(), blob.count >= 48,
      let algorithm = PublicKeyAlgorithm(keyType: String(decoding: type, as: UTF8.self)),
      algorithm.method.utf8.count + 4 <= blob.count
    else { return nil }
    self.user = user
    self.blob = blob
    self.algorithm = algorithm
    self.library = library
    unsafe buffer = .allocate(byteCount: blob.count, alignment: 1)
    unsafe buffer.copyBytes(from: blob)
    guard algorithm.method != algorithm.keyType else { return }
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
    var name = WireWriter()
    name.string(algorithm.method)
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

  /// The library has allocated a block while it works on this request.
  func libraryAllocated(_ block: UnsafeMutableRawPointer?, _ count: Int) {
    guard unsafe packet == nil, count == packetSize else { return }
    unsafe packet = block
    unsafe buffer.copyBytes(from: blob)
  }

  /// The library frees a block.
  func libraryFrees(_ block: UnsafeMutableRawPointer) {
    guard let substitute, let packet = unsafe packet, unsafe substituteBlock == block else {
      return
    }
    self.substitute = nil
    var (written, right) = (WireWriter(), WireWriter())
    var body = WireWriter()
    body.string(algorithm.method)
    body.string(substitute.bytes)
    written.string(body.bytes)
    right.string(substitute.signature)
    let tail = unsafe UnsafeMutableRawBufferPointer(
      start: packet + requestSize, count: written.bytes.count)
    guard right.bytes.count == tail.count, unsafe tail.elementsEqual(written.bytes) else { return }
    unsafe tail.copyBytes(from: right.bytes)
  }

  /// The request without its signature.
  private var requestSize: Int {
    45 + user.utf8.count + algorithm.method.utf8.count + blob.count
  }

  /// Request, method and space for the signature, as the library adds them up.
  private var packetSize: Int {
    requestSize + 4 + (4 + algorithm.method.utf8.count) + (4 + blob.count)
  }

  /// What the library is to be given for `signature`, which has its algorithm's name in front; nil
  /// where it is not one of this request.
  func given(for signature: [UInt8]) -> [UInt8]? {
    var reader = WireReader(signature)
    guard let name = reader.string(), name == Array(algorithm.signature.utf8) else { return nil }
    let rest = signature.suffix(reader.remaining)
    guard let bare = reader.string(), algorithm.isSecurityKey == (reader.remaining > 0) else {
      return nil
    }
    // It knows certificates and security keys.
    if library >= LibraryVersion(1, 11, 0) {
      return algorithm.isSecurityKey ? Array(rest) : bare
    }
    // Of certificates it knows those of ECDSA keys.
    let isKnown = algorithm.method == algorithm.signature || name.starts(with: "ecdsa-".utf8)
    if isKnown, !algorithm.isSecurityKey { return bare }
    let count = signature.count - 8 - algorithm.method.utf8.count
    guard count > 0, count <= blob.count else { return nil }
    let bytes = [UInt8](repeating: 0, count: count)
    substitute = Substitute(bytes: bytes, signature: signature)
    return bytes
  }

  /// The library's block of what it was given for the signature.
  func gave(_ block: UnsafeMutableRawPointer) { unsafe substituteBlock = block }

  /// Whether `message` is the session's id and this request, and nothing else (RFC 4252, 7).
  func covers(_ message: [UInt8]) -> Bool {
    var reader = WireReader(message)
    return reader.string() != nil && reader.byte() == 50
      && reader.string() == Array(user.utf8) && reader.string() == Array("ssh-connection".utf8)
      && reader.string() == Array("publickey".utf8) && reader.byte() == 1
      && reader.string() == Array(algorithm.method.utf8) && reader.string() == blob
      && reader.remaining == 0
  }
}
