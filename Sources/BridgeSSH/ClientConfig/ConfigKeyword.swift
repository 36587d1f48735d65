/// A keyword that has an effect here. Every other one gives a warning, or none where it is
/// harmless.
enum ConfigKeyword: Equatable {
  case host
  case match
  case include
  case setting(ConfigSetting)

  /// The keyword written as `name`; nil for one that has no effect.
  init?(_ name: String) {
    let name = name.lowercased()
    switch name {
    case "host": self = .host
    case "match": self = .match
    case "include": self = .include
    default:
      guard let setting = ConfigSetting(rawValue: ConfigSetting.aliases[name] ?? name) else {
        return nil
      }
      self = .setting(setting)
    }
  }

  /// Whether `name` has no effect here and leaves nothing open that it would close, so that it is
  /// not worth a warning where a distribution wrote it.
  static func isHarmless(_ name: String) -> Bool { harmless.contains(name.lowercased()) }

  private static let harmless: Set = [
    "addkeystoagent", "canonicaldomains", "canonicalizefallbacklocal", "canonicalizehostname",
    "canonicalizemaxdots", "casignaturealgorithms", "checkhostip", "controlmaster", "controlpath",
    "controlpersist", "escapechar", "forwardagent", "forwardx11", "forwardx11timeout",
    "forwardx11trusted", "gssapiauthentication", "gssapidelegatecredentials",
    "gssapikexalgorithms", "gssapikeyexchange", "gssapirenewalforcesrekey",
    "gssapiserveridentity", "gssapitrustdns", "hashknownhosts", "hostbasedauthentication",
    "ignoreunknown", "ipqos", "permitlocalcommand", "requiredrsasize", "rsaminsize", "sendenv",
    "setenv", "tcpkeepalive", "tunnel", "updatehostkeys", "verifyhostkeydns", "visualhostkey",
    "xauthlocation",
  ]
}

/// A keyword that sets one value.
package enum ConfigSetting: String, CaseIterable {
  case hostName = "hostname"
  case user
  case port
  case identityFile = "identityfile"
  case identitiesOnly = "identitiesonly"
  case identityAgent = "identityagent"
  case pubkeyAuthentication = "pubkeyauthentication"
  case userKnownHostsFile = "userknownhostsfile"
  case globalKnownHostsFile = "globalknownhostsfile"
  case revokedHostKeys = "revokedhostkeys"
  case strictHostKeyChecking = "stricthostkeychecking"
  case hostKeyAlgorithms = "hostkeyalgorithms"
  case kexAlgorithms = "kexalgorithms"
  case ciphers
  case macs
  case connectTimeout = "connecttimeout"
  case serverAliveInterval = "serveraliveinterval"
  case serverAliveCountMax = "serveralivecountmax"
  case hostKeyAlias = "hostkeyalias"
  case requestTTY = "requesttty"
  case logLevel = "loglevel"
  case proxyJump = "proxyjump"
  case proxyCommand = "proxycommand"
  case certificateFile = "certificatefile"
  case localForward = "localforward"
  case dynamicForward = "dynamicforward"
  case gatewayPorts = "gatewayports"
  case exitOnForwardFailure = "exitonforwardfailure"
  case clearAllForwardings = "clearallforwardings"

  /// Older names that OpenSSH takes too.
  static let aliases = ["dsaauthentication": "pubkeyauthentication"]

  /// Whether it takes more than one word.
  var takesSeveral: Bool {
    switch self {
    case .userKnownHostsFile, .globalKnownHostsFile, .proxyCommand, .localForward: true
    case .hostName, .user, .port, .identityFile, .identitiesOnly, .identityAgent,
      .pubkeyAuthentication, .revokedHostKeys, .strictHostKeyChecking, .hostKeyAlgorithms,
      .kexAlgorithms, .ciphers, .macs, .connectTimeout, .serverAliveInterval,
      .serverAliveCountMax, .hostKeyAlias, .requestTTY, .logLevel, .proxyJump, .certificateFile,
      .dynamicForward, .gatewayPorts, .exitOnForwardFailure, .clearAllForwardings:
      false
    }
  }

  /// Whether leaving it out may allow what it forbids.
  var isRestriction: Bool {
    switch self {
    case .identitiesOnly, .identityAgent, .pubkeyAuthentication, .userKnownHostsFile,
      .globalKnownHostsFile, .revokedHostKeys, .strictHostKeyChecking, .hostKeyAlgorithms,
      .kexAlgorithms, .ciphers, .macs, .hostKeyAlias, .proxyJump, .proxyCommand,
      .certificateFile, .exitOnForwardFailure, .clearAllForwardings:
      true
    case .hostName, .user, .port, .identityFile, .connectTimeout, .serverAliveInterval,
      .serverAliveCountMax, .requestTTY, .logLevel, .localForward, .dynamicForward,
      .gatewayPorts:
      false
    }
  }
}
