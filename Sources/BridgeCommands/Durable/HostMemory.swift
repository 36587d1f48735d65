import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeTerminal
import FoundationEssentials

/// What earlier runs found out: on which hosts the user has `bridge-host`. The command that looks
/// for it runs a forced command where the account has one, so it is not sent without a reason.
///
/// Hosts are distinguished by their key, and by the user there: another key is another host. What
/// is remembered wrongly costs one request, or a run without a durable session, and nothing else.
package struct HostMemory: Sendable, Equatable {
  /// What was found.
  package enum Finding: String, Sendable, CaseIterable {
    /// `bridge-host` answered.
    case present
    /// The host said that there is none, or ended the command that looks for it.
    case absent
    /// Nothing answered in time.
    case silent

    /// How long it is believed, in seconds; nil until something else is found.
    fileprivate var age: UInt64? {
      switch self {
      case .present: nil
      // It may be installed from another machine.
      case .absent: 86_400
      // The host may only have been busy.
      case .silent: 3_600
      }
    }
  }

  private struct Entry: Equatable {
    var key: String
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
      guard words.count == 4, let finding = Finding(rawValue: String(words[2])),
        let time = UInt64(words[3])
      else { return nil }
      return Entry(key: "\(words[0]) \(words[1])", finding: finding, time: time)
    }.suffix(Self.limit)
  }

  /// The text of the file: a line for each host, the newest last.
  package var text: String {
    entries.map { "\($0.key) \($0.finding.rawValue) \($0.time)\n" }.joined()
  }

  /// What is known of a user of the host with this key; nil for nothing, or nothing new enough.
  package func finding(fingerprint: String, user: String, now: UInt64) -> Finding? {
    let key = Self.key(fingerprint, user)
    guard let entry = entries.last(where: { $0.key == key }) else { return nil }
    // A clock that was set back makes an entry old.
    guard let age = entry.finding.age else { return entry.finding }
    return entry.time <= now && now - entry.time < age ? entry.finding : nil
  }

  /// Records what was found; false where that was known.
  package mutating func record(
    _ finding: Finding, fingerprint: String, user: String, now: UInt64
  ) -> Bool {
    if finding == .present, self.finding(fingerprint: fingerprint, user: user, now: now) == finding
    {
      return false
    }
    let key = Self.key(fingerprint, user)
    entries.removeAll { $0.key == key }
    entries.append(Entry(key: key, finding: finding, time: now))
    entries.removeFirst(max(0, entries.count - Self.limit))
    return true
  }

  /// A user's name may have any character.
  private static func key(_ fingerprint: String, _ user: String) -> String {
    "\(fingerprint) \(PercentCoding.encoded(user))"
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
    _ finding: Finding, fingerprint: String, user: String, now: UInt64, at path: String
  ) {
    var memory = read(path)
    guard memory.record(finding, fingerprint: fingerprint, user: user, now: now) else { return }
    StateFile.write(memory.text, to: path)
  }
}

extension RunContext {
  private var memoryPath: String { HostMemory.path(home: local.home, local.variables) }

  /// What earlier runs found.
  var memory: HostMemory { HostMemory.read(memoryPath) }

  /// What earlier runs found on the host of a connection.
  func finding(_ memory: HostMemory, about connection: SSHConnection) -> HostMemory.Finding? {
    guard let fingerprint = connection.hostKeyFingerprint else { return nil }
    return memory.finding(
      fingerprint: fingerprint, user: settings.user, now: WallClock.seconds)
  }

  /// Counts no links to a host that is known to have `bridge-host`: those that end are outages.
  func expectHost(of connection: SSHConnection, _ unheard: UnheardLinks) {
    if finding(memory, about: connection) == .present { unheard.hear() }
  }

  /// Records what was found on the host of a connection.
  func remember(_ finding: HostMemory.Finding, _ connection: SSHConnection) {
    guard let fingerprint = connection.hostKeyFingerprint else { return }
    HostMemory.record(
      finding, fingerprint: fingerprint, user: settings.user, now: WallClock.seconds,
      at: memoryPath)
  }
}
