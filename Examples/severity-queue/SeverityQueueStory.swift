import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSupervision
import Narration

/// A hundred errors at once, and somewhere among them a host that shows another key. A person sees
/// one at a time, the worst first, and learns how many were dropped.
@main
enum SeverityQueueStory {
  static let reports = 100
  static let changedKey = AppError.sshHostKeyMismatch(host: "build.example")

  static func main() async {
    await Story.tell("severity-queue", within: .seconds(60)) { story in
      try await tell(story)
    }
  }

  private static func tell(_ story: Story) async throws {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: story.options.seed)
    await story.say(.fault, "\(reports) tasks fail at once, one of them over a changed host key")
    let errors = drawn(story.options.seed)
    for (number, error) in errors.enumerated() {
      await supervisor.report(error, source: "task \(number + 1)")
    }
    let held = await supervisor.waiting.count + (supervisor.shown == nil ? 0 : 1)
    await story.hold(
      "the queue keeps its bound", held == RecoveryDefaults.queueCapacity)

    var seen: [AppError] = []
    while let shown = await supervisor.shown {
      seen.append(shown.error)
      if seen.count <= 6 {
        await story.say(
          .person,
          "reads \(shown.error.severity): [\(shown.error.caseName)] \(shown.error.shownMessage())")
      }
      await supervisor.dismiss(shown.id)
    }
    let dropped = await supervisor.dropped
    await story.say(.person, "has read \(seen.count), and learns that \(dropped) were dropped")
    await check(story, errors, seen, dropped)
    await supervisor.shutDown()
  }

  private static func check(
    _ story: Story, _ errors: [AppError], _ seen: [AppError], _ dropped: Int
  ) async {
    let severities = seen.map(\.severity)
    await story.hold(
      "the worst comes first", zip(severities, severities.dropFirst()).allSatisfy { $0 >= $1 })
    let sameLevel = seen.filter { $0.severity == changedKey.severity }
    await story.hold("of its level the changed host key is first", sameLevel.first == changedKey)
    await story.hold(
      "nothing is lost in silence", seen.count + dropped == errors.count)
    let least = severities.last ?? .info
    let severe = errors.filter { $0.severity > least }.count
    await story.hold(
      "what was dropped was of the lowest level",
      seen.filter { $0.severity > least }.count == severe)
  }

  /// Errors of every kind in an order drawn from the seed, the changed key among them.
  private static func drawn(_ seed: UInt64) -> [AppError] {
    var generator = SplitMix64(seed: seed)
    let kinds = ErrorCatalogue.examples.filter {
      $0 != .cancelled && $0.caseName != "sshHostKeyMismatch"
    }
    var errors = (1..<reports).compactMap { _ in kinds.randomElement(using: &generator) }
    errors.insert(changedKey, at: Int.random(in: 40..<reports, using: &generator))
    return errors
  }
}
