import BridgeErrors
import BridgeReactor
import CLibSSH2
import Glibc

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
  private(set) var tap = PacketTap()
  var framing = PacketFraming()
  /// What packets from the server are protected with, and the names the library gave for it.
  var protection: (names: (UInt, UInt), value: PacketProtection?) = ((0, 0), nil)
  private(set) var disconnect: Disconnect?
  /// The starts of packets that the library has freed, the last of them maybe because its tag is
  /// wrong.
  private var doubtful: [[UInt8]] = []
  /// Why all data from now on is untrusted; the first cause counts.
  private(set) var damage: Damage?
  /// Called with what the server tells the user before the login, raw, for as long as that is not
  /// over. Maybe on a helper thread.
  var noticed: ((String) -> Void)?
  /// How many notices are passed on; a server may send any number.
  private var noticesLeft = 16
  /// Called when the server's DISCONNECT came, before the library refuses all further calls: the
  /// last moment in which its queues can be read.
  var willDisconnect: (() -> Void)?
  /// What the sign callback of `userauth_publickey` signs with, while that call runs.
  var signer: (([UInt8]) -> [UInt8]?)?
  /// The login with a key that is under way, while that call runs.
  var keyRequest: PublicKeyRequest?
  /// What the keyboard-interactive callback asks, while that call runs.
  var responder: ((KeyboardInteractiveRequest) -> [Secret])?
  /// The library gets nothing that has come, for the time of a call that only sends.
  var isDeaf = false
  /// The receive windows of all channels that the library has, in bytes.
  var windows = 0
  /// The memory that the library holds.
  private(set) var blocks = LibraryBlocks()
  /// An open was sent, and its answer has not come.
  private var isOpening = false
  /// The channels that are not freed: they die with the session.
  private var channels: [UInt32: WeakChannel] = [:]
  /// The channels that the server opened and nothing has accepted yet.
  var arrivals = Arrivals()
  private var session: OpaquePointer?
  /// The library is being torn down: what it frees is nothing that it has accepted.
  private var isFreeing = false

  /// Why a session cannot go on, though its socket is open.
  enum Damage: Sendable, Equatable {
    /// A packet's length cannot be one.
    case length
    /// As `length`, while a notice may come: libssh2 refuses long packets in the same way.
    case lengthInLogin
    /// A packet's MAC or tag is wrong (RFC 4253, 6.4).
    case mac
    /// A length inside of a packet asks for more memory than any real one.
    case size

    /// The library's code for it, and what happened.
    var failure: (code: SSHFailure.Code, text: String) {
      switch self {
      // Later versions of the library find it themselves, and say LIBSSH2_ERROR_DECRYPT.
      case .length: (.decrypt, "a packet's length is damaged")
      case .lengthInLogin:
        (
          .decrypt,
          "a packet of the login is longer than the 40,000 bytes that libssh2 can read (a long "
            + "Banner?), or its length is damaged"
        )
      case .mac: (.invalidMAC, "a packet's MAC is wrong")
      case .size: (.outOfBoundary, "a length in a packet is impossible")
      }
    }
  }

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
  func call(_ body: (LibraryPointer) -> Int32) -> Attempt<Void> {
    guard let session = unsafe session else { return .failed(.badUse, "session is freed") }
    return attempt(unsafe body(LibraryPointer(session)))
  }

  func attempt(_ code: Int32) -> Attempt<Void> {
    conclude(hasFailed: code < 0 && code != LIBSSH2_ERROR_EAGAIN)
    if code < 0, let broken = brokenBy { return .failed(broken.code, broken.text) }
    if code == LIBSSH2_ERROR_EAGAIN { return .again }
    return code < 0 ? .failed(SSHFailure.Code(rawValue: Int(code)), lastMessage()) : .done(())
  }

  /// For calls that return a pointer: nil means look at the session's last error.
  func callForPointer<Value>(_ body: (LibraryPointer) -> Value?) -> Attempt<Value> {
    guard let session = unsafe session else { return .failed(.badUse, "session is freed") }
    if let value = unsafe body(LibraryPointer(session)) {
      confirmPacket()
      return .done(value)
    }
    let code = unsafe libssh2_session_last_errno(session)
    conclude(hasFailed: code != LIBSSH2_ERROR_EAGAIN)
    if let broken = brokenBy { return .failed(broken.code, broken.text) }
    return code == LIBSSH2_ERROR_EAGAIN
      ? .again : .failed(SSHFailure.Code(rawValue: Int(code)), lastMessage())
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

  /// The damage that makes further packets unreadable; nil while they can be used.
  var brokenBy: (code: SSHFailure.Code, text: String)? {
    if framing.isDamaged { recordDamage(noticed == nil ? .length : .lengthInLogin) }
    if framing.isForged { recordDamage(.mac) }
    return damage?.failure
  }

  /// Records damage; nothing received after it is used.
  func recordDamage(_ damage: Damage) { self.damage = self.damage ?? damage }

  /// Whether the carrier has seen neither an end nor an error.
  var isLinkOpen: Bool { wire.carrier.condition == .open }

  /// Releases the session and what carries it. On the loop; a second call does
  /// nothing.
  func release() {
    wire.carrier.stopWatching()
    free()
    wire.carrier.close()
  }

  /// Sends the disconnect message as far as the socket takes it, then frees the session and its
  /// channels. Never waits.
  private func free() {
    guard let session = unsafe session else { return }
    wire.cut()
    isFreeing = true
    for channel in channels.values { channel.value?.abandon() }
    // With the wire cut nothing can be pending; the bound is against a library that thinks
    // otherwise, and then keeps the keys' contexts in libcrypto.
    var result = LIBSSH2_ERROR_EAGAIN
    for _ in 0..<64 where result == LIBSSH2_ERROR_EAGAIN {
      result = unsafe libssh2_session_free(session)
    }
    assert(result != LIBSSH2_ERROR_EAGAIN, "libssh2 waits for a peer while a session is freed")
    unsafe self.session = nil
    blocks.deallocateAll()
  }

  /// Queues SSH_MSG_DISCONNECT "by application" (RFC 4253, 11.1) and flushes it.
  func sendDisconnect() {
    guard let session = unsafe session else { return }
    _ = unsafe libssh2_session_disconnect_ex(session, 11, "closed by user", "")
    _ = wire.flush()
  }

  /// Queues a global request (RFC 4254, 4), so that something goes out, and comes back if it
  /// `wantsReply`.
  func sendKeepalive(wantsReply: Bool = false) {
    guard let session = unsafe session else { return }
    var next: Int32 = 0
    // As an `int` less than nothing: a time that is always over. At 2 it would send one in 2 s.
    unsafe libssh2_keepalive_config(session, wantsReply ? 1 : 0, .max)
    _ = unsafe libssh2_keepalive_send(session, &next)
  }

  /// Called before each call for an open: the first forgets the result of the one before.
  func prepareOpen() {
    if !isOpening {
      tap.forgetOpen()
      arrivals.numberOpened()
    }
    isOpening = true
  }

  /// The open has its answer.
  func endOpen() { isOpening = false }

  /// Whether the end of a channel's output came since `forgetNewEnd`, or may be dealt with now. No
  /// more packets are taken meanwhile, so that its window can be opened for the last time.
  var hasNewEnd: Bool { tap.hasNewEnd && windows > 0 }

  /// Packets are taken again.
  func forgetNewEnd() {
    tap.forgetNewEnd()
    wire.tryAgain()
  }

  func prepareAuthentication() { tap.forgetRefusal() }

  /// `channel` is one of the library's from now on.
  func add(_ channel: NativeChannel) { channels[channel.number] = WeakChannel(value: channel) }

  func forgetChannel(_ number: UInt32) {
    channels[number] = nil
    tap.forgetChannel(number)
  }

  private struct WeakChannel {
    weak var value: NativeChannel?
  }

  /// libssh2's allocation: nil for a length that no real session needs.
  func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
    guard count <= SessionMemory.largestBlock else {
      recordDamage(.size)
      return nil
    }
    let isPacket = framing.isPacket(count)
    guard framing.mayAllocate(count) else { return nil }
    let block = unsafe blocks.allocate(count, isPacket: isPacket)
    unsafe keyRequest?.libraryAllocated(block, count)
    return unsafe block
  }

  /// libssh2's freeing. A packet that it accepted is looked at on its way.
  func deallocate(_ block: UnsafeMutableRawPointer) {
    unsafe keyRequest?.libraryFrees(block)
    let (bytes, isPacket, isSeen) = unsafe LibraryBlocks.contents(of: block)
    if isPacket, !isSeen, damage == nil, !isFreeing {
      let isNotice = unsafe bytes.first == PacketTap.notice
      let head = unsafe UnsafeRawBufferPointer(
        rebasing: isNotice ? bytes[...] : bytes.prefix(PacketTap.reach))
      if framing.mayFreeForged {
        unsafe doubtful.append(Array(head))
      } else {
        unsafe see(head.bindMemory(to: UInt8.self).span)
      }
    }
    unsafe blocks.deallocate(block)
  }

  /// The library has accepted the packet that it was given last.
  func confirmPacket() {
    framing.confirm()
    lookForNotice()
    guard !doubtful.isEmpty else { return }
    let packets = doubtful
    doubtful = []
    for packet in packets { see(packet.span) }
  }

  /// The library keeps notices, and never hands them out.
  private func lookForNotice() {
    guard noticed != nil, framing.isBetweenPackets, damage == nil else { return }
    var found: [UInt8]?
    blocks.lookAtNewestPacket { packet in
      guard packet.count > 0, packet[0] == PacketTap.notice else { return false }
      found = packet.indices.map { packet[$0] }
      return true
    }
    if let found { see(found.span) }
  }

  /// A call of the library is over: it shows whether the packet given last was genuine.
  private func conclude(hasFailed: Bool) {
    if hasFailed {
      framing.callFailed()
      if framing.isForged { doubtful = [] }
    }
    confirmPacket()
  }

  /// Frees what the library gave away to its caller.
  func returnBlock(_ block: UnsafeMutableRawPointer) {
    guard let session = unsafe session else { return }
    unsafe libssh2_free(session, block)
  }

  private func see(_ packet: Span<UInt8>) {
    tap.see(packet)
    if let arrival = tap.takeArrival() { arrivals.see(arrival) }
    if let text = tap.takeNotice(), let noticed, noticesLeft > 0 {
      noticesLeft -= 1
      noticed(text)
    }
  }

  func record(_ disconnect: Disconnect) {
    confirmPacket()
    self.disconnect = disconnect
    willDisconnect?()
  }

  /// The session that libssh2's `abstract` argument leads to.
  static func owner(
    _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
  ) -> SSHSession? {
    guard let pointer = unsafe abstract?.pointee else { return nil }
    return unsafe Unmanaged<SSHSession>.fromOpaque(pointer).takeUnretainedValue()
  }
}
