package import BridgeSessionProtocol

/// The command line that runs a verb of `bridge-host` through a login shell of any kind.
package struct HostCommand: Sendable, Equatable {
  /// The verb that the program executes.
  package enum Verb: Sendable, Equatable {
    case start
    case startAndAttach
    case attach(SessionID)
    case list
    case read(SessionID, from: UInt64, follows: Bool)
    case wait(SessionID)
    case kill(SessionID, SessionSignal?)
    case rename(SessionID, to: [UInt8])
    /// Of one session, or of all that have ended.
    case forget(SessionID?)
    case files(run: Identifier)
    /// The agent of the client that chose this token.
    case agent(Identifier)
    case version

    fileprivate var words: [String] {
      switch self {
      case .start: ["start"]
      case .startAndAttach: ["start", "--attach"]
      case .attach(let session): ["attach", "--session", "\(session)"]
      case .list: ["list"]
      case .read(let session, let offset, let follows):
        ["read", "--session", "\(session)", "--from", "\(offset)"] + (follows ? ["--follow"] : [])
      case .wait(let session): ["wait", "--session", "\(session)"]
      case .kill(let session, let signal):
        ["kill", "--session", "\(session)"] + (signal.map { ["--signal", $0.rawValue] } ?? [])
      case .rename(let session, let name):
        ["rename", "--session", "\(session)", "--name", Hexadecimal.text(name)]
      case .forget(let session): ["forget"] + (session.map { ["--session", "\($0)"] } ?? [])
      case .files(let run): ["files", "--run", "\(run)"]
      case .agent(let token): ["agent", "--run", "\(token)"]
      case .version: ["version"]
      }
    }
  }

  /// Comes before the answer, and stands in `text` in parts only.
  package let marker: String
  /// For an exec request.
  package let text: String

  /// The command for a verb.
  ///
  /// - Parameters:
  ///   - program: the path of `bridge-host`; nil to look where `install` puts it, then along PATH.
  ///   - agent: the token of the client's own agent, which takes the place of the login's.
  package init(
    _ verb: Verb, program: String?, agent: Identifier? = nil, marker: AnswerMarker = AnswerMarker()
  ) {
    self.marker = marker.text
    // The version is for people and has no marker of its own.
    let isPlain = verb == .version
    let words = (verb.words + (isPlain ? [] : ["--marker", marker.word])).joined(separator: " ")
    let say = isPlain ? marker.printing : marker.assignment
    let find =
      program.map { "p=\"\(Self.escaped($0))\"" }
      ?? "p=\"$HOME/\(Self.installed)\"; [ -x \"$p\" ] || p=$(command -v bridge-host) "
      + "|| { \(Self.findShared); }"
    // One line without single quotes or exclamation marks: every shell reads that the same way.
    let socket =
      agent.map {
        "SSH_AUTH_SOCK=\(AgentMessage.directory($0))/\(AgentMessage.socket); "
          + "export SSH_AUTH_SOCK; "
      } ?? ""
    text =
      "exec /bin/sh -c 'exec 2>&1; \(socket)\(find); "
      + "[ -x \"$p\" ] && [ -s \"$p\" ] || { echo \(Self.missing); exit 127; }; "
      + "\(say); exec \"$p\" \(words)'"
  }

  /// Another program, which prints the marker before its answer.
  init(text: String, marker: AnswerMarker) {
    self.text = text
    self.marker = marker.text
  }

  /// Where `install` puts it when the home directory cannot hold or execute programs: only where
  /// that directory belongs to this user alone.
  private static let findShared =
    "u=$(id -u); set -- $(ls -ldn \"/var/tmp/bridge-$u\" 2> /dev/null); "
    + "case \"$1:$3\" in drwx------*:$u) p=/var/tmp/bridge-$u/bin/bridge-host;; esac"

  /// Where `install` puts it, below the home directory.
  package static let installed = ".local/lib/bridge/bin/bridge-host"
  /// Printed where there is no `bridge-host`.
  package static let missing = "bridge-host-is-not-installed"

  /// A path inside double quotes inside single quotes.
  private static func escaped(_ path: String) -> String {
    var text = ""
    for character in path.unicodeScalars {
      switch character {
      case "'": text += "'\\''"
      case "\"", "$", "`", "\\": text += "\\\(character)"
      case _: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
