/// The way by which a secret is requested.
package enum PromptRoute: Sendable, Equatable {
  /// On the process's terminal.
  case terminal
  /// By this program (SSH_ASKPASS).
  case program(String)
  /// Nowhere; the sentence says why, and what would help.
  case nowhere(String)

  /// Whether a prompt can be answered.
  package var canAsk: Bool {
    switch self {
    case .terminal, .program: true
    case .nowhere: false
    }
  }

  /// As OpenSSH chooses (ssh(1), SSH_ASKPASS_REQUIRE): the terminal where there is one, else the
  /// program where there is a display; `prefer` and `force` put the program first, `force` even
  /// without a display, and `never` leaves it out.
  ///
  /// - Parameters:
  ///   - isBatch: whether nothing is ever asked.
  ///   - hasTerminal: whether the process has one.
  package static func choose(
    isBatch: Bool, hasTerminal: Bool, environment: [String: String]
  ) -> PromptRoute {
    if isBatch {
      return .nowhere("Nothing is asked with --batch or BatchMode; --password-fd N gives it.")
    }
    let program = environment["SSH_ASKPASS"].flatMap { $0.isEmpty ? nil : $0 }
    let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    var mayRun = hasDisplay
    var isFirst = !hasTerminal
    switch environment["SSH_ASKPASS_REQUIRE"]?.lowercased() {
    case "never": mayRun = false
    case "prefer": isFirst = true
    case "force":
      mayRun = true
      isFirst = true
    case _: break
    }
    if isFirst, mayRun, let program { return .program(program) }
    if hasTerminal { return .terminal }
    return .nowhere(
      "There is no terminal to prompt on. Use --password-fd N, or SSH_ASKPASS=PROGRAM with "
        + "SSH_ASKPASS_REQUIRE=force.")
  }
}
