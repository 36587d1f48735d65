import BridgeErrors

/// The hosts that the user's ssh_config and known_hosts files name, for the completion of a shell.
package struct HostNames {
  /// Each name once: those of `Host` lines first, then those of known_hosts, each list sorted.
  package var all: [String] { configured.sorted() + known.subtracting(configured).sorted() }

  private var configured: Set<String> = []
  private var known: Set<String> = []
  private var filesRead = 0
  private let home: String
  private let files: ClientConfig.Files

  /// Reads the files below `home`; one that cannot be read names no host.
  package init(home: String, files: ClientConfig.Files = .local) {
    self.home = home
    self.files = files
    readConfig("\(home)/.ssh/config")
    for path in KnownHostsFile.defaults(home: home) { readKnownHosts(path) }
  }

  /// The names that complete `prefix`: what it has before an `@` stays before each.
  package func completing(_ prefix: String) -> [String] {
    guard let at = prefix.lastIndex(of: "@") else { return all }
    return all.map { prefix[...at] + $0 }
  }

  private mutating func readConfig(_ path: String) {
    guard filesRead < ConfigReader.fileLimit, let text = text(path) else { return }
    filesRead += 1
    for line in TextLines.split(text).compactMap({ ConfigLine($0) }) {
      guard let words = line.words else { continue }
      switch ConfigDirective(line.name) {
      case .host: configured.formUnion(words.filter(Self.isName))
      case .include: for word in words { include(word) }
      case .match, .ignoreUnknown, .setting, .unused, nil: continue
      }
    }
  }

  private mutating func include(_ word: String) {
    let path =
      word.hasPrefix("~/")
      ? home + word.dropFirst() : word.hasPrefix("/") ? word : "\(home)/.ssh/\(word)"
    for file in ConfigPath.glob(path, names: files.names) { readConfig(file) }
  }

  private mutating func readKnownHosts(_ path: String) {
    guard let text = text(path) else { return }
    for line in TextLines.split(text) {
      guard let names = TextLines.words(line).first, Self.isName(names) else { continue }
      known.formUnion(names.split(separator: ",").map(String.init).filter(Self.isName))
    }
  }

  private func text(_ path: String) -> String? {
    (try? files.read(path, false)) ?? nil
  }

  /// Whether `text` is one host, which a shell need not quote: no pattern, hash, mark or port.
  private static func isName(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { $0 > 32 && $0 < 127 && !special.contains($0) } && !text.isEmpty
  }

  private static let special = Set("*?!|@#[]%'\"\\$`;&()<>{}~".utf8)
}
