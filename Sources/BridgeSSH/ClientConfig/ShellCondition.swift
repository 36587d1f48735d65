import BridgeErrors
import BridgeTransport

/// A command of `Match exec` (ssh_config(5)): it holds where the command exits with status 0.
package enum ShellCondition {
  /// Why a command has no result.
  package struct Problem: Error, Equatable {
    /// As the end of a sentence about the command.
    package let reason: String

    /// A problem with this reason.
    package init(reason: String) { self.reason = reason }
  }

  /// Runs a command by a shell.
  package typealias Runner =
    @Sendable (_ command: String, _ shell: String) -> Result<Bool, Problem>

  /// How long a command may take.
  package static let limit = KnownHostsCommand.limit

  /// Whether `command` exits with status 0. Its input is empty, its output goes nowhere, and what
  /// it writes to standard error is shown. It blocks.
  package static func holds(
    _ command: String, shell: String, within limit: Duration = limit
  ) -> Result<Bool, Problem> {
    let program = ChildProgram([shell, "-c", command], empty: [0, 1])
    do throws(ChildProgram.StartFailure) {
      switch try program.run(within: limit) {
      case .exited(let status): return .success(status == 0)
      case .signaled(let number): return .failure(Problem(reason: "ended by signal \(number)"))
      case .overdue:
        let seconds = Int((limit / .seconds(1)).rounded(.up))
        return .failure(Problem(reason: "was not done after \(seconds) s and was ended"))
      }
    } catch {
      return .failure(Problem(reason: "cannot be started: \(error.words)"))
    }
  }
}
