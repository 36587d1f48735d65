import BridgeErrors
import BridgeSessionProtocol
import BridgeTransport
import BridgeWaiting

// From the command to the first frame of `bridge-host`.
extension DurableSession {
  /// Why there is no session, where that is not the link.
  package enum Absence: Sendable {
    /// `bridge-host` answered, and declined.
    case declined
    /// Nothing answered in time.
    case silence
    /// The command that looks for `bridge-host` ended without an answer.
    case noHost
    /// The links ended over the command that looks for `bridge-host`.
    case lostLinks
  }

  /// Why this client is not attached; nil where `bridge-host` answered, and did not decline.
  package var absence: Absence? {
    if machine.phase.isRefused { return .declined }
    if watch?.isLate == true { return .silence }
    if answer.hasBegun { return nil }
    return configuration.unheard?.areTooMany == true ? .lostLinks : .noHost
  }

  /// Sends what was held back, once it is known that `bridge-host` reads it.
  func followAnswer() {
    switch answer.progress {
    case .preamble: return
    case .marked:
      guard greeting == nil else { return }
      greeting = Task(executorPreference: executor) { [clock] in
        await clock.sleep(AnswerWatch.greeting)
        if !Task.isCancelled { await self.acceptSilence() }
      }
    case .begun:
      guard watch?.isStopped == false else { return }
      watch?.stop()
      sends.announce()
    }
  }

  private func acceptSilence() {
    answer.acceptSilence()
    followAnswer()
  }

  /// What starts the program was sent, and no answer came to it.
  var unknownStart: AppError {
    .durableSessionOutcomeUnknown(
      host: configuration.host,
      reason: "bridge-host ended before it said whether it started the program")
  }
}
