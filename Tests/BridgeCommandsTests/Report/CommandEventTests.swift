import BridgeCommands
import BridgeErrors
import BridgeRecovery
import BridgeSSH
import Foundation
import Testing

/// docs/events.md against the events that bridgectl writes.
@Suite("docs/events.md") struct CommandEventTests {
  private static let failure = ConnectionError(
    .sshTimeout(seconds: 1),
    context: FailureContext(
      kind: .silent, phase: .banner, host: "h", address: "a", port: 22, proxy: "p", command: "c"))
  private static let plan = RecoveryPlan(
    next: .reconnect, at: .seconds(1), attempt: 2, attemptsLeft: 3, isSkippable: true)

  /// Every step with every field. The switch below does not compile without a new one.
  private static let steps: [RecoveryEvent.Step] = [
    .attempted(number: 1, isStandby: false), .entered(.dial),
    .recovered(after: .seconds(1), attempts: 1, isFirst: true), .becameHealthy, .failed(failure),
    .classified(.reconnect), .waiting(plan), .suspended(by: "a"), .resumed,
    .suspected(silentFor: .seconds(1)), .cleared, .switched, .gaveUp(failure, plan),
    .surfaced(PresentedError(failure: failure, plan: plan)), .withdrawn(UUID()), .lingered,
    .changed, .closed, .missed(count: 1),
  ]

  private static func number(of step: RecoveryEvent.Step) -> Int {
    switch step {
    case .attempted: 0
    case .entered: 1
    case .recovered: 2
    case .becameHealthy: 3
    case .failed: 4
    case .classified: 5
    case .waiting: 6
    case .suspended: 7
    case .resumed: 8
    case .suspected: 9
    case .cleared: 10
    case .switched: 11
    case .gaveUp: 12
    case .surfaced: 13
    case .withdrawn: 14
    case .lingered: 15
    case .changed: 16
    case .closed: 17
    case .missed: 18
    }
  }

  private static let rule = ForwardRule(from: .port(address: nil, 1), to: .dynamic, on: .remote)

  /// Every event of the command with every field.
  private static let events: [CommandEvent] =
    [
      .warning(message: "m"),
      .connected(
        host: "h", port: 1, user: "u",
        .init(keyExchange: "k", hostKey: "h", cipher: "c", mac: "m")),
      .hostKeyAdded(host: "h", port: 1, keyType: "t", fingerprint: "f", file: "/f"),
      .started(hasTerminal: true, target: "t:1"), .standardError(text: "t"),
      .notice(host: "h", text: "t"),
      .message(number: 1, bytes: 1, lines: 1, isBinary: false),
      .session(id: "i", state: "s", kind: "k", role: "r"), .suspendedSession(id: "i"),
      .installed(directory: "/d", sha256: "s", version: "v"),
      .gap(from: 1, to: 2), .omitted(from: 1, to: 2), .forward(rule, port: 1),
      .forwarded(.opened(id: 1, target: "t")),
      .forwarded(.damaged(id: 1, .sshProtocolError(host: "h", detail: "d"))),
      .forwarded(.closed(id: 1, sent: 1, received: 1, isWhole: true)),
      .forwarded(.refused(id: 1, target: "t", .cancelled)),
      .forwarded(.listening(rule, port: 1)),
      .forwarded(.unavailable(rule, .cancelled, retry: .seconds(1))),
      .counters(retries: 1, reconnects: 1, queueDrops: 1, errors: ["a": 1]),
      .error(CommandFailure(error: failure.error, context: failure.context)), .exit(code: 1),
      .missed(count: 1),
    ] + copyEvents.map { .copy($0) } + [
      .step(step), .proxy(host: "p", port: 1, source: "s"), .forwarded(.missed(count: 1)),
    ]

  private static let step = DoctorStep(
    .connect, of: "h:22", .failed, tried: "a", "m", duration: .seconds(1), sources: ["s"],
    remedy: "r", command: "c",
    failure: CommandFailure(error: failure.error, context: failure.context))

  private static var copyEvents: [CopyEvent] {
    var progress = CopyProgress()
    (progress.totalFiles, progress.totalBytes, progress.rate) = (1, 1, 1)
    return [
      .started(source: "s", destination: "d", tool: "t"), .progress(progress),
      .continued(path: "p", from: 1, stream: 2),
      .file(path: "p", bytes: 1, sha256: "s", hasChanged: false), .failed(path: "p", .cancelled),
      .ended(files: 1, bytes: 1, failed: 1, milliseconds: 1),
    ]
  }

  private static func number(of event: CommandEvent) -> Int {
    switch event {
    case .warning: 0
    case .connected: 1
    case .hostKeyAdded: 2
    case .started: 3
    case .standardError: 4
    case .message: 5
    case .session: 6
    case .suspendedSession: 7
    case .installed: 8
    case .gap: 9
    case .omitted: 32
    case .forward: 10
    case .forwarded(.opened): 11
    case .forwarded(.closed): 12
    case .forwarded(.refused): 13
    case .forwarded(.listening): 14
    case .forwarded(.unavailable): 15
    case .counters: 16
    case .error: 17
    case .exit: 18
    case .missed: 19
    case .copy(.started): 20
    case .copy(.progress): 21
    case .copy(.continued): 22
    case .copy(.file): 23
    case .copy(.failed): 24
    case .copy(.ended): 25
    case .step: 26
    case .proxy: 27
    case .forwarded(.missed): 28
    case .link: 29
    case .forwarded(.damaged): 30
    case .notice: 31
    }
  }

  /// The fields by event, without those that every event has.
  private static func written() throws -> [String: Set<String>] {
    let links = steps.map { step in
      CommandEvent.link(
        RecoveryEvent(sequence: 1, at: .now, source: "a", generation: 1, step: step))
    }
    var fields: [String: Set<String>] = [:]
    for event in events + links {
      let object = try #require(
        JSONSerialization.jsonObject(with: Data(event.line.text.utf8)) as? [String: Any])
      #expect(object["v"] as? Int == 1 && object["event"] as? String == event.name)
      var keys = Set(object.keys).subtracting(["v", "time", "event"])
      if case .link = event { keys.subtract(["source", "generation"]) }
      fields[event.name, default: []].formUnion(keys)
    }
    return fields
  }

  /// The rows of the document: the events of each, and their fields together.
  private static func rows() throws -> [(names: [String], fields: Set<String>)] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "docs/events.md"), encoding: .utf8)
    let error = try names(in: paragraph("An error's fields:", until: "A phase is", of: text))
    let plan = try names(in: paragraph("A plan's fields:", until: "\n\n", of: text))
    let events = try #require(text.range(of: "## The command")).lowerBound
    return text[events...].split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
      guard line.hasPrefix("| `"), cells.count >= 5 else { return nil }
      var fields = Set(names(in: String(cells[2])))
      if cells[2].contains("an error's fields") { fields.formUnion(error) }
      if cells[2].contains("a plan's fields") { fields.formUnion(plan) }
      return (names(in: String(cells[1])), fields)
    }
  }

  private static func paragraph(
    _ start: String, until end: String, of text: String
  ) throws -> String {
    let begin = try #require(text.range(of: start)).upperBound
    let rest = text[begin...]
    return String(rest[..<(rest.range(of: end)?.lowerBound ?? rest.endIndex)])
  }

  /// The words in backticks, but for those in parentheses.
  private static func names(in text: String) -> [String] {
    text.replacing(/\([^)]*\)/, with: "").matches(of: /`([a-zA-Z0-9]+)`/).map {
      String($0.output.1)
    }
  }

  @Test func theSamplesAreComplete() {
    #expect(Self.steps.map(Self.number) == Array(0...18))
    // A step of the link has samples of its own.
    #expect(Self.events.map(Self.number).sorted() == Array(0...28) + [30, 31, 32])
  }

  @Test func itHasEveryEventWithEveryFieldAndNoOther() throws {
    let written = try Self.written()
    let rows = try Self.rows()
    #expect(Set(rows.flatMap(\.names)) == Set(written.keys))
    for row in rows {
      let fields = row.names.reduce(into: Set<String>()) { $0.formUnion(written[$1] ?? []) }
      #expect(row.fields == fields, "\(row.names)")
    }
  }

  @Test func whatEndsARunIsNotDropped() {
    let final = Self.events.filter(\.isFinal).map(\.name)
    #expect(final == ["counters", "error", "exit"])
  }

  @Test func textFromElsewhereIsEscaped() {
    let hostile = "a\u{1B}[2J\u{202E}"
    let event = CommandEvent.hostKeyAdded(
      host: hostile, port: 1, keyType: "t", fingerprint: "f", file: hostile)
    #expect(event.line.text.contains(#""host":"a\\x1b[2J"#))
    #expect(event.line.text.contains(#""file":"a\\x1b[2J"#))
  }
}
