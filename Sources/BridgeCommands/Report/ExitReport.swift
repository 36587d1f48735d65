import BridgeErrors

/// How a run ended, for `--exit-status-file`: what the remote side returned apart from what
/// bridgectl returns.
package struct ExitReport: Sendable, Equatable {
  /// How the remote command or shell ended, where that is known.
  package enum Remote: Sendable, Equatable {
    case status(Int)
    case signal(String)
  }

  /// The exit status of bridgectl.
  package var code: Int32
  /// The end of the remote side; nil where it was not reached, or its end is not known.
  package var remote: Remote?
  /// The case of the error that ended the run.
  package var caseName: String?

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
