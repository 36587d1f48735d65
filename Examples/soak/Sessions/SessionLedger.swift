import Foundation

/// What a soak of sessions counts, and every promise that was not kept.
actor SessionLedger {
  private let most: Int
  private let isTelling: Bool
  private(set) var faults: [SessionHavoc: Int] = [:]
  private(set) var count = 0
  private(set) var broken: [String] = []
  private(set) var totals = SessionReport.Totals()
  /// When no more faults come, whatever their number.
  private let deadline: ContinuousClock.Instant

  init(_ options: SoakOptions) {
    most = options.faults
    isTelling = !options.isJSON
    deadline = .now + .seconds(options.minutes * 60)
  }

  /// Whether more faults are to come.
  var goesOn: Bool { count < most && .now < deadline }

  /// Counts a fault that is about to happen; false when there were enough.
  func strike(_ havoc: SessionHavoc) -> Bool {
    guard goesOn else { return false }
    count += 1
    faults[havoc, default: 0] += 1
    if isTelling, count.isMultiple(of: max(1, most / 10)) { say("\(count) faults of \(most)") }
    return true
  }

  func breaks(_ words: String) {
    broken.append(words)
    if isTelling { say("BROKEN: \(words)") }
  }

  func change(_ body: @Sendable (inout SessionReport.Totals) -> Void) { body(&totals) }
}

/// The end of a soak of sessions.
struct SessionReport: Codable, Sendable {
  struct Totals: Codable, Sendable {
    /// Sessions that ran to their end, and those whose keeper was killed.
    var ended = 0
    var lost = 0
    var onTerminal = 0
    var lives = 0
    var links = 0
    var viewers = 0
    var smallViewers = 0
    /// Screens that came in place of output, each compared with all of it: to clients that type,
    /// and to viewers.
    var skips = 0
    var skipsOfViewers = 0
    var printed = 0
    var typed = 0
  }

  var seed: UInt64
  var sessions: Int
  var faults: Int
  var count = 0
  var seconds = 0.0
  var totals = Totals()
  /// Faults by name.
  var kinds: [String: Int] = [:]
  var before = Figures()
  var after = Figures()
  /// Processes, and files of sessions that no keeper's death explains.
  var processesLeft: [String] = []
  var filesLeft = 0
  /// Every promise that was not kept; empty is good.
  var broken: [String] = []

  mutating func evaluate() {
    promise("\(faults) faults happen: \(count) did", count == faults)
    promise("no process is left: \(processesLeft)", processesLeft.isEmpty)
    promise("no session is left: \(filesLeft)", filesLeft == 0)
    promise("descriptors are back", after.descriptors == before.descriptors)
    // While it goes on, it holds all output that a screen is compared with.
    promise("memory is back: at most \(Self.cached >> 20) MiB more", grown <= Self.cached)
  }

  /// How much more memory is used than before, in bytes.
  private var grown: Int { after.resident - before.resident }

  /// What may stay in caches, in bytes: 10,000 faults that each leak 1 KiB are more.
  private static let cached = 12 << 20

  private mutating func promise(_ words: String, _ isKept: Bool) {
    if !isKept { broken.append(words) }
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  var text: String {
    let kinds = kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    var lines = [
      "faults: " + kinds.joined(separator: ", "),
      "sessions: \(totals.ended) ended as their programs did, \(totals.lost) lost with a killed "
        + "keeper; \(totals.onTerminal) on a terminal, \(totals.viewers) with a stalled viewer, "
        + "\(totals.smallViewers) with a smaller one",
      "screens in place of output, each compared: \(totals.skips) to clients that type, "
        + "\(totals.skipsOfViewers) to viewers",
      "lives of clients: \(totals.lives), links: \(totals.links); bytes printed: "
        + "\(totals.printed), typed: \(totals.typed)",
      "left: \(processesLeft.count) processes, \(filesLeft) sessions; descriptors "
        + "\(before.openDescriptors) before, \(after.openDescriptors) after; "
        + "resident \(before.resident / 1_024) KiB before, \(after.resident / 1_024) KiB after",
      String(format: "%.1f s", seconds),
    ]
    lines += broken.map { "BROKEN: " + $0 }
    if broken.isEmpty { lines.append("soak clean: \(count) faults over \(sessions) sessions") }
    return lines.joined(separator: "\n")
  }
}
