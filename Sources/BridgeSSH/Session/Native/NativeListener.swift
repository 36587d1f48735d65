import BridgeErrors
import CLibSSH2

/// A port that the server listens on for us: used on the session's thread only, dead with its
/// session.
@safe final class NativeListener: @unchecked Sendable {
  /// Where the server listens.
  let place: Arrivals.Place
  private let session: SSHSession
  private let listener: OpaquePointer

  /// The window that libssh2 opens for a channel that the server opened (LIBSSH2_CHANNEL_WINDOW_…).
  static let window = 2 << 20

  init(_ listener: OpaquePointer, at place: Arrivals.Place, of session: SSHSession) {
    unsafe self.listener = listener
    self.place = place
    self.session = session
  }

  /// The oldest channel that nothing has accepted; `.again` while there is none.
  func accept() -> Attempt<(NativeChannel, originator: String)> {
    let accepted = session.callForPointer { _ in
      unsafe libssh2_channel_forward_accept(listener).map(LibraryPointer.init)
    }
    switch accepted {
    case .again: return .again
    // What ended the session is seen where that is read.
    case .failed(.channelUnknown, _) where session.isLinkOpen: return .again
    case .failed(let code, let text): return .failed(code, text)
    case .done(let channel):
      guard let waiting = session.arrivals.accept(at: place) else {
        return .failed(.protocolError, "a channel that the server opened does not show its number")
      }
      let native = unsafe NativeChannel(
        channel.raw, number: waiting.number, window: Self.window, of: session)
      return .done((native, originator: waiting.originator))
    }
  }
}

extension SSHSession {
  /// Asks the server to listen on `port` of `address`, 0 for any free one (RFC 4254, 7.1).
  ///
  /// The library takes the next answer to any global request for its own: no other one that wants
  /// an answer may have gone over this session.
  func listen(on address: String, port: Int) -> Attempt<NativeListener> {
    var bound: Int32 = 0
    let asked = callForPointer { session in
      unsafe libssh2_channel_forward_listen_ex(session.raw, address, Int32(port), &bound, 0)
        .map(LibraryPointer.init)
    }
    switch asked {
    case .again: return .again
    // channel.c says LIBSSH2_ERROR_PROTO of whatever ends its wait, also of the link's end.
    case .failed(.protocolError, let text) where !isLinkOpen: return .failed(.socketReceive, text)
    case .failed(let code, let text): return .failed(code, text)
    case .done(let listener):
      let place = Arrivals.Place(address: address, port: Int(bound))
      arrivals.listen(on: place)
      return unsafe .done(NativeListener(listener.raw, at: place, of: self))
    }
  }
}
