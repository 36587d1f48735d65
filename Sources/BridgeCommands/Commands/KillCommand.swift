package import ArgumentParser
package import BridgeErrors
import BridgeSession
package import BridgeSessionProtocol
import BridgeWaiting

/// `bridgectl kill`.
package struct KillCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "kill",
    abstract: "End the program of a durable session, or send it one signal.",
    discussion: """
      Without --signal: HUP and CONT, TERM after 2 seconds, KILL after 5 more. It returns when \
      the first was sent; `wait` waits for the end. The output is kept.

      EXAMPLES:
          bridgectl kill build.example build
          bridgectl kill --signal INT build.example 3f2a
      """)

  @Option(
    help: ArgumentHelp(
      "The signal: \(SessionSignal.allCases.map(\.rawValue).joined(separator: ", ")).",
      valueName: "NAME"))
  package var signal: String?

  @OptionGroup package var link: LinkArguments

  @Argument(help: SessionArgument.help)
  package var session: String

  /// Creates the command with its defaults.
  package init() {}

  /// The signal that `name` means, with or without SIG; nil for none.
  ///
  /// - Throws: `validationError` for another name.
  package static func signal(_ name: String?) throws(AppError) -> SessionSignal? {
    guard let name else { return nil }
    let plain = name.uppercased()
    let short = plain.hasPrefix("SIG") ? String(plain.dropFirst(3)) : plain
    guard let signal = SessionSignal(rawValue: short) else {
      throw .validationError(
        field: "--signal",
        message: "\"\(PeerText.escaped(name, limit: 32))\" is not a signal that can be sent.")
    }
    return signal
  }

  /// Ends the process with the exit code.
  package func run() async throws {
    let (link, session, name) = (link, session, signal)
    let options = { () throws(AppError) in try Self.signal(name) }
    await SessionArgument.run(link, session, options) { (selector, signal) in
      let attempts = Mutex(0)
      return SessionQuery.Body(
        ask: { scope async throws(AppError) -> RunContext.Ending in
          let id = try await scope.resolve(selector)
          // One whose answer was lost may have ended it.
          let before = attempts.withLock { (count: inout Int) in
            defer { count += 1 }
            return count == 0 ? " before" : ""
          }
          let status = try await scope.sessions.kill(id, signal)
          if status.state == .keeperDied {
            scope.context.reporter.log(
              "bridgectl: the keeper of the session had died; its program no longer runs.")
          } else if !status.isRunning {
            scope.context.reporter.log(
              "bridgectl: the session had ended\(before): \(SessionText.state(status)).")
          }
          return .success(.success)
        }, unrepeatable: Self.isHarmlessTwice(signal) ? nil : "kill")
    }
  }

  /// Whether a signal has the same effect when it is sent twice.
  package static func isHarmlessTwice(_ signal: SessionSignal?) -> Bool {
    switch signal {
    case nil, .kill, .terminate, .continue, .stop: true
    case .hangup, .interrupt, .quit, .user1, .user2, .alarm, .terminalStop: false
    }
  }
}
