import BridgeReactor
import BridgeWaiting
import CLibUV
import CLibWebSockets
import Glibc

/// The library as a whole: what is set up once per process.
enum LibWebSockets {
  /// The padding that `lws_write` requires in front of a payload, in bytes.
  static let padding = Int(bridge_lws_pre)
  /// What one call of the library reads at most, and the piece of a message it hands out.
  static let readSize = 16 << 10
  /// What one call of the library writes at most before it keeps a copy of the rest.
  static let writeSize = 256 << 10

  /// Its log says what our failures say better, to a stream that is not ours.
  static let silence: Void = {
    unsafe lws_set_log_level(0) { _, _ in }
  }()

  /// One protocol, for every connection; the library keeps the pointer.
  @safe static let protocols = ProtocolTable()

  /// libwebsockets numbers its OpenSSL data anew for every context that initializes OpenSSL, and
  /// finds its connections by the last number: only the first context of a process may do it.
  private static let mayInitialiseOpenSSL = Mutex(true)

  /// Makes contexts one after the other: none may use OpenSSL before the first has set it up.
  static func make(_ info: inout lws_context_creation_info) -> OpaquePointer? {
    let options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS
    return unsafe mayInitialiseOpenSSL.withLock { isFirst in
      unsafe info.options = UInt64(options | (isFirst ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0))
      let made = unsafe lws_create_context(&info)
      if unsafe made != nil { isFirst = false }
      return unsafe made
    }
  }

  /// The library's table of descriptors is as long as the process may open; beyond this it is kept
  /// short, for a linear search each.
  static let largestTable: rlim_t = 65_536

  static func descriptorLimit() -> UInt32 {
    var limit = rlimit()
    let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return isKnown && limit.rlim_cur <= largestTable ? 0 : 16_384
  }
}

/// When the library itself pings a peer, and hangs up on one whose pong it has not read.
///
/// Its default hangs up 310 s after the last pong, also where a slow reader of ours leaves the pong
/// unread, and where a server that sends answers no ping. Every deadline is ours: a connection gets
/// `unchecked`. The library keeps the pointer.
@safe struct PeerValidity: @unchecked Sendable {
  let raw: UnsafePointer<lws_retry_bo_t>

  /// A ping after `ping` seconds, a hang-up after `hangUp`.
  init(ping: UInt16, hangUp: UInt16) {
    var policy = unsafe lws_retry_bo_t()
    unsafe policy.secs_since_valid_ping = ping
    unsafe policy.secs_since_valid_hangup = hangUp
    let raw = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
    unsafe raw.initialize(to: policy)
    unsafe self.raw = unsafe UnsafePointer(raw)
  }

  /// No ping of the library's own and no hang-up: 0 turns both off.
  static let unchecked = PeerValidity(ping: 0, hangUp: 0)
}

/// The library's list of protocols: ours and the end mark.
@safe final class ProtocolTable: @unchecked Sendable {
  let first: UnsafeMutablePointer<lws_protocols>

  init() {
    unsafe first = .allocate(capacity: 2)
    unsafe first.initialize(repeating: lws_protocols(), count: 2)
    unsafe first.pointee.name = Self.name
    unsafe first.pointee.callback = { unsafe serveLink($0, $1, $2, $3, $4) }
    unsafe first.pointee.rx_buffer_size = LibWebSockets.readSize
    unsafe first.pointee.tx_packet_size = LibWebSockets.writeSize
  }

  /// The name connections are bound by; never on the wire.
  static var name: UnsafePointer<CChar> { unsafe immortal("bridge") }
}

/// A C string that lives as long as the process.
func immortal(_ text: StaticString) -> UnsafePointer<CChar> {
  unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}
