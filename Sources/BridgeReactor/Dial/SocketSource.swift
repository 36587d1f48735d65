public import BridgeErrors

/// Something that leads to a server by another way than a dial of this machine: an SSH connection
/// to one that reaches it.
public protocol SocketSource: Sendable {
  /// A socket whose other end is the server, for the caller to close. Asked once by each connection
  /// that goes this way.
  ///
  /// - Throws: why there is none, with all that is known of it; `cancelled`.
  func socket() async throws(ConnectionError) -> Socket

  /// What ended the way itself, and every socket with it; nil while it goes on, and where its owner
  /// closed it.
  var loss: ConnectionError? { get }
}
