/// A keyword of ssh_config(5) that sets nothing here, and what it means to leave it out.
///
/// With the table of `ConfigKeyword` these are all that OpenSSH 9.2 to 10 know, and the older names
/// that those still read. A keyword in neither is a mistake.
struct UnusedKeyword: Sendable {
  enum Meaning: Sendable {
    /// A run is the same without it.
    case harmless
    /// A run is another one without it: a warning.
    case changes
    /// It forbids what would be done without it: no run.
    case restricts
  }

  /// As ssh_config(5) spells it.
  let name: String
  let meaning: Meaning
  /// Whether this value, in small letters, asks for what is done here anyway.
  let isNeutral: @Sendable (String) -> Bool

  private static func rows(
    _ meaning: Meaning, _ names: String, unless neutral: String = ""
  ) -> [UnusedKeyword] {
    let values = Set(neutral.split(separator: " ").map(String.init))
    return names.split(separator: " ").map { name in
      UnusedKeyword(name: String(name), meaning: meaning) { values.contains($0) }
    }
  }

  private static let table: [UnusedKeyword] =
    // What only OpenSSH's own processes, screens and caches have.
    rows(.harmless, "AddKeysToAgent CanonicalDomains CanonicalizeFallbackLocal CanonicalizeMaxDots")
    + rows(.harmless, "CanonicalizePermittedCNAMEs CASignatureAlgorithms Compression")
    + rows(.harmless, "ConnectionAttempts")
    + rows(.harmless, "EnableEscapeCommandline EnableSSHKeysign FingerprintHash ForwardX11Timeout")
    + rows(.harmless, "ForwardX11Trusted GSSAPIAuthentication GSSAPIClientIdentity")
    + rows(.harmless, "GSSAPIDelegateCredentials GSSAPIKexAlgorithms GSSAPIKeyExchange")
    + rows(.harmless, "GSSAPIRenewalForcesRekey GSSAPIServerIdentity GSSAPITrustDNS")
    + rows(.harmless, "HostbasedAcceptedAlgorithms HostbasedAuthentication HostbasedKeyTypes IPQoS")
    + rows(.harmless, "KbdInteractiveDevices LogVerbose ObscureKeystrokeTiming")
    + rows(.harmless, "SecurityKeyProvider StreamLocalBindMask SyslogFacility TCPKeepAlive")
    + rows(.harmless, "TunnelDevice UpdateHostKeys VerifyHostKeyDNS VersionAddendum VisualHostKey")
    + rows(.harmless, "WarnWeakCrypto XAuthLocation")
    // Names that OpenSSH itself ignores.
    + rows(.harmless, "AFSTokenPassing Cipher CompressionLevel FallBackToRsh GlobalKnownHostsFile2")
    + rows(.harmless, "KeepAlive KerberosAuthentication KerberosTGTPassing Protocol")
    + rows(.harmless, "ProtocolKeepAlives RhostsAuthentication RhostsRSAAuthentication")
    + rows(.harmless, "RSAAuthentication SetupTimeOut UseBlacklistedKeys UsePrivilegedPort")
    + rows(.harmless, "UserKnownHostsFile2 UseRoaming UseRsh IdentityFile2")
    // What a user would miss.
    + rows(
      .changes, "CanonicalizeHostname CheckHostIP ForkAfterAuthentication ForwardX11",
      unless: "no false")
    + rows(
      .changes, "NoHostAuthenticationForLocalhost ProxyUseFdpass",
      unless: "no false")
    + rows(.changes, "Tunnel", unless: "no false")
    + rows(
      .changes, "ChannelTimeout PKCS11Provider SmartcardDevice",
      unless: "none")
    + rows(.changes, "RekeyLimit", unless: "default none")
    // What would be done against the user's word.
    + rows(.restricts, "RefuseConnection")

  private static let byName = Dictionary(
    uniqueKeysWithValues: table.map { ($0.name.lowercased(), $0) })

  /// The keyword written as `name`; nil where it is no such keyword.
  static func named(_ name: String) -> UnusedKeyword? {
    byName[name.lowercased()]
  }

  /// As ssh_config(5) spells them.
  static let names = table.map(\.name)
}
