package import BridgeErrors
package import BridgeSSH

extension ExitReport.Remote {
  /// How a command ended.
  package init(_ status: ExitStatus) {
    switch status {
    case .status(let number): self = .status(number)
    case .signal(let name): self = .signal(name)
    }
  }
}

extension ExitCode {
  /// The code that passes on how a remote command ended: its status as it is, 128 + n after signal
  /// n, 255 after an unknown signal.
  package init(_ status: ExitStatus) {
    switch status {
    case .status(0): self = .success
    case .status(let number): self.init(remoteStatus: number)
    case .signal(let name):
      self.init(rawValue: Self.signals[name].map { 128 + $0 } ?? 255)
    }
  }

  /// The names of RFC 4254, 6.10 and the others that Linux has (signal(7)).
  private static let signals: [String: Int32] = [
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9,
    "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15, "STKFLT": 16,
    "XCPU": 24, "XFSZ": 25, "VTALRM": 26, "PROF": 27, "SYS": 31,
  ]
}
