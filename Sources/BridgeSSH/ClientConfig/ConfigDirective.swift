/// The kind of a line, by its keyword. Every other keyword is a mistake.
enum ConfigDirective {
  /// The lines that follow hold for these hosts.
  case host
  /// The lines that follow hold where these criteria fit.
  case match
  /// Other files are read here.
  case include
  /// Keywords that need not be known.
  case ignoreUnknown
  /// A row of the table of keywords.
  case setting(ConfigKeyword)
  /// A keyword that sets nothing here.
  case unused(UnusedKeyword)

  /// The directive written as `name`; nil where there is none.
  init?(_ name: String) {
    switch name.lowercased() {
    case "host": self = .host
    case "match": self = .match
    case "include": self = .include
    case "ignoreunknown": self = .ignoreUnknown
    default:
      if let keyword = ConfigKeyword.row(of: name) {
        self = .setting(keyword)
      } else if let keyword = UnusedKeyword.named(name) {
        self = .unused(keyword)
      } else {
        return nil
      }
    }
  }

  /// Every keyword as ssh_config(5) spells it, for a suggestion.
  static let names =
    ["Host", "Match", "Include", "IgnoreUnknown"] + ConfigKeyword.table.map(\.name)
    + UnusedKeyword.names
}
