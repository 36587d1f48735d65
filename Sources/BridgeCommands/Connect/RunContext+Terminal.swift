import BridgeErrors
import BridgeSSH
import BridgeTerminal

extension TerminalSize {
  /// The size of the terminal at `descriptor`; nil where it has none.
  init?(of descriptor: Int32) {
    guard let size = TerminalModes.size(of: descriptor) else { return nil }
    self.init(columns: size.columns, rows: size.rows)
  }
}

// The terminal of the remote side.
extension RunContext {
  /// Whether the remote side gets a terminal.
  static func wantsTerminal(
    _ request: ConnectRequest, _ settings: ConnectSettings, _ local: LocalEnvironment
  ) -> Bool {
    switch settings.terminal {
    case .unwanted: false
    case .forced: true
    case .wanted: local.inputIsTerminal
    case .automatic: request.command == nil && local.inputIsTerminal
    }
  }

  /// Whether what is typed belongs to the remote side.
  static func ownsKeyboard(
    _ request: ConnectRequest, _ settings: ConnectSettings, _ local: LocalEnvironment
  ) -> Bool {
    wantsTerminal(request, settings, local) && local.inputIsTerminal && !request.isIdle
  }

  /// Whether a shell or a command is started on the user's terminal.
  static func startsTerminal(
    _ request: ConnectRequest, _ settings: ConnectSettings, _ local: LocalEnvironment
  ) -> Bool {
    ownsKeyboard(request, settings, local) && request.messages == nil && request.carried == nil
  }

  /// Whether the remote side gets a terminal.
  var wantsTerminal: Bool { Self.wantsTerminal(request, settings, local) }

  /// The type of the terminal of this run.
  var terminalType: String { Self.terminalType(settings, local) }

  /// The type of the user's terminal, or the one that SetEnv gives it.
  static func terminalType(_ settings: ConnectSettings, _ local: LocalEnvironment) -> String {
    let given = settings.environment.first { $0.name == "TERM" }?.value
    return [given, local.variables["TERM"]].compactMap(\.self).first { !$0.isEmpty } ?? "dumb"
  }

  /// The terminal to request; nil for none.
  var pseudoTerminal: PseudoTerminal? {
    guard wantsTerminal else { return nil }
    return PseudoTerminal(
      type: terminalType, size: TerminalSize(of: 0) ?? TerminalSize(),
      modes: TerminalModes.encoded(of: 0), isRequired: settings.terminal != .automatic)
  }

  /// Warns where a terminal was asked for and cannot be had.
  func warnOfMissingTerminal() {
    guard settings.terminal == .wanted, !wantsTerminal else { return }
    reporter.warn("no terminal is requested: standard input is not one (-tt requests it anyway)")
  }

  /// The host gives a shell no terminal. From here on the user's one shows and edits what is typed,
  /// and sends it by lines.
  func goOnWithoutTerminal(isKnown: Bool) {
    TerminalModes.restore()
    reporter.makeSpaceForTyping()
    guard !isKnown else { return }
    let host = PeerText.escaped(settings.givenHost, limit: 128)
    reporter.log(
      reporter.style.isSSH
        ? "PTY allocation request failed on channel 0"
        : "bridgectl: \(host) gives no terminal; the shell goes on without one (-T asks for none).")
  }

  /// The terminal on standard output, where it is one. Something is drawn beside output where a
  /// person types to a program.
  static func outputScreen(
    _ style: Reporter.Style, _ local: LocalEnvironment, hasKeyboard: Bool
  ) -> OutputScreen? {
    guard local.outputIsTerminal else { return nil }
    return OutputScreen(hasKeyboard && style.showsProgress ? TerminalSize(of: 1) : nil)
  }

  /// Takes away what was written over the screen of a program.
  func repaint() { screen?.repaint(to: output) }

  /// Gives the user's terminal back as it was before the remote side wrote to it. Behind all output
  /// that was handed over, and before the words that follow: they would vanish with the screen of
  /// a program.
  func giveBackScreen() async {
    guard let reset = screen?.takeReset(), !reset.isEmpty else { return }
    await reporter.makeWay()
    output.post(reset, isUnbounded: true)
    await output.drain()
  }
}
