/// The kind of a line, by its keyword. Every keyword that is none of these gives a warning, or none
/// where it is harmless.
enum ConfigDirective {
  /// The lines that follow hold for these hosts.
  case host
  /// The lines that follow hold where these criteria fit.
  case match
  /// Other files are read here.
  case include
  /// A row of the table of keywords.
  case setting(ConfigKeyword)

  /// The directive written as `name`; nil for a keyword that has no effect.
  init?(_ name: String) {
    switch name.lowercased() {
    case "host": self = .host
    case "match": self = .match
    case "include": self = .include
    default:
      guard let keyword = ConfigKeyword.row(of: name) else { return nil }
      self = .setting(keyword)
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
    "ignoreunknown", "ipqos", "permitlocalcommand", "requiredrsasize", "rsaminsize",
    "tcpkeepalive", "tunnel", "updatehostkeys", "verifyhostkeydns", "visualhostkey",
    "xauthlocation",
  ]
}
