import CLibSSH2
import Glibc

extension SSHSession {
  /// libssh2's RECV: no byte beyond what it needs to know next (`PacketFraming`).
  func give(_ target: UnsafeMutableRawBufferPointer) -> Int {
    confirmPacket()
    if isDeaf { return -Int(EAGAIN) }
    switch wire.seal {
    case .open: break
    case .silent: return -Int(EAGAIN)
    case .failing: return -Int(ECONNRESET)
    }
    // A packet that starts an exchange of keys may be next: windows are opened first.
    if hasNewEnd { return -Int(EAGAIN) }
    if brokenBy != nil { return -Int(EBADMSG) }
    if framing.needsProtection { framing.protect(with: currentProtection()) }
    let allowance = framing.allowance(of: target.count)
    guard allowance > 0 else { return -Int(EBADMSG) }
    let count = unsafe wire.give(UnsafeMutableRawBufferPointer(rebasing: target[..<allowance]))
    if count > 0 {
      let given = unsafe UnsafeRawBufferPointer(rebasing: target[..<count])
      unsafe framing.passed(given.bindMemory(to: UInt8.self).span)
    }
    return count
  }

  /// What the last key exchange agreed on for packets from the server. The library's names are
  /// constants of its own: the same pointers are the same names.
  private func currentProtection() -> PacketProtection? {
    let found = callForPointer { session -> (UInt, UInt)? in
      guard let cipher = unsafe libssh2_session_methods(session.raw, LIBSSH2_METHOD_CRYPT_SC),
        let mac = unsafe libssh2_session_methods(session.raw, LIBSSH2_METHOD_MAC_SC)
      else { return nil }
      return (UInt(bitPattern: cipher), UInt(bitPattern: mac))
    }
    guard case .done(let names) = found else { return nil }
    if names != protection.names {
      let (cipher, back) = (name(.cipherToClient) ?? "", name(.cipherToServer) ?? "")
      // One AEAD is not enough (`AlgorithmOffer.isLopsided`).
      let isEven = Cipher.named(cipher)?.integrated == Cipher.named(back)?.integrated
      let value = PacketProtection(cipher: cipher, mac: name(.macToClient) ?? "")
      protection = (names, isEven ? value : nil)
    }
    return protection.value
  }
}
