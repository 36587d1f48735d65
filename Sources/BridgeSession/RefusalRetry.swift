package import BridgeErrors

/// How long a session waits for a host that has run it before and refuses its next channel, or does
/// not run `bridge-host` there: an account may be short of processes for a moment.
package struct RefusalRetry: Sendable {
  private var pauses: ArraySlice<Duration>

  /// Waits as long as these pauses, one before each further try; without any, not at all.
  package init(_ pauses: [Duration]) { self.pauses = pauses[...] }

  /// Half a minute together.
  package static var usual: [Duration] {
    [500, 1000, 2000, 4000, 8000, 15_000].map { .milliseconds($0) }
  }

  /// Waits before a host is asked again whose answer takes its own time: it has waited for a
  /// process that does not answer.
  ///
  /// - Throws: `cancelled`.
  package static func rest() async throws(AppError) {
    do { try await ContinuousClock().sleep(for: .seconds(1)) } catch { throw .cancelled }
  }

  /// Waits until the host is to be asked again.
  ///
  /// - Throws: `error` where that would change nothing, or was done for long enough; `cancelled`.
  package mutating func wait(after error: AppError) async throws(AppError) {
    switch error {
    case .sshConnectionFailed, .sshServerBusy, .durableSessionFull, .durableSessionHostUnusable:
      break
    case _: throw error
    }
    guard let pause = pauses.popFirst() else { throw error }
    do { try await ContinuousClock().sleep(for: pause) } catch { throw .cancelled }
  }
}
