import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import BridgeTransport
import Foundation

/// Random faults on real links under one supervisor, and a ledger at the end.
@main
enum Soak {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    // A session's program is this one, too.
    if let program = SoakProgram(words) { program.run() }
    // So is an agent host.
    if let orders = AgentHostOrders(words) { await AgentHostWork.run(orders) }
    if let record = AgentVerification(words) { record.run() }
    guard let options = SoakOptions(words) else {
      print(SoakOptions.usage)
      exit(64)
    }
    if options.agents > 0 { return await soakAgents(options) }
    if options.sessions > 0 { return await soakSessions(options) }
    let report: Report
    do { report = try await SoakRun(options).report() } catch {
      print("BROKEN: it runs to its end: \(error)")
      exit(1)
    }
    say(options.isJSON ? report.json : report.text)
    // Not `exit`: its handlers would take libraries apart under threads that still use them.
    _exit(report.broken.isEmpty ? 0 : 1)
  }

  private static func soakAgents(_ options: SoakOptions) async {
    let report: AgentReport
    do { report = try await AgentSoak(options: options).report() } catch {
      print("BROKEN: it runs to its end: \(error)")
      exit(1)
    }
    say(options.isJSON ? report.json : report.text)
    _exit(report.broken.isEmpty ? 0 : 1)
  }

  private static func soakSessions(_ options: SoakOptions) async {
    let report: SessionReport
    do { report = try await SessionSoak(options: options).report() } catch {
      print("BROKEN: it runs to its end: \(error)")
      exit(1)
    }
    say(options.isJSON ? report.json : report.text)
    _exit(report.broken.isEmpty ? 0 : 1)
  }
}

/// Prints a line at once.
func say(_ text: String) {
  print(text)
  fflush(nil)
}

/// One soak from its servers to its report.
struct SoakRun: Sendable {
  let options: SoakOptions

  init(_ options: SoakOptions) { self.options = options }

  func report() async throws -> Report {
    let fleet = try await SoakFleet(options.connections, seed: options.seed)
    do {
      let report = try await soak(fleet)
      await fleet.stop()
      return report
    } catch {
      await fleet.stop()
      throw error
    }
  }

  private func soak(_ fleet: SoakFleet) async throws -> Report {
    var report = Report(
      seed: options.seed, faults: options.faults, connections: options.connections,
      sshConnections: fleet.links.count(where: \.isSSH))
    let start = Moment.now
    tell(
      "soak, seed \(options.seed): \(report.faults) faults over \(report.connections) links, "
        + "\(report.sshConnections) of them SSH")
    tell(report.budget)
    // Once without faults: what is made on first use is no leak.
    try await fleet.useEveryReactor()
    try await Round(options, fleet).run { _ in }
    report.ledger.before = Figures.now()

    let round = Round(options, fleet)
    try await round.run { supervisor in
      report.ledger.up = Figures.now()
      let progress = Progress(faults: options.faults, tells: !options.isJSON)
      await round.strike(supervisor, progress)
      await round.calmDown(supervisor, &report)
      report.ledger.upAfter = Figures.now()
      report.ledger.mebibytesPerThousandFaults = await progress.slope.mebibytesPerThousand
      let count = await progress.count
      if count < options.faults {
        report.broken.append("\(count) of \(options.faults) faults in \(options.minutes) min")
      }
    }
    report.ledger.after = await round.figures(like: report.ledger.before)
    await round.close(&report)
    report.seconds = (start.duration(to: .now) / .milliseconds(100)).rounded() / 10
    report.evaluate()
    return report
  }

  private func tell(_ text: String) { if !options.isJSON { say(text) } }
}
