import BridgeErrors

/// The values of the keywords, each read one way.
enum ConfigValue {
  typealias Refusal = (String) -> AppError
  typealias Reader<Value> = @Sendable (String, Refusal) throws(AppError) -> Value

  static func port(_ text: String, _ refuse: Refusal) throws(AppError) -> Int {
    guard let port = number(text), (1...65_535).contains(port) else {
      throw refuse("\(shown(text)) is not a port (1 to 65535)")
    }
    return port
  }

  static func count(_ text: String, _ refuse: Refusal) throws(AppError) -> Int {
    guard let count = number(text), count <= Int(Int32.max) else {
      throw refuse("\(shown(text)) is not a count")
    }
    return count
  }

  /// A time as sshd_config(5), TIME FORMATS has it: `90`, `1m30s`, `2h`; `none` is zero.
  static func time(_ text: String, _ refuse: Refusal) throws(AppError) -> Duration {
    if text.lowercased() == "none" { return .zero }
    var total = 0
    var digits = ""
    for character in text.lowercased() + (text.last?.isNumber == true ? "s" : "") {
      if character.isASCII, character.isNumber, digits.count < 10 {
        digits.append(character)
        continue
      }
      guard let unit = units[character], let value = Int(digits) else {
        throw refuse("\(shown(text)) is not a time")
      }
      total += value * unit
      digits = ""
      guard total <= Int(Int32.max) else { throw refuse("\(shown(text)) is too long a time") }
    }
    guard !text.isEmpty, digits.isEmpty else { throw refuse("\(shown(text)) is not a time") }
    return .seconds(total)
  }

  private static let units: [Character: Int] = [
    "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800,
  ]

  static func flag(_ text: String, _ refuse: Refusal) throws(AppError) -> Bool {
    switch text.lowercased() {
    case "yes", "true": return true
    case "no", "false": return false
    default: throw refuse("\(shown(text)) is neither yes nor no")
    }
  }

  /// `unbound` and `host-bound` choose a protocol extension; keys are offered with either.
  static func publicKeys(_ text: String, _ refuse: Refusal) throws(AppError) -> Bool {
    switch text.lowercased() {
    case "unbound", "host-bound": true
    case _: try flag(text, refuse)
    }
  }

  /// A list of methods of authentication; those that are not known here stay without effect.
  static func methods(_ text: String, _ refuse: Refusal) throws(AppError) -> [String] {
    let methods = text.lowercased().split(separator: ",").map(String.init)
    guard !methods.isEmpty else { throw refuse("\(shown(text)) is not a list of methods") }
    return methods
  }

  static func algorithms(_ text: String, _ refuse: Refusal) throws(AppError) -> AlgorithmRequest {
    guard let request = AlgorithmRequest(text) else {
      throw refuse("\(shown(text)) is not a list of algorithms")
    }
    return request
  }

  static func checking(
    _ text: String, _ refuse: Refusal
  ) throws(AppError) -> ClientConfig.HostKeyChecking {
    switch text.lowercased() {
    case "ask": return .ask
    case "accept-new", "no", "off", "false": return .acceptNew
    case "yes", "true": return .strict
    default: throw refuse("\(shown(text)) is none of yes, accept-new, ask, no")
    }
  }

  /// `no` would connect to a host whose key has changed; that is never done here.
  static func checkingWarning(_ entry: ConfigEntry) -> String? {
    guard ["no", "off", "false"].contains(entry.text.lowercased()) else { return nil }
    return "\(entry.location): StrictHostKeyChecking \(entry.text) is taken as accept-new; "
      + "a changed key is still refused"
  }

  /// The rule that `read` makes of the words, with the line in what it throws.
  static func forward(
    _ entry: ConfigEntry, _ read: (String) throws(AppError) -> ForwardRule
  ) throws(AppError) -> ForwardRule {
    do throws(AppError) {
      return try read(entry.words.joined(separator: ":"))
    } catch {
      guard case .validationError(_, let message) = error else { throw error }
      throw entry.refusal(message)
    }
  }

  static func family(
    _ text: String, _ refuse: Refusal
  ) throws(AppError) -> SSHConfiguration.AddressFamily {
    switch text.lowercased() {
    case "any": return .any
    case "inet": return .ipv4
    case "inet6": return .ipv6
    default: throw refuse("\(shown(text)) is none of any, inet, inet6")
    }
  }

  static func terminal(_ text: String, _ refuse: Refusal) throws(AppError) -> ClientConfig.TTY {
    switch text.lowercased() {
    case "true": return .yes
    case "false": return .no
    case let other:
      guard let value = ClientConfig.TTY(rawValue: other) else {
        throw refuse("\(shown(text)) is none of yes, no, force, auto")
      }
      return value
    }
  }

  static func master(
    _ text: String, _ refuse: Refusal
  ) throws(AppError) -> ConnectionSharing.Master {
    switch text.lowercased() {
    case "true": return .yes
    case "false": return .no
    case let other:
      guard let value = ConnectionSharing.Master(rawValue: other) else {
        throw refuse("\(shown(text)) is none of yes, no, auto, ask, autoask")
      }
      return value
    }
  }

  /// A time of nothing is without an end (ssh_config(5)).
  static func persistence(
    _ text: String, _ refuse: Refusal
  ) throws(AppError) -> ConnectionSharing.Persistence {
    switch text.lowercased() {
    case "yes", "true": return .forever
    case "no", "false": return .none
    default:
      let limit = try time(text, refuse)
      return limit == .zero ? .forever : .limited(limit)
    }
  }

  static func session(
    _ text: String, _ refuse: Refusal
  ) throws(AppError) -> ClientConfig.SessionType {
    guard let value = ClientConfig.SessionType(rawValue: text.lowercased()) else {
      throw refuse("\(shown(text)) is none of none, subsystem, default")
    }
    return value
  }

  static func escape(_ text: String, _ refuse: Refusal) throws(AppError) -> ClientConfig.Escape {
    guard let value = ClientConfig.Escape(text) else {
      throw refuse("\(shown(text)) is neither none, nor a character, nor ^ and a letter")
    }
    return value
  }

  static func level(_ text: String, _ refuse: Refusal) throws(AppError) -> ClientConfig.LogLevel {
    guard let value = ClientConfig.LogLevel(rawValue: text.lowercased()) else {
      throw refuse("\(shown(text)) is not a log level")
    }
    return value
  }

  /// A name without control characters.
  static func plain(_ text: String, _ refuse: Refusal) throws(AppError) -> String {
    guard text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }), text.utf8.count <= 1024 else {
      throw refuse("\(shown(text)) has characters that a name cannot have")
    }
    return text
  }

  /// The name of an address or interface; nil for none.
  static func source(_ text: String, _ refuse: Refusal) throws(AppError) -> String? {
    if text.lowercased() == "none" { return nil }
    if let problem = hostProblem(text) { throw refuse(problem) }
    return text
  }

  /// Why `text` cannot be a host's name; nil when it can.
  static func hostProblem(_ text: String) -> String? {
    if text.isEmpty { return "the name is empty" }
    if text.hasPrefix("-") { return "\(shown(text)) starts with a hyphen" }
    guard text.utf8.count <= 1024, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
      return "\(shown(text)) has characters that a host cannot have"
    }
    return nil
  }

  private static func number(_ text: String) -> Int? {
    guard text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  private static func shown(_ text: String) -> String {
    "\"\(PeerText.escaped(text, limit: 128))\""
  }
}
