import BridgeErrors

/// How a run ended, for `--exit-status-file`: what the remote side returned apart from what
/// bridgectl returns.
package struct ExitReport: Sendable, Equatable {
  /// How the remote command or shell ended, where that is known.
  package enum Remote: Sendable, Equatable {
    case status(Int)
    case signal(String)

    /// A signal in words. One of the server's own has an @ (RFC 4254, 6.10): OpenSSH sends that for
    /// all that SSH does not know.
    package static func words(ofSignal name: String) -> String {
      name.contains("@")
        ? "a signal that SSH has no name for" : "SIG\(PeerText.escaped(name, limit: 32))"
    }
  }

  /// The exit status of bridgectl.
  package var code: Int32
  /// The end of the remote side; nil where it was not reached, or its end is not known.
  package var remote: Remote?
  /// The case of the error that ended the run.
  package var caseName: String?

  /// Whether the link was ever up.
  package var wasUp = false

  /// The exit status of ssh(1) for a failure of its own.
  static let failureOfSSH: Int32 = 255

  /// The exit status of ssh(1) for this end: the remote one, or 255; that of a signal that came
  /// before the link was up, as the shell says it of a program that a signal has ended.
  package var codeOfSSH: Int32 {
    let isSignal = (129...159).contains(code)
    switch remote {
    case .status(let status) where Int32(truncatingIfNeeded: status & 0xFF) == code: return code
    case nil where code == 0: return 0
    case nil where isSignal && !wasUp: return code
    case .status, .signal, nil: return Self.failureOfSSH
    }
  }

  /// A report.
  package init(code: Int32, remote: Remote? = nil, caseName: String? = nil) {
    self.code = code
    self.remote = remote
    self.caseName = caseName
  }

  /// The line, without a line feed.
  package var line: JSONLine {
    var line = JSONLine()
    line.add("v", 1)
    line.add("exit", Int(code))
    switch remote {
    case .status(let status): line.add("remote", status)
    case .signal(let name): line.add("signal", PeerText.escaped(name, limit: 32))
    case nil: break
    }
    line.add("case", caseName)
    return line
  }
}
