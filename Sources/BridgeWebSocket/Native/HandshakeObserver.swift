import CLibWebSockets

/// Watches TLS records come in until a link is upgraded, for what OpenSSL's error queue would say
/// had libwebsockets not emptied it: an alert of the server's, or bytes that are no TLS at all.
enum HandshakeObserver {
  /// Where a session keeps what was seen: 0 for nothing, else one of `Mark`.
  private static let slot = CRYPTO_get_ex_new_index(
    CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil, nil)

  private enum Mark {
    static let notTLS = 1
    /// Plus the alert's number.
    static let alert = 0x100
    /// The server has requested a certificate; may stand beside the others.
    static let request = 0x1000
  }

  /// The type of a CertificateRequest (RFC 8446, appendix B.3).
  private static let certificateRequest: UInt8 = 13

  /// Sessions made from `context` are watched.
  static func attach(to context: OpaquePointer) {
    unsafe SSL_CTX_set_msg_callback(context) { isWritten, _, type, bytes, count, session, _ in
      guard isWritten == 0, let session = unsafe session, let bytes = unsafe bytes else { return }
      unsafe HandshakeObserver.see(
        type, UnsafeRawBufferPointer(start: bytes, count: count), on: session)
    }
  }

  /// Enough was seen.
  static func dismiss(_ session: OpaquePointer) {
    unsafe SSL_set_msg_callback(session, nil)
  }

  /// The observed result; nil where nothing unusual was seen.
  static func result(of session: OpaquePointer) -> WebSocketFacts.Handshake? {
    let seen = unsafe Int(bitPattern: SSL_get_ex_data(session, slot))
    let mark = seen & ~Mark.request
    switch mark {
    case 0: return nil
    case Mark.notTLS: return .notTLS
    default: return .alert(mark - Mark.alert, requestsIdentity: seen != mark)
    }
  }

  private static func see(
    _ type: Int32, _ bytes: UnsafeRawBufferPointer, on session: OpaquePointer
  ) {
    var mark = 0
    // Content types are 20…24 (RFC 8446, appendix B.1); what speaks no TLS begins otherwise.
    if type == SSL3_RT_HEADER, let first = unsafe bytes.first, !(20...24).contains(first) {
      mark = Mark.notTLS
    }
    // A level, then what it is about; 0 is only "I close".
    if type == SSL3_RT_ALERT, bytes.count == 2, unsafe bytes[1] != 0 {
      mark = Mark.alert + Int(unsafe bytes[1])
    }
    if type == SSL3_RT_HANDSHAKE, unsafe bytes.first == certificateRequest { mark = Mark.request }
    if mark != 0 {
      let earlier = unsafe Int(bitPattern: SSL_get_ex_data(session, slot)) & Mark.request
      unsafe SSL_set_ex_data(session, slot, UnsafeMutableRawPointer(bitPattern: mark | earlier))
    }
  }
}
