import BridgeSessionProtocol

/// The files of one session: `spec`, `state`, `live`, `lock`, `sock`, the journal, and `name` where
/// it was given another one.
struct SessionFiles {
  let session: SessionID
  let directory: Directory

  /// Opens a session's directory; nil when there is none or it is not this user's only.
  init?(_ session: SessionID, in roots: [StateRoot]) {
    for root in roots {
      guard let found = try? Directory(session.description, in: root.directory),
        let info = try? found.descriptor.info(), info.user == Programs.user, info.isPrivate
      else { continue }
      self.session = session
      directory = found
      return
    }
    return nil
  }

  init(_ session: SessionID, directory: Directory) {
    self.session = session
    self.directory = directory
  }

  /// What keeps a session that is there from being opened; nil where there is none.
  static func obstacle(to session: SessionID, in roots: [StateRoot]) -> SystemError? {
    for root in roots {
      do throws(SystemError) {
        _ = try Directory(session.description, in: root.directory)
      } catch {
        if !error.isMissing { return error }
      }
    }
    return nil
  }

  /// All sessions of a user.
  static func all(in roots: [StateRoot]) -> [SessionFiles] {
    roots.flatMap { root in
      root.directory.names().compactMap(Identifier.init(text:)).compactMap {
        SessionFiles($0, in: [root])
      }
    }
  }

  /// The link to the writer's agent, for the program.
  static let agentName = "agent"

  /// The name by which programs find that link: in the session's directory `place`, or where that
  /// is too long for a socket, in a directory in /tmp that leads there.
  static func agentPath(of session: SessionID, in place: String) -> String {
    let path = "\(place)/\(agentName)"
    let isShort = path.utf8.count <= longestSocket
    return isShort ? path : "\(AgentMessage.directory(session))/\(agentName)"
  }

  /// The longest name of a socket (sun_path with its zero).
  private static let longestSocket = 107

  /// Makes the way from /tmp, where programs need it.
  func linkAgent() {
    guard let (way, path) = agentWay else { return }
    try? Directory.ownAlone(way).link(Self.agentName, to: path)
  }

  /// Removes the way from /tmp.
  func unlinkAgent() {
    guard let (way, _) = agentWay, let directory = try? Directory.ownAlone(way) else { return }
    directory.remove(Self.agentName)
    Directory.removeEmpty(way)
  }

  /// The directory in /tmp, and where its link leads; nil where none is needed.
  private var agentWay: (directory: String, path: String)? {
    guard let place = directory.path else { return nil }
    let path = "\(place)/\(Self.agentName)"
    let isShort = Self.agentPath(of: session, in: place) == path
    return isShort ? nil : (AgentMessage.directory(session), path)
  }

  /// The link by which an attaching process names its agent to the keeper.
  static func agentLink(_ token: UInt64) -> String { "agent-" + String(token, radix: 16) }

  /// Connects to the keeper. Where its socket was removed the keeper makes it again.
  func connect() throws(SystemError) -> Descriptor {
    do throws(SystemError) {
      return try directory.connect()
    } catch {
      guard error.isMissing || error.isRefused, let state, state.boot == Machine.boot,
        let keeper = state.keeper, let start = state.keeperStart,
        Programs.signal(process: keeper, startedAt: start, Programs.socketSignal) == .sent
      else { throw error }
    }
    for _ in 0..<100 where life == .alive {
      if let connected = try? directory.connect() { return connected }
      Poller.pause(5)
    }
    return try directory.connect()
  }

  var specBytes: [UInt8]? { try? directory.read("spec", limit: Int(Limits.start)) }

  var spec: SessionSpec? {
    guard let bytes = specBytes else { return nil }
    return try? SessionSpec(bytes[...])
  }

  /// The name that it was given since it was started.
  var newName: [UInt8]? {
    let name = try? directory.read(Self.nameFile, limit: SessionSpec.longestName)
    return name?.isEmpty == false ? name : nil
  }

  private static let nameFile = "name"

  /// Gives it another name than that of its start.
  func rename(to name: [UInt8]) throws(SystemError) {
    try directory.replace(Self.nameFile, name, syncs: false)
  }

  var state: StateRecord? {
    guard let bytes = try? directory.read(StateRecord.name, limit: StateRecord.limit) else {
      return nil
    }
    return try? StateRecord(bytes)
  }

  var live: LiveRecord {
    LiveRecord((try? directory.read(LiveRecord.name, limit: LiveRecord.length)) ?? [])
  }

  /// Writes the phase; synced where the next step must not happen without it.
  func record(_ state: StateRecord, syncs: Bool) throws(SystemError) {
    try directory.replace(StateRecord.name, state.bytes, syncs: syncs)
  }

  /// Its record is there, and is not what was written: how it ended is not known.
  var isDamaged: Bool { directory.names().contains(StateRecord.name) && status() == nil }

  /// Why its record cannot be read; nil where it can, or where there is none.
  var failure: SystemError? {
    do throws(SystemError) {
      _ = try directory.read(StateRecord.name, limit: StateRecord.limit)
      return nil
    } catch {
      return error.isMissing ? nil : error
    }
  }

  /// What is known without asking the keeper.
  func status() -> SessionStatus? {
    guard let spec, let state else { return nil }
    var status = SessionStatus(session: session, state: .claimed)
    let life = life
    // A keeper that has ended may have written its end between the two.
    let state2 = life == .alive ? state : self.state ?? state
    let sameBoot = state2.boot == Machine.boot
    switch state2.phase {
    case .ended: status.state = .ended
    case .claimed: status.state = .claimed
    // How the program ended may be known; whether all of its output was read is not.
    case .starting, .running, .exited:
      status.state = life != .dead ? .running : sameBoot ? .keeperDied : .rebooted
    }
    if status.state == .running, state2.isElsewhere { status.node = state2.node }
    status.end = state2.end
    if status.state == .keeperDied {
      status.end = isOrphaned(state2) ? .orphaned : .unknownKeeperDied
    }
    if status.state == .rebooted { status.end = .unknownRebooted }
    fill(&status, spec, state2)
    return status
  }

  /// What a list shows of it: also of a session whose record is damaged.
  func shownStatus() -> SessionStatus? { status() ?? statusWithoutRecord() }

  /// What is known of a session whose record is damaged: that it is there, whether its keeper
  /// lives, and its output; nil where the record is sound, or there is none.
  func statusWithoutRecord() -> SessionStatus? {
    guard let spec, isDamaged, failure == nil else { return nil }
    var status = SessionStatus(session: session, state: life == .alive ? .running : .keeperDied)
    if status.state == .keeperDied { status.end = .unknownKeeperDied }
    var state = StateRecord(phase: .running, boot: Machine.boot, epoch: 0)
    state.startedAt = directory.info(of: "spec")?.modified ?? 0
    fill(&status, spec, state)
    return status
  }

  private func isOrphaned(_ state: StateRecord) -> Bool {
    guard let process = state.process, let start = state.processStart else { return false }
    return Programs.runs(process: process, startedAt: start) == true
  }

  private func fill(_ status: inout SessionStatus, _ spec: SessionSpec, _ state: StateRecord) {
    let journal = Journal(directory)
    let live = live
    status.kind = spec.kind
    status.name = newName ?? spec.name
    status.command = spec.command.map { Array($0.prefix(SessionStatus.longestCommand)) }
    status.process = state.process
    status.newest = max(journal.newest, state.newest)
    status.oldest = journal.segments.isEmpty ? status.newest : min(journal.oldest, status.newest)
    // While a session runs, its newest output may be in memory only.
    let isWhole = status.state == .ended
    status.committed = isWhole ? min(live.committed, status.newest) : live.committed
    status.attached = status.state == .running ? live.attached : 0
    status.memory = status.state == .running ? live.memory : nil
    status.waitsForReader = status.state == .running && live.waitsForReader
    if let keep = spec.keep, status.state == .running, status.attached == 0, live.aloneSince > 0 {
      status.hangsUpAt = live.aloneSince &+ keep
    }
    status.now = Machine.seconds
    status.startedAt = state.startedAt
    status.endedAt = state.endedAt
    status.survivesLogout = state.survivesLogout
  }
}

extension SessionFiles {
  /// Removes the session: first its name, so that no reader finds half of it. Nothing where another
  /// process has taken the name. What is not removed of the rest `Retention` removes later.
  func remove() {
    let name = session.description
    let gone = ".gone-\(name)-\(Machine.entropy())"
    guard let root = try? Directory("..", in: directory) else { return }
    do throws(SystemError) {
      try root.claim(gone, from: name)
      root.removeDirectory(gone)
    } catch {
      // A full disk has no place for another name.
      if error.isShortage { root.removeDirectory(name) }
    }
  }
}
