import BridgeErrors

/// One step of a diagnosis (`bridgectl doctor`): what was tried, and the result.
package struct DoctorStep: Sendable, Equatable {
  /// What a step is about.
  package enum Kind: String, Sendable, CaseIterable {
    /// Reading the configuration, and what is doubtful in it.
    case config
    case resolve
    /// TCP to one address, a channel of the host before, or ProxyCommand.
    case connect
    /// The version line of an SSH server.
    case banner
    case keyExchange
    case hostKey
    /// One credential, or the whole login where that failed.
    case login
    case channel
    /// The command `true`.
    case command
    case bridgeHost
    case tls
    case upgrade

    /// The name for a person.
    package var words: String {
      switch self {
      case .keyExchange: "key exchange"
      case .hostKey: "host key"
      case .bridgeHost: "bridge-host"
      case .tls: "TLS"
      case .config, .resolve, .connect, .banner, .login, .channel, .command, .upgrade: rawValue
      }
    }
  }

  /// How a step ended.
  package enum Outcome: String, Sendable, CaseIterable {
    case ok
    /// Without success, and another one may do: one address of several, one key of several.
    case no
    /// It works, or may work, and something should be changed.
    case warning
    case failed
  }

  /// What it is about.
  package var kind: Kind
  /// The host that it is about, with its port; nil where it is about none.
  package var target: String?
  /// How it ended.
  package var outcome: Outcome
  /// The address, the key or the file; nil where the kind says it all.
  package var tried: String?
  /// The result.
  package var message: String
  /// How long it took; nil for what takes no time.
  package var duration: Duration?
  /// The lines of files and the options that took part.
  package var sources: [String]
  /// What would help; nil where nothing has to be done.
  package var remedy: String?
  /// The command that the remedy leads to, to be copied.
  package var command: String?
  /// The failure; nil where it did not fail.
  package var failure: CommandFailure?

  /// Creates a step.
  package init(
    _ kind: Kind, of target: String? = nil, _ outcome: Outcome, tried: String? = nil,
    _ message: String, duration: Duration? = nil, sources: [String] = [], remedy: String? = nil,
    command: String? = nil, failure: CommandFailure? = nil
  ) {
    self.kind = kind
    self.target = target
    self.outcome = outcome
    self.tried = tried
    self.message = message
    self.duration = duration
    self.sources = sources
    self.remedy = remedy
    self.command = command
    self.failure = failure
  }

  func add(to line: inout JSONLine) {
    line.add("step", kind.rawValue)
    line.add("target", target.map { PeerText.escaped($0) })
    line.add("outcome", outcome.rawValue)
    line.add("tried", tried.map { PeerText.escaped($0) })
    line.add("message", PeerText.escaped(message))
    line.add("milliseconds", duration?.milliseconds)
    line.add("sources", sources.map { PeerText.escaped($0) })
    line.add("remedy", remedy.map { PeerText.escaped($0) })
    line.add("command", command)
    line.add("case", failure?.error.caseName)
    line.add("kind", failure?.context.map { "\($0.kind)" })
    line.add("phase", failure?.context?.phase.rawValue)
  }
}

// As text.
extension DoctorStep {
  private static let widest = 100
  private static let margin = 34
  /// Where there is not that much space behind the margin, a step goes on under its own line.
  private static let narrowest = 24

  /// Lines for a person on a terminal of `columns`, each ended by a line feed.
  package func text(color: Bool, columns: Int = widest) -> String {
    let width = min(columns, Self.widest)
    let isNarrow = width - Self.margin < Self.narrowest
    let indent = String(repeating: " ", count: isNarrow ? 4 : Self.margin)
    let mark = Self.padded(outcome == .failed ? "FAILED" : outcome.rawValue, to: 8)
    let time = duration.map(Self.words) ?? ""
    let space = String(repeating: " ", count: max(0, 8 - time.count))
    let name = Self.padded(kind.words, to: 14)
    let result = PeerText.escaped([tried, message].compactMap(\.self).joined(separator: ": "))
    var text =
      "  " + (color ? "\u{1B}[\(code)m\(mark)\u{1B}[0m" : mark) + "\(space)\(time)  \(name)"
    let paragraph = { (text: String) in
      Paragraph.lines(of: text, width: width - indent.count).map { indent + $0 + "\n" }.joined()
    }
    text += isNarrow ? "\n" + paragraph(result) : String(paragraph(result).dropFirst(indent.count))
    for source in sources { text += paragraph(PeerText.escaped("from \(source)")) }
    if let remedy { text += paragraph(PeerText.escaped("to do: \(remedy)")) }
    if let command { text += "    \(command)\n" }
    return text
  }

  /// Bold and a color (ECMA-48, SGR).
  private var code: String {
    switch outcome {
    case .ok: "32"
    case .no: "2"
    case .warning: "1;33"
    case .failed: "1;31"
    }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  /// A time for a person.
  static func words(_ time: Duration) -> String {
    let milliseconds = time.milliseconds
    guard milliseconds >= 10_000 else { return "\(milliseconds) ms" }
    return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
  }
}
