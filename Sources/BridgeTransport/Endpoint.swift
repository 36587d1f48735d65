/// Where a connection leads: a host as the user named it, and a port.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
  /// A name, an IPv4 or an IPv6 address (without brackets).
  public var host: String
  /// The TCP port, 1…65535.
  public var port: Int

  /// The endpoint `host`:`port`.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// `host:port`, an IPv6 address in brackets.
  public var description: String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
