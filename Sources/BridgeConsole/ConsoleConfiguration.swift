import BridgeErrors

/// Where the page is served, and to whom.
public struct ConsoleConfiguration: Sendable {
  /// The certificate of the page, in PEM files.
  public struct TLS: Sendable {
    /// The path of the certificate and those that it depends on.
    public var certificates: String
    /// The path of its private key.
    public var key: String

    /// A certificate and its key.
    public init(certificates: String, key: String) {
      self.certificates = certificates
      self.key = key
    }
  }

  /// The address to listen on. Only loopback goes without TLS.
  public var address: String
  /// The port; 0 for one that is free.
  public var port: Int
  /// Origins besides those of the address and of loopback under which browsers reach the page, such
  /// as `https://console.example.org`: a request that names another host is refused.
  public var origins: [String]
  /// The certificate; nil for none.
  public var tls: TLS?
  /// The tokens that open the page.
  public var tokens: [ConsoleToken]
  /// How much a caller may take.
  public var limits: ConsoleLimits

  /// A page for loopback.
  ///
  /// - Parameter port: the port; 0 for one that is free.
  public init(
    address: String = "127.0.0.1", port: Int = 0, origins: [String] = [], tls: TLS? = nil,
    tokens: [ConsoleToken], limits: ConsoleLimits = ConsoleLimits()
  ) {
    self.address = address
    self.port = port
    self.origins = origins
    self.tls = tls
    self.tokens = tokens
    self.limits = limits
  }

  static let loopback: Set = ["127.0.0.1", "::1", "localhost"]

  /// Verifies what could expose the page, before anything listens.
  ///
  /// - Throws: `validationError` that names the setting.
  func verify() throws(AppError) {
    if tokens.isEmpty {
      throw .validationError(field: "tokens", message: "The page needs a token.")
    }
    if Set(tokens.map(\.name)).count < tokens.count {
      throw .validationError(field: "tokens", message: "Two tokens have one name.")
    }
    if tls == nil, !Self.loopback.contains(address) {
      throw .validationError(
        field: "address",
        message: "Without TLS the page is served on loopback only: use 127.0.0.1, or a certificate."
      )
    }
    guard (0...65535).contains(port) else {
      throw .validationError(field: "port", message: "\(port) is no port.")
    }
    for origin in origins where Origin(origin) == nil {
      throw .validationError(
        field: "origins",
        message: "\(origin) is no origin: write https://HOST or https://HOST:PORT."
      )
    }
  }
}
