import BridgeErrors
package import BridgeSSH

/// The command that a diagnosis runs on a host, and what comes of it.
package struct DoctorProbe: Sendable {
  /// Prints a line by which it is known that it ran: a start-up file or a forced command may end
  /// with the status of success, too. Each login shell has it, also that of Windows.
  package static let line = "echo \(mark)"
  private static let mark = "bridgectl-doctor"

  /// More of its output is not read, in bytes.
  private static let limit = 4 << 20

  private var hasRun = false
  private var printed = 0
  /// How what was printed begins: what answers in its place says there who it is.
  private var beginning: [UInt8] = []
  /// The end of the line that was not ended yet, as long as the command.
  private var rest: [UInt8] = []

  /// A command that has printed nothing yet.
  package init() {}

  /// Takes output; false where no more is to be read.
  package mutating func take(_ bytes: [UInt8]) -> Bool {
    printed += bytes.count
    beginning += bytes.prefix(Self.longestQuote - beginning.count)
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        endLine()
      } else if byte != UInt8(ascii: "\r") {
        rest = rest.suffix(Self.line.utf8.count - 1) + [byte]
      }
    }
    return printed <= Self.limit
  }

  /// A start-up file may have printed before it in its line; a device that shows what it was given
  /// has not run it.
  private mutating func endLine() {
    let isMark = rest.suffix(Self.mark.utf8.count).elementsEqual(Self.mark.utf8)
    hasRun = hasRun || isMark && !rest.elementsEqual(Self.line.utf8)
    rest = []
  }

  /// How much of what it printed is quoted, in bytes.
  static let longestQuote = 256

  /// What to say of it, now that it ended.
  ///
  /// - Parameter errors: how its standard error begins: a login that runs no command says there why
  ///   (nologin(8), an expired password).
  package func step(
    _ status: ExitStatus, errors: [UInt8] = [], _ report: inout DoctorReport, at now: Duration
  ) -> DoctorStep {
    let other = printed - Self.mark.utf8.count - 1
    guard hasRun || printed > Self.limit, status == .status(0) else {
      report.commands = .replaced
      var words = "it ended with \(PeerText.escaped(status.words, limit: 64))"
      let said = String(decoding: beginning.isEmpty ? errors : beginning, as: UTF8.self)
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
      if !hasRun, !said.isEmpty {
        words += ": " + PeerText.escaped(said, limit: Self.longestQuote)
      }
      return report.step(
        .command, .warning, tried: Self.line, hasRun ? words : "it did not run: \(words)",
        remedy: "A forced command, a start-up file or the login shell answers in its place, or the "
          + "account is closed or its password expired: commands may not run.",
        at: now)
    }
    // One byte more where the line ends as on Windows.
    guard other <= 1 else {
      return report.step(
        .command, .warning, tried: Self.line,
        "\(Counted.text(other, "byte")) came with its output",
        remedy: "The login shell writes to every command's output: let .bashrc print only where "
          + "the shell is interactive.",
        at: now)
    }
    return report.step(.command, .ok, tried: Self.line, "it ran", at: now)
  }

  /// What to say where it did not end within so many seconds, and the link answers.
  package static func silent(
    after seconds: Int, _ report: inout DoctorReport, at now: Duration
  ) -> [DoctorStep] {
    report.commands = .endless
    return [
      report.step(
        .command, .warning, tried: line,
        "it did not end within \(seconds) s, and the link answers",
        remedy: "A start-up file (such as ~/.bashrc) starts another shell, reads standard input or "
          + "takes long, or a forced command answers in its place.",
        at: now),
      report.step(.bridgeHost, .warning, "It was not looked for, as no command ended.", at: now),
    ]
  }
}
