import CLibSSH2
import Glibc

/// libssh2's callbacks, each a step from C into `Wire` or `SSHSession`.
enum SessionCallbacks {
  private typealias Receive =
    @convention(c) (
      Int32, UnsafeMutableRawPointer?, Int, Int32,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int
  private typealias Send =
    @convention(c) (
      Int32, UnsafeRawPointer?, Int, Int32, UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int
  private typealias Disconnect =
    @convention(c) (
      OpaquePointer?, Int32, UnsafePointer<CChar>?, Int32, UnsafePointer<CChar>?, Int32,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Void

  private typealias MACError =
    @convention(c) (
      OpaquePointer?, UnsafePointer<CChar>?, Int32,
      UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32

  static func install(in session: OpaquePointer) {
    unsafe set(
      LIBSSH2_CALLBACK_RECV, in: session,
      unsafeBitCast(receiveFromWire as Receive, to: Pointer.self))
    unsafe set(
      LIBSSH2_CALLBACK_SEND, in: session, unsafeBitCast(sendToWire as Send, to: Pointer.self))
    unsafe set(
      LIBSSH2_CALLBACK_DISCONNECT, in: session,
      unsafeBitCast(recordDisconnect as Disconnect, to: Pointer.self))
    unsafe set(
      LIBSSH2_CALLBACK_MACERROR, in: session,
      unsafeBitCast(refuseMAC as MACError, to: Pointer.self))
  }

  private typealias Pointer = UnsafeMutableRawPointer

  private static func set(
    _ kind: Int32, in session: OpaquePointer, _ callback: UnsafeMutableRawPointer
  ) {
    unsafe bridge_set_callback(session, kind, callback)
  }

  /// A bounded copy of a peer's text, which is `char` or `unsigned char` by version of the library.
  static func text(_ pointer: UnsafeRawPointer?, _ length: Int32) -> String {
    guard let pointer = unsafe pointer, length > 0 else { return "" }
    let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: min(Int(length), 4096))
    return unsafe String(decoding: bytes, as: UTF8.self)
  }
}

private func receiveFromWire(
  _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ length: Int, _ flags: Int32,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int {
  guard let owner = unsafe SSHSession.owner(abstract) else { return -Int(EBADF) }
  return unsafe owner.give(UnsafeMutableRawBufferPointer(start: buffer, count: length))
}

private func sendToWire(
  _ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ length: Int, _ flags: Int32,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int {
  guard let wire = unsafe SSHSession.owner(abstract)?.wire else { return -Int(EBADF) }
  return unsafe wire.take(UnsafeRawBufferPointer(start: buffer, count: length))
}

private func recordDisconnect(
  _ session: OpaquePointer?, _ reason: Int32, _ message: UnsafePointer<CChar>?,
  _ length: Int32, _ language: UnsafePointer<CChar>?, _ languageLength: Int32,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) {
  guard let owner = unsafe SSHSession.owner(abstract) else { return }
  unsafe owner.record(.init(reason: Int(reason), message: SessionCallbacks.text(message, length)))
}

/// libssh2 drops the packet and would go on with the next one; the session is over here and now.
private func refuseMAC(
  _ session: OpaquePointer?, _ packet: UnsafePointer<CChar>?, _ length: Int32,
  _ abstract: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> Int32 {
  unsafe SSHSession.owner(abstract)?.recordDamage(.mac)
  return -1
}
