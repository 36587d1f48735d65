import BridgeErrors
import BridgeReactor
import CLibSSH2
import Foundation

/// One libssh2 session over a `Wire`: non-blocking, one thread at a time, freed once.
///
/// libssh2 keeps one call's state per kind in the session, so open, authentication and global
/// requests run one after another (`OperationQueue`), each to its end.
@safe final class SSHSession: @unchecked Sendable {
  /// SSH_MSG_DISCONNECT (RFC 4253, 11.1), raw.
  struct Disconnect: Sendable, Equatable {
    var reason: Int
    var message: String
  }

  let wire: Wire
  /// Tells when the socket is ready; closed before the socket is.
  var watcher: DescriptorWatcher?
  private(set) var tap = PacketTap()
  var framing = PacketFraming()
  /// What packets from the server are protected with, and the names the library gave for it.
  var protection: (names: (UInt, UInt), value: PacketProtection?) = ((0, 0), nil)
  private(set) var disconnect: Disconnect?
  /// What the sign callback of `userauth_publickey` signs with, while that call runs.
  var signer: (([UInt8]) -> [UInt8]?)?
  /// What the keyboard-interactive callback asks, while that call runs.
  var responder: ((KeyboardInteractiveRequest) -> [Secret])?
  private var session: OpaquePointer?
  /// The addresses of what the library was lent and has not returned.
  private var blocks: Set<UInt> = []

  /// Nil when memory is short.
  init?(wire: Wire) {
    guard LibSSH2.isReady else { return nil }
    self.wire = wire
    let session = unsafe libssh2_session_init_ex(
      { unsafe SessionMemory.allocate($0, $1) }, { unsafe SessionMemory.free($0, $1) },
      { unsafe SessionMemory.reallocate($0, $1, $2) },
      Unmanaged.passUnretained(self).toOpaque())
    guard let session = unsafe session else { return nil }
    unsafe self.session = session
    unsafe SessionMemory.returnEmptyPages(of: UnsafeMutableRawPointer(session))
    unsafe libssh2_session_set_blocking(session, 0)
    unsafe SessionCallbacks.install(in: session)
  }

  deinit { release() }

  /// Runs `body` on the native session; a freed one answers with `LIBSSH2_ERROR_BAD_USE`.
  func call(_ body: (LentPointer) -> Int32) -> Attempt<Void> {
    guard let session = unsafe session else { return .failed(-39, "session is freed") }
    return attempt(unsafe body(LentPointer(session)))
  }

  func attempt(_ code: Int32) -> Attempt<Void> {
    if code < 0, framing.isDamaged { return .damaged }
    if code == LIBSSH2_ERROR_EAGAIN { return .again }
    return code < 0 ? .failed(Int(code), lastMessage()) : .done(())
  }

  /// For calls that return a pointer: nil means look at the session's last error.
  func callForPointer<Value>(_ body: (LentPointer) -> Value?) -> Attempt<Value> {
    guard let session = unsafe session else { return .failed(-39, "session is freed") }
    if let value = unsafe body(LentPointer(session)) { return .done(value) }
    if framing.isDamaged { return .damaged }
    let code = unsafe libssh2_session_last_errno(session)
    return code == LIBSSH2_ERROR_EAGAIN ? .again : .failed(Int(code), lastMessage())
  }

  /// The library's text for its last error. Borrowed by the library, so copied at once; may be
  /// stale.
  func lastMessage() -> String {
    guard let session = unsafe session else { return "" }
    var text: UnsafeMutablePointer<CChar>?
    var length: Int32 = 0
    unsafe libssh2_session_last_error(session, &text, &length, 0)
    guard let text = unsafe text else { return "" }
    return unsafe String(cString: text)
  }

  /// Whether the socket has seen neither an end nor an error.
  var isLinkOpen: Bool { wire.socket.condition == .open }

  /// Gives everything back: the watching, the session, the descriptor. On the loop; again does
  /// nothing.
  func release() {
    watcher?.close()
    watcher = nil
    free()
    wire.socket.shutDown()
    wire.socket.close()
  }

  /// Says goodbye as far as the socket takes it, then frees the session and its channels. Never
  /// waits.
  private func free() {
    guard let session = unsafe session else { return }
    wire.cut()
    // With the wire cut nothing can be pending; the bound is against a library that thinks
    // otherwise.
    for _ in 0..<64 {
      if unsafe libssh2_session_free(session) != LIBSSH2_ERROR_EAGAIN { break }
    }
    unsafe self.session = nil
    for block in blocks { unsafe SessionMemory.wipe(UnsafeMutableRawPointer(bitPattern: block)) }
    blocks = []
  }

  /// Queues SSH_MSG_DISCONNECT "by application" (RFC 4253, 11.1) and flushes it.
  func sayGoodbye() {
    guard let session = unsafe session else { return }
    _ = unsafe libssh2_session_disconnect_ex(session, 11, "closed by user", "")
    _ = wire.flush()
  }

  /// Queues a request that asks for no answer (RFC 4254, 4), so that something goes out.
  func nudge() {
    guard let session = unsafe session else { return }
    var next: Int32 = 0
    // As an `int` less than nothing: a time that is always over. At 2 it would send one in 2 s.
    unsafe libssh2_keepalive_config(session, 0, .max)
    _ = unsafe libssh2_keepalive_send(session, &next)
  }

  func prepareOpen() { tap.forgetOpen() }

  func prepareAuthentication() { tap.forgetRefusal() }

  func forgetChannel(_ number: UInt32) { tap.forgetChannel(number) }

  func note(lent block: UnsafeMutableRawPointer) { blocks.insert(UInt(bitPattern: block)) }

  func note(returned block: UnsafeMutableRawPointer) { blocks.remove(UInt(bitPattern: block)) }

  /// Frees what the library gave away to its caller.
  func returnBlock(_ block: UnsafeMutableRawPointer) {
    guard let session = unsafe session else { return }
    unsafe libssh2_free(session, block)
  }

  func see(freed bytes: UnsafeRawBufferPointer) {
    let block = unsafe bytes.prefix(PacketTap.reach)
    unsafe tap.see(UnsafeRawBufferPointer(rebasing: block).bindMemory(to: UInt8.self).span)
  }

  func note(_ disconnect: Disconnect) { self.disconnect = disconnect }

  /// The session that libssh2's `abstract` argument leads to.
  static func owner(
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> SSHSession? {
    guard let pointer = unsafe abstract?.pointee else { return nil }
    return unsafe Unmanaged<SSHSession>.fromOpaque(pointer).takeUnretainedValue()
  }
}
