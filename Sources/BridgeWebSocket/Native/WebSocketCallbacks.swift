import BridgeErrors
import CLibWebSockets
import Glibc

/// libwebsockets' one callback: a step from C into a `NativeWebSocket`.
///
/// Reasons that are not ours are answered by 0 before any pointer is touched: some come with a
/// connection that is none.
func serveLink(
  _ connection: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
  _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
  guard WebSocketCallback.isOurs(reason), let connection = unsafe connection,
    let pointer = unsafe lws_get_opaque_user_data(connection)
  else { return 0 }
  let owner = unsafe Unmanaged<NativeWebSocket>.fromOpaque(pointer)
  let webSocket = unsafe owner.takeUnretainedValue()
  unsafe webSocket.adopted(connection)
  if reason == LWS_CALLBACK_WSI_DESTROY {
    unsafe lws_set_opaque_user_data(connection, nil)
    unsafe webSocket.gone(owner)
    return 0
  }
  let call = unsafe WebSocketCallback(
    webSocket: webSocket, connection: connection, user: user,
    input: UnsafeMutableRawBufferPointer(start: input, count: input == nil ? 0 : length),
    length: length)
  return call.step(reason) ? 0 : -1
}

/// One call of the library's.
@safe struct WebSocketCallback {
  let webSocket: NativeWebSocket
  let connection: OpaquePointer
  let user: UnsafeMutableRawPointer?
  let input: UnsafeMutableRawBufferPointer
  let length: Int

  static func isOurs(_ reason: lws_callback_reasons) -> Bool {
    switch reason {
    case LWS_CALLBACK_CLIENT_RECEIVE, LWS_CALLBACK_CLIENT_WRITEABLE,
      LWS_CALLBACK_CLIENT_RECEIVE_PONG, LWS_CALLBACK_WSI_CREATE,
      LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER, LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP,
      LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ, LWS_CALLBACK_COMPLETED_CLIENT_HTTP,
      LWS_CALLBACK_CLIENT_ESTABLISHED, LWS_CALLBACK_WS_PEER_INITIATED_CLOSE,
      LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION,
      LWS_CALLBACK_CLIENT_CONNECTION_ERROR, LWS_CALLBACK_CLIENT_CLOSED,
      LWS_CALLBACK_CLOSED_CLIENT_HTTP, LWS_CALLBACK_WSI_DESTROY:
      true
    default: false
    }
  }

  /// Executes the step of a reason; false ends the connection.
  func step(_ reason: lws_callback_reasons) -> Bool {
    if webSocket.isListening, Self.followsFrame(reason), unsafe bridge_lws_is_masked(connection) {
      return webSocket.refuseMask()
    }
    switch reason {
    case LWS_CALLBACK_CLIENT_RECEIVE: return receive()
    case LWS_CALLBACK_CLIENT_WRITEABLE: return webSocket.write()
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: return appendHeaders()
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: return unsafe webSocket.peerClosed(Array(input))
    case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION: return verify()
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG: unsafe webSocket.pong(Array(input))
    case LWS_CALLBACK_WSI_CREATE: webSocket.connected()
    case LWS_CALLBACK_ESTABLISHED_CLIENT_HTTP: readAnswer()
    case LWS_CALLBACK_RECEIVE_CLIENT_HTTP_READ: readBody()
    case LWS_CALLBACK_COMPLETED_CLIENT_HTTP: webSocket.isBodyComplete = true
    case LWS_CALLBACK_CLIENT_ESTABLISHED: webSocket.established()
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR: fail()
    case LWS_CALLBACK_CLIENT_CLOSED, LWS_CALLBACK_CLOSED_CLIENT_HTTP: webSocket.ending()
    default: break
    }
    return true
  }

  /// A ping is not reported; but once it is answered there is a turn to write.
  private static func followsFrame(_ reason: lws_callback_reasons) -> Bool {
    switch reason {
    case LWS_CALLBACK_CLIENT_RECEIVE, LWS_CALLBACK_CLIENT_RECEIVE_PONG,
      LWS_CALLBACK_CLIENT_WRITEABLE, LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
      true
    default: false
    }
  }

  private func receive() -> Bool {
    let piece = unsafe MessageAssembler.Piece(
      isFirst: lws_is_first_fragment(connection) != 0,
      isLast: lws_is_final_fragment(connection) != 0,
      isBinary: lws_frame_is_binary(connection) != 0,
      left: Int(lws_remaining_packet_payload(connection)))
    return unsafe webSocket.received(UnsafeRawBufferPointer(input), piece)
  }

  private func verify() -> Bool {
    guard let user = unsafe user else { return false }
    if let observer = webSocket.configuration.observer,
      let text = unsafe CertificateText(OpaquePointer(user))
    {
      observer(.certificate(text.details))
    }
    let isGood = unsafe webSocket.certificate.verify(OpaquePointer(user), isValid: length == 1)
    webSocket.recordVerification()
    return isGood
  }

  /// `input` points to the library's own pointer to where the request goes on; `length` is the
  /// space left.
  private func appendHeaders() -> Bool {
    guard webSocket.mayRequest(),
      let position = unsafe input.baseAddress?.assumingMemoryBound(
        to: UnsafeMutablePointer<UInt8>?.self)
    else { return false }
    if let observer = webSocket.configuration.observer, let session = unsafe lws_get_ssl(connection)
    {
      unsafe observer(
        .secured(
          version: String(cString: SSL_get_version(session)),
          cipher: String(cString: SSL_CIPHER_get_name(SSL_get_current_cipher(session)))))
    }
    let lines = RequestHeaders.lines(for: webSocket.configuration)
    guard lines.count < length, let start = unsafe position.pointee else { return false }
    unsafe lines.withUnsafeBufferPointer { lines in
      guard let first = lines.baseAddress else { return }
      unsafe start.update(from: first, count: lines.count)
    }
    unsafe position.pointee = start.advanced(by: lines.count)
    return true
  }

  private func fail() {
    if webSocket.endpoint.isSecure, let session = unsafe lws_get_ssl(connection) {
      webSocket.handshakeFailed(unsafe HandshakeObserver.result(of: session))
    }
    if unsafe lws_hdr_total_length(connection, WSI_TOKEN_HTTP) > 0 { webSocket.answerBegan() }
    webSocket.ending()
  }
}
