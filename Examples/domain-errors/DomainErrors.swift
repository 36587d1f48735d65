import BridgeDiagnostics
import BridgeErrors
import BridgeRecovery
import Foundation

/// Brings two error domains of an app into the runtime: each error becomes an `AppError` where it
/// leaves the app's service, and everything else (banner, queue, envelope, counters) follows.
@main
enum DomainErrors {
  static func main() async {
    var queue = SeverityQueue()
    let counters = Counters()
    for error in PlaidError.allCases {
      await bring(AppError(error), from: error, into: &queue, counters)
    }
    for error in TransactionError.allCases {
      await bring(AppError(error), from: error, into: &queue, counters)
    }
    if let shown = queue.shown {
      print("\nshown first, \(queue.waiting.count) waiting:")
      print(TerminalBanner.render(shown, color: false, unicode: false), terminator: "")
    }
    print("\ncounted:")
    for line in await counters.values.lines where line.hasPrefix("errors") { print("  \(line)") }
  }

  private static func bring(
    _ error: AppError, from own: any EnvelopeError, into queue: inout SeverityQueue,
    _ counters: Counters
  ) async {
    queue.push(error, source: "\(type(of: own))")
    await counters.count(error)
    let answer = ErrorEnvelope.outgoing(for: own, correlationHeader: "example")
    let body = answer.envelope.error
    print("\(type(of: own)).\(own) -> \(error.caseName) (\(error.severity.name))")
    print("  says:    \(own.localizedDescription)")
    print("  answers: \(answer.status) \(body.code ?? "") \(body.message)")
  }
}
