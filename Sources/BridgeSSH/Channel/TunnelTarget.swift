public import BridgeTransport

/// Where a tunnel through an SSH server leads.
public enum TunnelTarget: Sendable, Hashable, CustomStringConvertible {
  /// A TCP port, resolved and dialed by the server.
  case port(Endpoint)
  /// A unix socket on the server (OpenSSH's `direct-streamlocal`).
  case socket(path: String)

  /// `host:port`, or the path.
  public var description: String {
    switch self {
    case .port(let endpoint): endpoint.description
    case .socket(let path): path
    }
  }

  /// RFC 4254, 7.2; OpenSSH's PROTOCOL, 2.4.
  var channelType: String {
    switch self {
    case .port: "direct-tcpip"
    case .socket: "direct-streamlocal@openssh.com"
    }
  }

  /// What follows the window in SSH_MSG_CHANNEL_OPEN. The originator is not told: it is no more
  /// than a hint, and here an address of a private network.
  var message: [UInt8] {
    var writer = WireWriter()
    switch self {
    case .port(let endpoint):
      writer.string(endpoint.host)
      writer.uint32(UInt32(clamping: endpoint.port))
      writer.string("127.0.0.1")
      writer.uint32(0)
    case .socket(let path):
      writer.string(path)
      writer.string("")
      writer.uint32(0)
    }
    return writer.bytes
  }
}
