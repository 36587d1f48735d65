import BridgeErrors
import BridgeReactor
import BridgeTransport
import BridgeWaiting
import CLibWebSockets
import Glibc

/// A step in the life of a native WebSocket.
enum NativeWebSocketStep {
  /// TCP is there.
  case connected
  /// Upgraded; with the subprotocol the server chose.
  case established(subprotocol: String?)
  /// The ping of this probe was written.
  case pinged(Int)
  /// A pong with this payload.
  case pong([UInt8])
  /// The server broke a rule, received a close frame and is no longer read; the facts say which.
  case refused
  /// The library is done with it: the last step, and the only one that ends it.
  case gone
}

/// One connection of libwebsockets, from dial to end.
///
/// On the reactor's thread only. The library keeps it alive (one retain, given back at
/// `LWS_CALLBACK_WSI_DESTROY`, its one terminal event). No call into the library happens while
/// something of ours is being changed: it may call back before it returns.
@safe final class NativeWebSocket: @unchecked Sendable {
  let configuration: WebSocketConfiguration
  let endpoint: WebSocketEndpoint
  let reactor: Reactor
  let mailbox: MessageMailbox
  let sendQueue: SendQueue
  /// The deadline of the phase it is in. Kept here, because timers must go on the reactor's thread,
  /// as native WebSockets do and connections need not.
  var deadline: LoopTimer?
  private var killer: LoopTimer?
  private(set) var facts: WebSocketFacts
  /// Whether the kernel counts what the socket carries (TCP).
  var isCounted = true
  /// What the library was given to send, where the kernel does not count it.
  var written: UInt64 = 0
  /// When the last byte came, as the kernel says or the library; kept when the socket is gone.
  private var heard: ContinuousClock.Instant?
  /// What the peer's kernel has acknowledged; kept likewise.
  private var acknowledged: UInt64 = 0
  /// Nothing is read: the mailbox is full.
  private var isPaused = false

  var certificate: CertificateVerifier
  var assembler: MessageAssembler
  var body: [UInt8] = []
  var isBodyComplete = false
  private(set) var connection: OpaquePointer?
  private var context: WebSocketContext?
  /// What came over the socket before the library got it.
  var bytesBefore: UInt64 = 0
  private(set) var report: ((NativeWebSocketStep) -> Void)?
  private var life = Life.alive
  var pings: [Int] = []
  /// What the library was given last is a message, of which it may still keep a part.
  var isInMessage = false
  /// Its index in the list of its `FrameWatch`.
  var watchIndex: Int?
  var isFlushDue = false
  /// Short messages since the last turn that looked.
  var received = 0
  var pace = WritePace()
  var closing = Closing.open

  /// How far the library has taken it apart.
  private enum Life {
    /// The library has it, or may still take it over. Can become ending, gone.
    case alive
    /// The library takes it apart, and must not be called any more; `isMessageCut`: a message was
    /// written in part. Can become gone.
    case ending(isMessageCut: Bool)
    /// The library has no part in it any more.
    case gone(isMessageCut: Bool)
  }

  /// How far this side's close handshake has come.
  enum Closing: Equatable {
    /// Messages may be sent. Can become requested, sent.
    case open
    /// A close frame with this payload follows what is queued. Can become sent.
    case requested([UInt8])
    /// Our close frame is on its way: nothing may follow it.
    case sent
  }

  /// The library has no part in it any more.
  var isGone: Bool { if case .gone = life { true } else { false } }

  /// The library has not begun to take it apart.
  var isAlive: Bool { if case .alive = life { true } else { false } }

  init(
    to endpoint: WebSocketEndpoint, configuration: WebSocketConfiguration, on reactor: Reactor,
    mailbox: MessageMailbox, sendQueue: SendQueue, report: @escaping (NativeWebSocketStep) -> Void
  ) {
    self.reactor = reactor
    self.endpoint = endpoint
    self.configuration = configuration
    self.mailbox = mailbox
    self.sendQueue = sendQueue
    self.report = report
    facts = WebSocketFacts(isSecure: endpoint.isSecure)
    facts.hasIdentity = configuration.identity != nil
    certificate = CertificateVerifier(
      trust: configuration.trust, host: configuration.serverName ?? endpoint.endpoint.host)
    assembler = MessageAssembler(limit: configuration.messageLimit)
  }

  /// Dials `address`; false when the library gave up at once. `.gone` then comes only where the
  /// library had taken the connection over.
  func start(_ address: String, in context: WebSocketContext, trust: TrustStore?) -> Bool {
    guard let host = context.host(for: trust) else { return false }
    self.context = context
    let owner = unsafe Unmanaged.passRetained(self)
    var created: OpaquePointer?
    var info = unsafe lws_client_connect_info()
    unsafe info.context = context.raw
    unsafe info.vhost = host.raw
    unsafe info.port = Int32(endpoint.endpoint.port)
    unsafe info.local_protocol_name = ProtocolTable.name
    unsafe info.opaque_user_data = owner.toOpaque()
    unsafe info.ssl_connection = flags
    unsafe info.retry_and_idle_policy = PeerValidity.unchecked.raw
    let made = unsafe connect(&info, to: address, storing: &created)
    if let made = unsafe made {
      // The first call back may be long in coming; an end may be wanted before.
      unsafe adopted(made)
      return true
    }
    // Freed before the library had it in its tables: there will be no terminal event.
    if unsafe created == nil, !isGone { unsafe owner.release() }
    return false
  }

  private func connect(
    _ info: inout lws_client_connect_info, to address: String,
    storing created: UnsafeMutablePointer<OpaquePointer?>
  ) -> OpaquePointer? {
    let names = configuration.subprotocols.joined(separator: ", ")
    unsafe info.pwsi = created
    return unsafe address.withCString { address in
      unsafe endpoint.target.withCString { target in
        unsafe endpoint.hostHeader(named: configuration.serverName).withCString { hostHeader in
          unsafe names.withCString { names in
            unsafe info.address = address
            unsafe info.path = target
            unsafe info.host = hostHeader
            unsafe info.protocol = configuration.subprotocols.isEmpty ? nil : names
            return unsafe lws_client_connect_via_info(&info)
          }
        }
      }
    }
  }

  private var flags: Int32 {
    let noRedirect = Int32(LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue)
    guard endpoint.isSecure else { return noRedirect }
    // The name is checked by `CertificateVerifier`, which also knows IPv6 addresses.
    return noRedirect | Int32(LCCSCF_USE_SSL.rawValue)
      | Int32(LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK.rawValue)
  }

  /// When the last byte came; nil before the first.
  var lastHeard: ContinuousClock.Instant? {
    readKernelState()
    return heard
  }

  /// The traffic state beside `lastHeard`.
  var traffic: TrafficState {
    readKernelState()
    return TrafficState(isPaused: isPaused, acknowledged: acknowledged)
  }

  /// Whether a message is partly written.
  var isMessageCut: Bool {
    guard let connection = unsafe connection else {
      switch life {
      case .alive: return false
      case .ending(let isMessageCut), .gone(let isMessageCut): return isMessageCut
      }
    }
    return unsafe isInMessage && lws_partial_buffered(connection) != 0
  }

  /// Sends the ping of probe `id`, ahead of the messages that wait.
  func ping(_ id: Int) {
    pings.append(id)
    flush()
  }

  /// Does not send the ping of probe `id` any more.
  func drop(ping id: Int) {
    pings.removeAll { $0 == id }
  }

  /// Reads on.
  func allowReading() {
    isPaused = false
    guard let connection = unsafe connection else { return }
    _ = unsafe lws_rx_flow_control(connection, 1)
  }

  /// Starts the close handshake after the queued messages.
  func close(code: Int, reason: [UInt8]) {
    guard closing == .open else { return }
    closing = .requested(CloseFrame.payload(code: code, reason: reason))
    allowReading()
    flush()
  }

  /// Ends it now. The library does so in its next turn, which is requested; and again until it is
  /// done, for a step of its own that comes first (TCP is there, a close frame came) puts a timeout
  /// of its own in the place of ours.
  func kill() {
    guard let connection = unsafe connection, let context else { return }
    readKernelState()
    unsafe lws_set_timeout(
      connection, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC)
    unsafe lws_cancel_service(context.raw)
    killer = LoopTimer(after: .milliseconds(10), on: reactor) { [weak self] in self?.kill() }
  }

  /// Stops reporting steps.
  func detach() { report = nil }

  /// Ends a connection that was released without a close.
  func abandon() {
    deadline = nil
    kill()
  }

  /// Reads the kernel's state of the socket.
  private func readKernelState() {
    guard let connection = unsafe connection else { return }
    let descriptor = unsafe lws_get_socket_fd(connection)
    guard descriptor >= 0 else { return }
    if isCounted { readCounts(of: descriptor) } else { readEnd(of: descriptor) }
  }

  private func readCounts(of descriptor: Int32) {
    var seen = bridge_tcp()
    // Before the kernel is asked: this thread may stand still in between.
    let now = ContinuousClock.now
    guard unsafe bridge_tcp_look(descriptor, &seen) else { return }
    facts.socket =
      switch seen.state {
      case Int32(TCP_CLOSE_WAIT), Int32(TCP_LAST_ACK): .finished
      case Int32(TCP_CLOSE): .gone
      default: .open
      }
    // The kernel counts a FIN as a byte.
    let bytes = seen.bytes - (facts.socket == .finished ? min(1, seen.bytes) : 0)
    facts.bytesHeard = bytes - min(bytes, bytesBefore)
    acknowledged = seen.acknowledged
    if seen.bytes > 0 { heard = now - .milliseconds(Int(seen.silence)) }
  }

  private func readEnd(of descriptor: Int32) {
    var seen = bridge_stream()
    unsafe bridge_stream_look(descriptor, &seen)
    facts.socket = seen.is_gone ? .gone : seen.is_finished ? .finished : .open
    let unsent = min(written, UInt64(seen.unsent))
    acknowledged = max(acknowledged, written - unsent)
  }

  /// Something of the server came by the library.
  private func hear() {
    if !isCounted { heard = .now }
  }
}

/// The library's callbacks, each a step. A result other than 0 ends the connection.
extension NativeWebSocket {
  func adopted(_ connection: OpaquePointer) {
    if unsafe self.connection == nil, isAlive { unsafe self.connection = connection }
  }

  func connected() {
    guard facts.stage == .dialing else { return }
    facts.stage = .connected
    report?(.connected)
  }

  func established() {
    facts.stage = .established
    if let connection = unsafe connection, let session = unsafe lws_get_ssl(connection) {
      unsafe HandshakeObserver.dismiss(session)
    }
    context?.watch.add(self)
    report?(.established(subprotocol: facts.answer?.subprotocol))
  }

  func answerBegan() {
    hear()
    facts.hasStatusLine = true
  }

  func answered(_ answer: WebSocketFacts.Answer) {
    hear()
    facts.stage = .answered
    facts.answer = answer
  }

  /// Whether the request may go out: over TLS only to a server that was identified.
  func mayRequest() -> Bool {
    guard !endpoint.isSecure || certificate.isSatisfied else { return false }
    facts.stage = .requested
    return true
  }

  func recordVerification() { facts.tlsCause = certificate.cause }

  func handshakeFailed(_ handshake: WebSocketFacts.Handshake?) {
    facts.handshake = facts.handshake ?? handshake
  }

  /// Whether what the server sends still counts.
  var isListening: Bool { facts.stage == .established && closing != .sent }

  /// A server must not mask (RFC 6455, 5.1).
  func refuseMask() -> Bool {
    refuse(
      code: CloseCode.protocolError, .broken("A frame is masked, as only a client's may be."))
  }

  func pong(_ payload: [UInt8]) {
    hear()
    report?(.pong(payload))
  }

  func peerClosed(_ payload: [UInt8]) -> Bool {
    guard let frame = CloseFrame(payload: payload) else {
      return refuse(code: CloseCode.protocolError, .broken("A close frame is malformed."))
    }
    var close = WebSocketFacts.Close(code: frame.code ?? CloseCode.none, reason: frame.reason)
    if assembler.isInMessage, close.code == CloseCode.normal {
      // Nothing is as agreed where the rest of a message never comes (RFC 6455, 5.4 and 5.5.1).
      close = WebSocketFacts.Close(code: nil, reason: "It was closed in the middle of a message.")
    }
    facts.close = facts.close ?? close
    // The library answers a close frame, but must not answer the answer to ours.
    return closing != .sent
  }

  /// Takes a piece of a message in; false when the connection must end.
  func received(_ content: UnsafeRawBufferPointer, _ piece: MessageAssembler.Piece) -> Bool {
    hear()
    guard facts.fault == nil else { return true }
    do throws(MessageAssembler.Fault) {
      guard let message = unsafe try assembler.take(content, piece) else { return true }
      received = message.count <= Self.small ? received + 1 : 0
      if !mailbox.push(message), let connection = unsafe connection {
        isPaused = true
        _ = unsafe lws_rx_flow_control(connection, 0)
      }
      return true
    } catch {
      return refuse(code: error.closeCode, error.meaning)
    }
  }

  /// Refuses a frame by its header: of a frame without payload the library says nothing.
  func checkAnnouncedLength() {
    guard isListening, facts.fault == nil, let connection = unsafe connection,
      unsafe lws_remaining_packet_payload(connection) > configuration.messageLimit
    else { return }
    let fault = MessageAssembler.Fault.tooLong(limit: configuration.messageLimit)
    _ = refuse(code: fault.closeCode, fault.meaning)
  }

  /// Says what is wrong, and listens only for the end from now on.
  private func refuse(code: Int, _ fault: WebSocketFacts.Fault) -> Bool {
    guard facts.fault == nil else { return true }
    facts.fault = fault
    if let connection = unsafe connection, closing != .sent {
      closing = .sent
      let payload = CloseFrame.payload(code: code, reason: [])
      _ = unsafe send(payload, Self.closeFrame, on: connection)
    }
    report?(.refused)
    return true
  }

  /// The connection failed or is closing; its socket is still there. The library still keeps it for
  /// a part of the turn, but aborts the program when it is called.
  func ending() {
    readKernelState()
    life = .ending(isMessageCut: isMessageCut)
    disown()
  }

  private func disown() {
    context?.watch.remove(self)
    killer = nil
    unsafe connection = nil
  }

  /// The terminal event: gives back the library's retain.
  func gone(_ owner: Unmanaged<NativeWebSocket>) {
    if case .ending(let isMessageCut) = life {
      life = .gone(isMessageCut: isMessageCut)
    } else {
      life = .gone(isMessageCut: false)
    }
    disown()
    let report = report
    self.report = nil
    report?(.gone)
    unsafe owner.release()
  }
}
