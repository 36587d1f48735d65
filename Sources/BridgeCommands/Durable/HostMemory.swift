import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeTerminal
import FoundationEssentials

/// What earlier runs found out: on which hosts the user has `bridge-host`. The command that looks
/// for it runs a forced command where the account has one, so it is not sent without a reason.
///
/// What is remembered wrongly costs one request, or a run without a durable session, and nothing
/// else. One failure is no proof: a host that had it is asked once more.
package struct HostMemory: Sendable, Equatable {
  /// A way into a host. Another key of the host is another host; another key of the user's may have
  /// a forced command, which says nothing of the account.
  package struct Entrance: Sendable, Equatable {
    fileprivate let text: String

    /// The user of the host with the key of this fingerprint, logged in with `login`
    /// (`SSHConnection.admission`).
    package init(fingerprint: String, user: String, login: String) {
      // A user's name may have any character.
      text = "\(fingerprint) \(PercentCoding.encoded(user)) \(login)"
    }

    fileprivate init(_ words: ArraySlice<Substring>) { text = words.joined(separator: " ") }
  }

  /// What was found.
  package enum Finding: String, Sendable, CaseIterable {
    /// `bridge-host` answered.
    case present
    /// It did, and the last time something ended before it could. Is followed by any other.
    case doubted
    /// The host said that there is none, or ended the command that looks for it.
    case absent
    /// Nothing answered in time.
    case silent

    /// How long it is believed, in seconds; nil until something else is found.
    fileprivate var age: UInt64? {
      switch self {
      case .present, .doubted: nil
      // It may be installed from another machine.
      case .absent: 86_400
      // The host may only have been busy.
      case .silent: 3_600
      }
    }

    /// Whether the host had it the last time that it answered.
    package var wasThere: Bool { self == .present || self == .doubted }
  }

  private struct Entry: Equatable {
    var entrance: Entrance
    var finding: Finding
    var time: UInt64
  }

  /// So many hosts are remembered, the newest findings.
  package static let limit = 512
  /// A longer file is none of ours, in bytes.
  private static let lengthLimit = 1 << 20

  private var entries: [Entry] = []

  /// Nothing is remembered.
  package init() {}

  /// Reads the text of a file; lines that are none of ours are left out.
  package init(_ text: String) {
    entries = text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 5, let finding = Finding(rawValue: String(words[3])),
        let time = UInt64(words[4])
      else { return nil }
      return Entry(entrance: Entrance(words[..<3]), finding: finding, time: time)
    }.suffix(Self.limit)
  }

  /// The text of the file: a line for each host, the newest last.
  package var text: String {
    entries.map { "\($0.entrance.text) \($0.finding.rawValue) \($0.time)\n" }.joined()
  }

  /// What is known of an entrance; nil for nothing, or nothing new enough.
  package func finding(at entrance: Entrance, now: UInt64) -> Finding? {
    guard let entry = entries.last(where: { $0.entrance == entrance }) else { return nil }
    // A clock that was set back makes an entry old.
    guard let age = entry.finding.age else { return entry.finding }
    return entry.time <= now && now - entry.time < age ? entry.finding : nil
  }

  /// Records what was found; false where that was known.
  ///
  /// - Parameter isProven: whether it is no failure of a moment, of a login or an account.
  package mutating func record(
    _ found: Finding, isProven: Bool = true, at entrance: Entrance, now: UInt64
  ) -> Bool {
    let isDoubt = !isProven && self.finding(at: entrance, now: now) == .present
    let finding = isDoubt ? .doubted : found
    if finding == .present, self.finding(at: entrance, now: now) == finding { return false }
    entries.removeAll { $0.entrance == entrance }
    entries.append(Entry(entrance: entrance, finding: finding, time: now))
    entries.removeFirst(max(0, entries.count - Self.limit))
    return true
  }

  // MARK: The file

  /// Where it is kept.
  package static func path(home: String, _ variables: [String: String]) -> String {
    StateFile.path("hosts", home: home, variables)
  }

  /// The memory at `path`; nothing where that cannot be read.
  package static func read(_ path: String) -> HostMemory {
    guard let content = try? LocalFile.read(path, limit: lengthLimit) else { return HostMemory() }
    return HostMemory(content.text)
  }

  /// Changes the file at `path` to hold what was found, whole or not at all. Of two runs at the
  /// same time one may win: the other one finds it out again.
  package static func record(
    _ finding: Finding, isProven: Bool = true, at entrance: Entrance, now: UInt64, in path: String
  ) {
    var memory = read(path)
    guard memory.record(finding, isProven: isProven, at: entrance, now: now) else { return }
    StateFile.write(memory.text, to: path)
  }
}

extension RunContext {
  private var memoryPath: String { HostMemory.path(home: local.home, local.variables) }

  /// What earlier runs found.
  var memory: HostMemory { HostMemory.read(memoryPath) }

  /// What earlier runs found on the host of a connection.
  func finding(_ memory: HostMemory, about connection: SSHConnection) -> HostMemory.Finding? {
    entrance(of: connection).flatMap { memory.finding(at: $0, now: WallClock.seconds) }
  }

  private func entrance(of connection: SSHConnection) -> HostMemory.Entrance? {
    guard let fingerprint = connection.hostKeyFingerprint, let login = connection.admission else {
      return nil
    }
    return HostMemory.Entrance(fingerprint: fingerprint, user: settings.user, login: login)
  }

  /// Allows more links to a host that is known to have `bridge-host`: those that end are outages.
  func expectHost(of connection: SSHConnection, _ unheard: UnheardLinks) {
    if finding(memory, about: connection) == .present { unheard.expect() }
  }

  /// A link ended over the command that asks for `bridge-host`; why no other one is asked.
  func lose(_ connection: SSHConnection, _ unheard: UnheardLinks) -> AppError? {
    let error = unheard.lose(host: settings.givenHost)
    // The next run asks it less often.
    if error != nil { remember(.silent, isProven: false, connection) }
    return error
  }

  /// Records what was found on the host of a connection.
  func remember(
    _ finding: HostMemory.Finding, isProven: Bool = true, _ connection: SSHConnection
  ) {
    guard let entrance = entrance(of: connection) else { return }
    HostMemory.record(
      finding, isProven: isProven, at: entrance, now: WallClock.seconds, in: memoryPath)
  }
}
