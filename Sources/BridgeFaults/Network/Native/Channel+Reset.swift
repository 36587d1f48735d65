import Glibc
import NIOCore

extension Channel {
  /// Closes with a RST instead of a FIN (socket(7), SO_LINGER with a time of zero).
  func closeWithReset() {
    let lingered =
      (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    guard let lingered else { return close(promise: nil) }
    lingered.whenComplete { _ in self.close(promise: nil) }
  }
}
