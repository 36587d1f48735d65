import BridgeReactor
import CLibSSH2

extension SSHSession {
  /// Offers these algorithms and no others; fails when the library knows none of them.
  func prefer(_ names: [String], for kind: AlgorithmKind) -> Attempt<Void> {
    call {
      unsafe libssh2_session_method_pref($0.raw, kind.method, names.joined(separator: ","))
    }
  }

  /// Version lines and key exchange.
  func handshake() -> Attempt<Void> {
    call { unsafe libssh2_session_handshake($0.raw, wire.carrier.descriptor) }
  }

  /// The host's public key as a wire blob (RFC 4253, 6.6); empty before the key exchange.
  func hostKey() -> [UInt8] {
    let key = callForPointer { session -> [UInt8]? in
      var length = 0
      var type: Int32 = 0
      guard let key = unsafe libssh2_session_hostkey(session.raw, &length, &type) else {
        return nil
      }
      return unsafe Array(UnsafeRawBufferPointer(start: key, count: length))
    }
    if case .done(let bytes) = key { return bytes }
    return []
  }

  /// The negotiated algorithms; nil before the key exchange.
  func agreement() -> Agreement? {
    guard let keyExchange = name(.keyExchange), let hostKey = name(.hostKey),
      let cipher = name(.cipherToServer), let mac = name(.macToServer)
    else { return nil }
    // What is agreed on besides an AEAD, if anything, is not used.
    let isImplicit = Cipher.named(cipher)?.integrated != nil
    return Agreement(
      keyExchange: keyExchange, hostKey: hostKey, cipher: cipher,
      mac: isImplicit ? "<implicit>" : mac)
  }

  /// The name agreed on; nil before the key exchange.
  func name(_ kind: AlgorithmKind) -> String? {
    let name = callForPointer { session -> String? in
      guard let text = unsafe libssh2_session_methods(session.raw, kind.method) else {
        return nil
      }
      return unsafe String(cString: text)
    }
    if case .done(let text) = name { return text }
    return nil
  }
}

extension AlgorithmKind {
  /// `LIBSSH2_METHOD_…` in libssh2.h; ours are numbered alike.
  fileprivate var method: Int32 { Int32(rawValue) }
}
