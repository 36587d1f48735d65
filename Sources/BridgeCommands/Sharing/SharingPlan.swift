import BridgeErrors
import BridgeSSH
import BridgeTerminal

/// Decides whose connection a run is over, and whether it shares its own.
enum SharingPlan {
  /// Uses the connection that another run shares, or has one made in the background for that, as
  /// ControlMaster, ControlPath and ControlPersist say.
  static func begin(
    _ request: ConnectRequest, _ settings: ConnectSettings, _ local: LocalEnvironment,
    _ reporter: Reporter
  ) async -> RunBeginning {
    let sharing = settings.sharing
    guard let path = sharing.path else {
      guard request.control != nil else { return .own(nil) }
      reporter.log("No ControlPath specified for \"-O\" command")
      return .ended(ExitReport(code: ExitReport.failureOfSSH))
    }
    if request.isSharedOnly {
      return .own { SharedConnection(at: path, sharing.persistence, of: $0) }
    }
    let connect: Connect = { () async throws(ControlStream.Refusal) in
      try await SharedRun(at: path, request, settings, local, reporter)
    }
    if let command = request.control { return await obey(command, path, reporter, connect) }
    if sharing.usesOthers {
      do throws(ControlStream.Refusal) {
        let other = try await connect()
        let isOfUse = !request.isIdle || request.carried != nil
        if isOfUse, let report = await other.run() { return .ended(report) }
        // The path is taken.
        other.close()
        return .own(nil)
      } catch {
        reporter.detail("bridgectl: no shared connection at \(shown(path)): \(error.words)")
        if error == .abandoned { ControlListener.removeAbandoned(path) }
      }
    }
    // What is carried by standard input and output shares nothing itself.
    guard sharing.isShared, request.carried == nil else { return .own(nil) }
    if let problem = ControlListener.problem(at: path) {
      reporter.warn("the connection is not shared: \(shown(path)): \(problem.words)")
      return .own(nil)
    }
    guard sharing.persistence != .none else {
      return .own { SharedConnection(at: path, nil, of: $0) }
    }
    if let code = await Foreground.share() { return .ended(ExitReport(code: code)) }
    if request.isIdle { return .ended(ExitReport(code: 0)) }
    // It has the forwards of this run.
    guard let report = await (try? connect())?.run(asksForwards: false) else { return .own(nil) }
    return .ended(report)
  }

  private typealias Connect = () async throws(ControlStream.Refusal) -> SharedRun

  private static func obey(
    _ command: SharingCommand, _ path: String, _ reporter: Reporter, _ connect: Connect
  ) async -> RunBeginning {
    do throws(ControlStream.Refusal) {
      let other = try await connect()
      guard command == .proxy else { return .ended(await other.obey(command)) }
      return .ended(await other.run() ?? ExitReport(code: ExitReport.failureOfSSH))
    } catch {
      reporter.log("Control socket connect(\(shown(path))): \(error.words)")
      return .ended(ExitReport(code: ExitReport.failureOfSSH))
    }
  }

  private static func shown(_ path: String) -> String { PeerText.escaped(path, limit: 1024) }
}
