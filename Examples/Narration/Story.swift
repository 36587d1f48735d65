import Foundation

/// One run of an example: it tells what happens, holds what must be true, and ends the program.
public actor Story {
  /// What a line is about.
  public enum Topic: String, Sendable {
    case scene
    case fault
    case attempt
    case error
    case plan
    case person
    case recovery
    case proof
  }

  /// How the program was asked to run.
  public nonisolated let options: StoryOptions

  private let start = ContinuousClock.now
  private var held = 0
  private var broken: [String] = []

  init(_ options: StoryOptions) { self.options = options }

  /// Tells a story and ends the program: 0 when every promise was kept, 1 when one was broken, 64
  /// when the arguments make no sense.
  public static func tell(
    _ program: String, within limit: Duration,
    _ body: @escaping @Sendable (Story) async throws -> Void
  ) async -> Never {
    let words = Array(CommandLine.arguments.dropFirst())
    guard let options = StoryOptions(words) else {
      print("usage: \(program) [--json] [--seed N] [--slow] [--seconds N]")
      exit(64)
    }
    let story = Story(options)
    await story.say(.scene, "\(program), seed \(options.seed)")
    let allowed = options.isSlow ? limit * 10 : limit
    let ended = await withTaskGroup(of: (any Error)?.self) { group in
      group.addTask {
        do { try await body(story) } catch { return error }
        return nil
      }
      group.addTask {
        try? await ContinuousClock().sleep(for: allowed)
        return Task.isCancelled ? nil : StoryError.tookTooLong(allowed)
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
    let status = await story.end(ended)
    // Not `exit`: its handlers would take libraries apart under threads that still use them.
    _exit(status)
  }

  /// Tells one line.
  public func say(_ topic: Topic, _ text: String) async {
    let at = start.duration(to: .now)
    let line = StoryLine(at, topic, text)
    print(options.isJSON ? line.json : line.printed)
    fflush(nil)
    if options.isSlow { try? await ContinuousClock().sleep(for: .milliseconds(700)) }
  }

  /// A promise of the runtime: told when it is kept, remembered when it is not.
  public func hold(_ promise: String, _ isKept: Bool) async {
    if isKept { held += 1 } else { broken.append(promise) }
    await say(.proof, (isKept ? "kept: " : "BROKEN: ") + promise)
  }

  private func end(_ error: (any Error)?) async -> Int32 {
    if let error { broken.append("it runs to its end: \(error)") }
    guard broken.isEmpty else {
      await say(.proof, "broken: " + broken.joined(separator: "; "))
      return 1
    }
    await say(.proof, "all \(held) promises kept")
    return 0
  }
}

/// Why a story did not come to its end.
public enum StoryError: Error, Sendable {
  /// It took longer than this.
  case tookTooLong(Duration)
  /// The events ended before this one.
  case neverHappened(String)
}

/// What the arguments of an example mean.
public struct StoryOptions: Sendable {
  /// One JSON object a line instead of text.
  public var isJSON = false
  /// Everything that is drawn is drawn from it.
  public var seed: UInt64 = 1
  /// A pause after every line, for people who read along.
  public var isSlow = false
  /// How long a story lasts that has no end of its own, in seconds.
  public var seconds: Int?

  init?(_ words: [String]) {
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--json": isJSON = true
      case "--slow": isSlow = true
      case "--seed":
        guard let number = rest.popFirst().flatMap(UInt64.init) else { return nil }
        seed = number
      case "--seconds":
        guard let number = rest.popFirst().flatMap(Int.init), number > 0 else { return nil }
        seconds = number
      default: return nil
      }
    }
  }
}

/// One line of a story.
struct StoryLine: Encodable {
  /// Seconds since the start.
  var at: Double
  var topic: String
  var text: String

  init(_ at: Duration, _ topic: Story.Topic, _ words: String) {
    self.at = (at / .milliseconds(1)).rounded() / 1_000
    self.topic = topic.rawValue
    text = words
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }
}

extension StoryLine {
  /// "+ 1.204 s  fault     …"
  fileprivate var printed: String {
    let seconds = String(format: "%6.3f", at)
    return "+\(seconds) s  \(topic.padding(toLength: 8, withPad: " ", startingAt: 0))  \(text)"
  }
}
