import BridgeErrors
package import BridgeSSH

/// The command line of ssh(1), read as OpenSSH reads it: by getopt(3), before the host and between
/// it and the command.
///
/// As there, the first of `-p`, `-l`, `-o` and what the host's own words say decides, as they stand
/// in the line; of the flags the last one counts, and over `-o`.
package struct SSHArguments: Sendable, Equatable {
  /// What is asked for.
  package enum Purpose: Sendable, Equatable {
    case session
    /// `-G`.
    case settings
    /// `-V`.
    case version
    /// `-Q`.
    case query(String)
  }

  /// Why a command line cannot be used.
  package struct Refusal: Error, Equatable {
    /// A sentence; nil where the usage says all.
    package let reason: String?
    /// Whether the usage follows.
    package let showsUsage: Bool

    static func usage(_ reason: String? = nil) -> Refusal {
      Refusal(reason: reason, showsUsage: true)
    }

    static func because(_ reason: String) -> Refusal {
      Refusal(reason: reason, showsUsage: false)
    }
  }

  /// What is asked for.
  package private(set) var purpose = Purpose.session
  /// The host, without a user or port; empty where none is needed.
  package private(set) var host = ""
  /// `-p`, `-l`, `-o` and what the destination says, in their order, as KEY=VALUE.
  package private(set) var settings: [String] = []
  /// `-i`.
  package private(set) var identities: [String] = []
  /// `-F`.
  package private(set) var config: String?
  /// `-E`.
  package private(set) var logFile: String?
  /// `-J`.
  package private(set) var jump: String?
  /// `-L`, `-D` and `-R`.
  package private(set) var forwards: [ForwardRule] = []
  /// `-W`.
  package private(set) var carried: TunnelTarget?
  /// `-O`.
  package private(set) var control: SharingCommand?
  /// `-n`, also by `-f`.
  package private(set) var readsNothing = false
  /// `-f`.
  package private(set) var goesToBackground = false
  /// `-N`.
  package private(set) var isIdle = false
  /// `-s`.
  package private(set) var isSubsystem = false
  /// Where the command begins among the arguments; nil for none.
  package private(set) var commandStart: Int?
  /// Options that change nothing, each with its sentence.
  package private(set) var remarks: [String] = []
  /// Options that ssh too says something about.
  package private(set) var warnings: [String] = []
  /// Settings of flags, by keyword: of each the last one counts.
  private var flags: [String: String] = [:]
  private let hasDisplay: Bool

  /// Reads `arguments`, those behind the program's name.
  ///
  /// - Parameter hasDisplay: whether DISPLAY is set.
  /// - Throws: why there is no run.
  package init(_ arguments: [String], hasDisplay: Bool = false) throws(Refusal) {
    self.hasDisplay = hasDisplay
    var index = 0
    var isTerminated = try take(arguments, from: &index)
    guard case .session = purpose, index < arguments.count else {
      if isComplete { return }
      throw .usage()
    }
    try takeDestination(arguments[index])
    index += 1
    // As with OpenSSH, `--` before the host ends the options behind it, too.
    if !isTerminated { isTerminated = try take(arguments, from: &index) }
    if isComplete { return }
    if index < arguments.count { commandStart = index }
    try check(hasCommand: arguments[index...].contains { !$0.isEmpty })
    if printsSettings { purpose = .settings }
  }

  /// What decides in the order of the line, behind what the flags say.
  package var options: [String] {
    flags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" } + settings
  }

  private var printsSettings = false

  /// Whether no host is needed.
  private var isComplete: Bool {
    switch purpose {
    case .version, .query: true
    case .session, .settings: false
    }
  }

  private func check(hasCommand: Bool) throws(Refusal) {
    guard !isSubsystem || hasCommand else {
      throw .usage("You must specify a subsystem to invoke.")
    }
    guard !goesToBackground || hasCommand || isIdle else {
      throw .because("Cannot fork into background without a command to execute.")
    }
  }

  /// Reads options from `index` on, up to the first word that is none; whether `--` ended them.
  private mutating func take(
    _ words: [String], from index: inout Int
  ) throws(Refusal) -> Bool {
    while index < words.count, !isComplete {
      let word = words[index]
      guard word.hasPrefix("-"), word != "-" else { return false }
      index += 1
      if word == "--" { return true }
      var letters = word.dropFirst()
      while let letter = letters.popFirst(), !isComplete {
        guard let option = SSHOption.named(letter) else {
          throw .usage("unknown option -- \(PeerText.escaped(String(letter), limit: 16))")
        }
        let value = option.takesValue ? try Self.value(of: letter, &letters, words, &index) : ""
        try take(option, value)
      }
    }
    return false
  }

  /// What follows an option: the rest of its word, or the next one whatever it looks like.
  private static func value(
    of letter: Character, _ rest: inout Substring, _ words: [String], _ index: inout Int
  ) throws(Refusal) -> String {
    guard rest.isEmpty else {
      defer { rest = "" }
      return String(rest)
    }
    guard index < words.count else { throw .usage("option requires an argument -- \(letter)") }
    index += 1
    return words[index - 1]
  }

  private mutating func take(_ option: SSHOption, _ value: String) throws(Refusal) {
    switch option.effect {
    case .refused(let words): throw .because("ssh: -\(option.letter): \(words)")
    case .accepted(let words):
      guard !"XY".contains(option.letter) || !hasDisplay else {
        throw .because(
          "ssh: -\(option.letter): X11 forwarding is not available; unset DISPLAY, or give -x")
      }
      remarks.append("-\(option.letter): \(words)")
      if option.letter == "I" { warnings.append("no support for PKCS#11.") }
    case .done where option.takesValue: try take(option.letter, value)
    case .done: try take(flag: option.letter)
    }
  }

  private mutating func take(flag letter: Character) throws(Refusal) {
    switch letter {
    case "4": flags["AddressFamily"] = "inet"
    case "6": flags["AddressFamily"] = "inet6"
    case "f":
      goesToBackground = true
      readsNothing = true
    case "g": flags["GatewayPorts"] = "yes"
    case "G": printsSettings = true
    // As with OpenSSH, a second one has a person agree to each use.
    case "M": flags["ControlMaster"] = flags["ControlMaster"] == nil ? "yes" : "ask"
    case "n": readsNothing = true
    case "N":
      guard !isSubsystem else { throw Self.conflictingTypes }
      isIdle = true
    case "q": flags["LogLevel"] = "QUIET"
    case "s":
      guard !isIdle else { throw Self.conflictingTypes }
      isSubsystem = true
    // As with OpenSSH, a third one takes the second back.
    case "t": flags["RequestTTY"] = flags["RequestTTY"] == "yes" ? "force" : "yes"
    case "T": flags["RequestTTY"] = "no"
    case "v": flags["LogLevel"] = "DEBUG1"
    case "V": purpose = .version
    // Those that only say what is so: -2 -a -x.
    default: break
    }
  }

  private static let conflictingTypes = Refusal.because(
    "Cannot specify multiple conflicting session types: -s/-N.")

  private mutating func take(_ letter: Character, _ value: String) throws(Refusal) {
    switch letter {
    case "b": flags["BindAddress"] = "\"\(value)\""
    case "B": flags["BindInterface"] = "\"\(value)\""
    case "c": flags["Ciphers"] = try Self.word(value, of: letter)
    case "m": flags["MACs"] = try Self.word(value, of: letter)
    case "e": flags["EscapeChar"] = try Self.escape(value)
    case "E": logFile = value
    case "F": config = value
    case "i": identities.append(value)
    case "J": try takeJump(value)
    case "l": settings.append("User=\(try Self.user(value))")
    case "o": try takeSetting(value)
    case "p": settings.append("Port=\(try Self.port(value))")
    case "P": flags["Tag"] = "\"\(value)\""
    case "Q": purpose = .query(value)
    case "O": try takeControl(value)
    case "S": flags["ControlPath"] = "\"\(value)\""
    default: try takeForward(letter, value)
    }
  }

  private mutating func takeJump(_ value: String) throws(Refusal) {
    guard jump == nil else {
      throw .because(
        "Only a single -J option is permitted (use commas to separate multiple jump hops)")
    }
    jump = value
  }

  private mutating func takeControl(_ value: String) throws(Refusal) {
    guard control == nil else { throw .because("Multiplex command already specified") }
    guard let command = SharingCommand(rawValue: value) else {
      throw .because("Invalid multiplex command.")
    }
    control = command
  }

  private mutating func takeSetting(_ value: String) throws(Refusal) {
    // The words by which tools find out whether a keyword is known.
    let name = value.drop { $0 == " " || $0 == "\t" }
    // As a line of the file that is empty or a comment.
    guard let first = name.first, first != "#" else { return }
    guard name.contains(where: { "= \t".contains($0) }) else {
      throw .because("command-line line 0: missing argument: \(PeerText.escaped(value))")
    }
    settings.append(value)
  }

  private mutating func takeForward(_ letter: Character, _ value: String) throws(Refusal) {
    let shown = PeerText.escaped(value, limit: 256)
    do throws(AppError) {
      switch letter {
      case "L": forwards.append(try ForwardRule(local: value, field: "-L"))
      case "D": forwards.append(try ForwardRule(dynamic: value, field: "-D"))
      case "R": forwards.append(try ForwardRule(remote: value, field: "-R"))
      default:
        guard carried == nil else { throw .cancelled }
        carried = try ForwardRule.target(value, field: "-W")
      }
    } catch {
      let names = ["L": "local", "D": "dynamic", "R": "remote", "W": "stdio"]
      guard error != .cancelled else { throw .because("stdio forward already specified") }
      throw .because("Bad \(names[String(letter)] ?? "") forwarding specification '\(shown)'")
    }
    if letter == "R", case .socket = forwards.last?.source {
      throw .because("ssh: -R \(shown): a unix socket of the host is not available")
    }
  }

  private mutating func takeDestination(_ word: String) throws(Refusal) {
    if word.lowercased().hasPrefix("ssh://") {
      guard let argument = try? HostArgument(word) else { throw .usage() }
      host = argument.host
      if let user = argument.user { settings.append("User=\(try Self.user(user))") }
      if let port = argument.port { settings.append("Port=\(port)") }
      return
    }
    if let at = word.lastIndex(of: "@") {
      guard at != word.startIndex else { throw .usage() }
      settings.append("User=\(try Self.user(String(word[..<at])))")
      host = String(word[word.index(after: at)...])
    } else {
      host = word
    }
    guard (try? HostArgument(name: host)) != nil else {
      throw .because("hostname contains invalid characters")
    }
  }

  private static func port(_ value: String) throws(Refusal) -> Int {
    guard let port = try? HostArgument.port(value, field: "-p") else {
      throw .because("Bad port '\(PeerText.escaped(value, limit: 64))'")
    }
    return port
  }

  /// As a value of EscapeChar.
  private static func escape(_ value: String) throws(Refusal) -> String {
    guard ClientConfig.Escape(value) != nil, value != "\"" else {
      throw .because("Bad escape character '\(PeerText.escaped(value, limit: 64))'.")
    }
    return value == " " || value == "#" ? "\"\(value)\"" : value
  }

  /// The name goes into a setting, and to a shell where ProxyCommand names it: as with OpenSSH
  /// (ssh.c, valid_ruser) what a shell acts on is refused, and `DOMAIN\name` is a name.
  private static func user(_ value: String) throws(Refusal) -> String {
    let bytes = Array(value.utf8)
    let isSafe = bytes.allSatisfy { $0 >= 32 && $0 != 127 && !"'\"`;&<>|(){}".utf8.contains($0) }
    let mayBeOption = zip(bytes, bytes.dropFirst()).contains { $0 == 32 && $1 == UInt8(ascii: "-") }
    guard isSafe, !mayBeOption, !value.isEmpty, !value.hasPrefix("-"), !value.hasSuffix("\\") else {
      throw .because("remote username contains invalid characters")
    }
    guard value.contains(where: { " #\\".contains($0) }) else { return value }
    let parts = value.split(separator: "\\", omittingEmptySubsequences: false)
    return "\"" + parts.joined(separator: "\\\\") + "\""
  }

  private static func word(_ value: String, of letter: Character) throws(Refusal) -> String {
    guard !value.isEmpty, value.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
      let kind = letter == "c" ? "cipher" : "mac"
      throw .because("Unknown \(kind) type '\(PeerText.escaped(value, limit: 64))'")
    }
    return value
  }
}
