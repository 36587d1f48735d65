/// The report of the native library and the state of our socket, kept for logs and debugging.
public struct NativeFailure: Sendable, Equatable {
  /// The library that reported the failure.
  public enum Library: String, Sendable, CaseIterable {
    /// libssh2.
    case libssh2
    /// libwebsockets.
    case libwebsockets
    /// OpenSSL.
    case openssl
    /// The system's resolver (getaddrinfo).
    case resolver
    /// The kernel (errno).
    case system
  }

  /// The library that reported it.
  public var library: Library
  /// The library's own number, for instance `LIBSSH2_ERROR_…` or `EAI_…`.
  public var code: Int
  /// The number's name in the library's header, or an empty string.
  public var symbol: String
  /// The library's or the peer's text: escaped and bounded, safe to print.
  public var text: String
  /// What our own socket saw last, which is exact where a library's code is not.
  public var socket: SocketCondition

  /// A failure as `library` reported it.
  public init(
    library: Library, code: Int, symbol: String = "", text: String = "",
    socket: SocketCondition = .open
  ) {
    self.library = library
    self.code = code
    self.symbol = symbol
    self.text = text
    self.socket = socket
  }
}
