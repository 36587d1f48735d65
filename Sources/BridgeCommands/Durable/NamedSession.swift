import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol

/// The session of a name: the one that runs, or a new one.
struct NamedSession {
  private let spec: SessionSpec
  private let place: StartPlace
  private var name: String { spec.name.map(SessionText.text) ?? "" }

  /// - Parameters:
  ///   - spec: what is started where none runs.
  ///   - place: where an earlier attempt may have started it.
  init(_ spec: SessionSpec, _ place: StartPlace) { (self.spec, self.place) = (spec, place) }

  /// Looks for a session of the name that runs, and starts one where there is none: another client
  /// may do the same now, and the host lets one of them. Returns the one that ran already; nil for
  /// that of `spec`.
  ///
  /// - Throws: `validationError` where it runs something else than what was asked for, or several
  ///   have the name; as `SessionHost.list` and `start`.
  func find(_ scope: SessionQuery.Scope) async throws(AppError) -> SessionStatus? {
    for _ in 0..<Self.attempts {
      let running = try await running(scope)
      // Over the link before this one.
      if running.contains(where: { $0.session == spec.session }) { return nil }
      if !running.isEmpty { return try theOne(of: running, scope) }
      if try await starts(scope) { return nil }
      // The other one is being started, or has ended since.
      try? await scope.context.clock.sleep(for: Self.pause)
    }
    throw .internalError(detail: "sessions of one name come and go")
  }

  private static let attempts = 50
  private static let pause = Duration.milliseconds(100)

  /// Returns whether it was started: false where another client was first with the name.
  private func starts(_ scope: SessionQuery.Scope) async throws(AppError) -> Bool {
    do throws(AppError) {
      _ = try await scope.sessions.start(spec, at: place)
      return true
    } catch {
      guard case .durableSessionConflict = error else { throw error }
      return false
    }
  }

  private func running(_ scope: SessionQuery.Scope) async throws(AppError) -> [SessionStatus] {
    try await scope.sessions.list().filter {
      $0.state == .running && $0.name.map(SessionText.text) == name
    }
  }

  private func theOne(
    of running: [SessionStatus], _ scope: SessionQuery.Scope
  ) throws(AppError) -> SessionStatus {
    let host = scope.context.settings.givenHost
    let status = try SessionSelector(name).resolve(in: running, on: host)
    if let command = spec.command?.prefix(SessionStatus.longestCommand),
      status.command != Array(command)
    {
      throw .validationError(
        field: "--name",
        message: """
          \(PeerText.escaped(name, limit: StartRequest.longestName)) runs another command: \
          --new starts this one beside it, `bridgectl attach` returns to it.
          """)
    }
    return status
  }
}
