/// A list that is negotiated in a key exchange, in the order of the message (RFC 4253, 7.1). The
/// raw values are those of `LIBSSH2_METHOD_…` in libssh2.h.
public enum AlgorithmKind: Int, Sendable, CaseIterable {
  /// Key exchange methods.
  case keyExchange
  /// Host key algorithms.
  case hostKey
  /// Ciphers from client to server.
  case cipherToServer
  /// Ciphers from server to client.
  case cipherToClient
  /// MACs from client to server.
  case macToServer
  /// MACs from server to client.
  case macToClient
  /// Compression from client to server.
  case compressionToServer
  /// Compression from server to client.
  case compressionToClient

  /// The kind in words.
  package var words: String {
    switch self {
    case .keyExchange: "key exchange method"
    case .hostKey: "host key type"
    case .cipherToServer: "cipher to the server"
    case .cipherToClient: "cipher from the server"
    case .macToServer: "MAC to the server"
    case .macToClient: "MAC from the server"
    case .compressionToServer: "compression to the server"
    case .compressionToClient: "compression from the server"
    }
  }
}
