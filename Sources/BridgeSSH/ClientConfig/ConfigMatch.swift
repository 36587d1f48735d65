import BridgeErrors
import BridgeReactor

/// The criteria of one Match line (ssh_config(5), Match).
struct ConfigMatch {
  /// What the criteria are compared with, as far as the configuration is read.
  struct Facts {
    /// The host to connect to: HostName so far, else the host as it was typed.
    var host: String
    /// The host as it was typed.
    var originalHost: String
    /// The remote user.
    var user: String
    /// The local user.
    var localUser: String
    /// Tag; empty where none is set.
    var tag: String
    /// The command that was typed, or the subsystem; empty for none.
    var command: String
    /// shell, exec, subsystem or none.
    var session: String
    /// The addresses of this machine, as it has them now.
    var localAddresses: @Sendable () -> [NetworkAddress]
    /// Whether this is the second reading, after HostName is settled.
    var isFinalPass: Bool
  }

  /// Whether the block applies.
  enum Outcome: Equatable {
    case applies(Bool)
    /// It depends on a criterion that is not supported.
    case unsupported(String)
    /// A command had no result.
    case failed(AppError)
  }

  /// Why a line cannot be read.
  struct Malformed: Error {
    let reason: String
  }

  /// Whether a criterion asks for a second reading.
  private(set) var needsFinalPass = false
  private var result = true
  private var unsupported: String?

  /// The outcome for `words`, everything after the keyword.
  ///
  /// Every criterion must fit; one that is not supported decides only where all others fit. As with
  /// OpenSSH, a command runs only where all criteria before it fit.
  ///
  /// - Parameter execute: the result of a command of `exec`; nil where none may run.
  mutating func evaluate(
    _ words: [String], _ facts: Facts, execute: (String) -> Result<Bool, AppError>?
  ) throws(Malformed) -> Outcome {
    var words = words[...]
    var count = 0
    while let first = words.popFirst() {
      // `host=web` is two words.
      let divided = Self.divided(first)
      let word = divided[0]
      words = divided.dropFirst() + words
      let isNegated = word.hasPrefix("!")
      let name = (isNegated ? String(word.dropFirst()) : word).lowercased()
      if name == "all" {
        guard count <= 1, words.isEmpty else {
          throw Malformed(reason: "all cannot be combined with other criteria")
        }
        result = result && !isNegated
        break
      }
      count += 1
      if name == "final" || name == "canonical" {
        needsFinalPass = needsFinalPass || name == "final"
        result = result && facts.isFinalPass != isNegated
        continue
      }
      guard let argument = words.popFirst() else {
        throw Malformed(reason: "\(PeerText.escaped(word, limit: 64)) has no argument")
      }
      if name == "exec", !result || unsupported != nil { continue }
      if name == "exec", let outcome = execute(argument) {
        switch outcome {
        case .success(let fits): result = fits != isNegated
        case .failure(let error): return .failed(error)
        }
        continue
      }
      guard let fits = try Self.fits(name, argument, facts) else {
        unsupported = unsupported ?? PeerText.escaped(name, limit: 64)
        continue
      }
      result = result && fits != isNegated
    }
    guard result, let unsupported else { return .applies(result) }
    return .unsupported(unsupported)
  }

  private static func fits(
    _ name: String, _ argument: String, _ facts: Facts
  ) throws(Malformed) -> Bool? {
    let patterns = { (isHost: Bool) in
      (isHost ? argument.lowercased() : argument).split(separator: ",").map { HostPattern($0) }
    }
    switch name {
    case "host": return patterns(true).match(facts.host.lowercased())
    case "originalhost": return patterns(true).match(facts.originalHost.lowercased())
    case "user": return patterns(false).match(facts.user)
    case "localuser": return patterns(false).match(facts.localUser)
    case "localnetwork":
      let networks = try networks(argument)
      return facts.localAddresses().contains { address in
        networks.contains { $0.contains(address) }
      }
    case "tagged": return fits(argument, facts.tag)
    case "command": return fits(argument, facts.command)
    case "sessiontype": return patterns(true).match(facts.session)
    default: return nil
    }
  }

  private static func networks(_ argument: String) throws(Malformed) -> [NetworkPrefix] {
    var networks: [NetworkPrefix] = []
    for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
      guard let network = NetworkPrefix(String(word)) else {
        let shown = PeerText.escaped(String(word), limit: 64)
        throw Malformed(reason: "localnetwork: \"\(shown)\" is not a network (ADDRESS/BITS)")
      }
      networks.append(network)
    }
    return networks
  }

  /// As with OpenSSH, an empty pattern fits where nothing is set.
  private static func fits(_ argument: String, _ text: String) -> Bool {
    argument.isEmpty
      ? text.isEmpty : argument.split(separator: ",").map { HostPattern($0) }.match(text)
  }

  private static func divided(_ word: String) -> [String] {
    guard let equals = word.firstIndex(of: "="), equals != word.startIndex,
      word[..<equals].allSatisfy({ $0.isLetter || $0 == "!" }), !word[equals...].dropFirst().isEmpty
    else { return [word] }
    return [String(word[..<equals]), String(word[equals...].dropFirst())]
  }
}
