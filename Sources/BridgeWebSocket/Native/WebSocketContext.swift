import BridgeReactor
import BridgeWaiting
import CLibUV
import CLibWebSockets

/// The library's context of one reactor, on its libuv loop, made for its first connection.
///
/// On the reactor's thread only.
@safe final class WebSocketContext: @unchecked Sendable {
  private static let all = Mutex([ObjectIdentifier: WebSocketContext]())

  /// A virtual host: what connections of one kind of trust share. Lives as long as its context.
  @safe struct Host {
    let raw: OpaquePointer
  }

  let raw: OpaquePointer
  let watch: FrameWatch
  private let pipe: WakePipe?
  private let loop: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  private var pause: LoopTimer?
  private var hosts: [TrustStore.Key?: Host] = [:]

  /// The context of `reactor`; nil when the library refuses, for instance because its libuv plug-in
  /// is not installed.
  static func of(_ reactor: Reactor) -> WebSocketContext? {
    reactor.preconditionIsolated()
    let id = ObjectIdentifier(reactor)
    if let known = all.withLock({ $0[id] }) { return known }
    return make(on: reactor, validity: nil)
  }

  /// Makes the context of `reactor`; `validity` replaces the library's default of its connections.
  static func make(on reactor: Reactor, validity: PeerValidity?) -> WebSocketContext? {
    let id = ObjectIdentifier(reactor)
    guard let made = WebSocketContext(on: reactor, validity) else { return nil }
    all.withLock { $0[id] = made }
    reactor.atStop { [unowned reactor] in
      all.withLock { _ = $0.removeValue(forKey: id) }
      made.detach(reactor)
    }
    return made
  }

  /// Leaves the loop, in two steps (README.event-libs.md of libwebsockets): what is open is closed,
  /// which libuv does in later turns, and then the rest is freed.
  private func detach(_ reactor: Reactor) {
    watch.stop()
    if let pipe {
      pipe.closeOnce { unsafe lws_context_destroy(raw) }
    } else {
      unsafe lws_context_destroy(raw)
    }
    // One turn closes the connections, another the library's own handles.
    rest(turns: 3, on: reactor) { [self] in
      unsafe lws_context_destroy(raw)
      unsafe loop.deallocate()
    }
  }

  private func rest(turns: Int, on reactor: Reactor, then body: @escaping () -> Void) {
    guard turns > 0 else { return body() }
    pause = LoopTimer(after: .milliseconds(1), on: reactor) { [self] in
      pause = nil
      rest(turns: turns - 1, on: reactor, then: body)
    }
  }

  private init?(on reactor: Reactor, _ validity: PeerValidity?) {
    LibWebSockets.silence
    unsafe loop = .allocate(capacity: 1)
    unsafe loop.initialize(to: UnsafeMutableRawPointer(reactor.native))
    var info = unsafe lws_context_creation_info()
    unsafe info.port = CONTEXT_PORT_NO_LISTEN
    unsafe info.protocols = UnsafePointer(LibWebSockets.protocols.first)
    unsafe info.foreign_loops = loop
    // -1, "leave as it is": an int in libwebsockets 4.1, a gid_t and a uid_t since 4.2.
    unsafe info.gid = .init(truncatingIfNeeded: -1)
    unsafe info.uid = .init(truncatingIfNeeded: -1)
    unsafe info.fd_limit_per_thread = LibWebSockets.descriptorLimit()
    unsafe info.pt_serv_buf_size = UInt32(LibWebSockets.readSize)
    unsafe info.max_http_header_data2 = UInt32(WebSocketFacts.headerLimit)
    unsafe info.timeout_secs = Self.never
    if let validity { unsafe info.retry_and_idle_policy = validity.raw }
    let others = unsafe WakePipe.watchers(on: reactor.native)
    guard let raw = unsafe LibWebSockets.make(&info) else {
      unsafe loop.deallocate()
      return nil
    }
    unsafe self.raw = raw
    watch = FrameWatch(on: reactor)
    unsafe pipe = WakePipe(on: reactor.native, besides: others)
  }

  /// Every deadline is ours; the library's own must not come first. In seconds.
  private static let never: UInt32 = 24 * 3600

  /// What connections with this trust are made on; nil is plain TCP.
  func host(for trust: TrustStore?) -> Host? {
    let key = trust?.key
    if let known = hosts[key] { return known }
    var info = unsafe lws_context_creation_info()
    unsafe info.port = CONTEXT_PORT_NO_LISTEN
    unsafe info.protocols = UnsafePointer(LibWebSockets.protocols.first)
    unsafe info.vhost_name = immortal("bridge")
    unsafe info.connect_timeout_secs = Self.never
    unsafe info.timeout_secs = Self.never
    // Not empty-handed: without an address the library takes the environment's proxy.
    unsafe info.http_proxy_address = immortal("")
    if let trust {
      unsafe info.options = UInt64(LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT)
      unsafe info.provided_client_ssl_ctx = trust.context
    }
    guard let raw = unsafe lws_create_vhost(raw, &info) else { return nil }
    let host = unsafe Host(raw: raw)
    hosts[key] = host
    return host
  }
}
