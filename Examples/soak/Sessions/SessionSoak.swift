import BridgeFaults
import BridgeSessionProtocol
import Foundation

/// Where the sessions of a soak are: the sshd, its users' home directory, and the programs.
struct SessionPlace: Sendable {
  let server: SSHServer
  /// This program, and `bridge-host` beside it.
  let executable: String
  let program: String
  /// The home directory that this server gives its users.
  let home: String

  init(_ server: SSHServer) {
    self.server = server
    let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    executable = own.path
    program = own.deletingLastPathComponent().appending(path: "bridge-host").path
    home = URL(filePath: server.identityFile).deletingLastPathComponent().path
  }

  /// A folder for what a program reports.
  func workFolder(_ name: String) -> String {
    let folder = "\(home)/programs/\(name.replacing(" ", with: "-"))"
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    return folder
  }

  private var root: String { "\(home)/.local/state/bridge/s" }

  /// What is kept of sessions, half-made ones too, but for what belongs to all of them.
  var sessions: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return names.filter { ![".place", ".names"].contains($0) }
  }

  /// What is kept of each session, in words: the files and how many bytes they have.
  var contents: String {
    sessions.sorted().map { session in
      let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(session)")) ?? []
      let words = files.sorted().map { file in
        let path = "\(root)/\(session)/\(file)"
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return "\(file) \(attributes?[.size] as? Int ?? -1)"
      }
      return "\(session): \(words.joined(separator: ", "))"
    }.joined(separator: "; ")
  }

  /// The keepers of a session: one, or none.
  func keepers(of session: SessionID) -> [Int32] {
    Self.processes.filter { process in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/\(process)/fd/3")
      return target == "\(root)/\(session)"
    }
  }

  /// Everything that runs in the home directory's name: keepers, programs, attachments.
  var running: [String] {
    let wanted = Data("HOME=\(home)".utf8)
    return Self.processes.compactMap { process in
      guard let environment = FileManager.default.contents(atPath: "/proc/\(process)/environ"),
        environment.split(separator: 0).contains(wanted)
      else { return nil }
      let command = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
      return "\(process) "
        + command.split(separator: 0).prefix(3)
        .map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }
  }

  /// Ends what should have ended.
  func killAll() {
    for words in running {
      if let process = words.split(separator: " ").first.flatMap({ Int32($0) }) {
        _ = kill(process, SIGKILL)
      }
    }
  }

  private static var processes: [Int32] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap(Int32.init)
  }
}

/// A soak of durable sessions from its server to its report.
struct SessionSoak: Sendable {
  let options: SoakOptions

  func report() async throws -> SessionReport {
    // A shell that bash takes for a nested one reads no start-up file of the user's.
    let server = try await SSHServer()
    let result: Result<SessionReport, any Error>
    do { result = .success(try await soak(server)) } catch { result = .failure(error) }
    await server.stop()
    return try result.get()
  }

  private func soak(_ server: SSHServer) async throws -> SessionReport {
    let place = SessionPlace(server)
    let ledger = SessionLedger(options)
    var report = SessionReport(
      seed: options.seed, sessions: options.sessions, faults: options.faults)
    let start = ContinuousClock.now
    tell("soak, seed \(options.seed): \(report.faults) faults over \(report.sessions) sessions")
    var slots: [SessionSlot] = []
    for number in 0..<options.sessions {
      let seed = options.seed &+ UInt64(number)
      slots.append(
        SessionSlot(
          number: number,
          proxy: try await FaultProxy(to: server.port, seed: seed, logCapacity: 256), place: place,
          ledger: ledger, seed: options.seed))
    }
    await run(slots) { slot in
      await slot.run(.quiet(slot: slot.number, seed: slot.seed), quietly: true)
    }
    await until { await server.sessionProcesses == 0 }
    report.before = Figures.now()
    await run(slots) { await $0.run() }
    await until {
      await server.sessionProcesses == 0 && place.running.isEmpty
        && Figures.now().descriptors == report.before.descriptors
    }
    report.after = Figures.now()
    report.processesLeft = place.running
    place.killAll()
    report.totals = await ledger.totals
    report.filesLeft = place.sessions.count - report.totals.lost
    if report.filesLeft != 0 { report.broken = ["what is left: \(place.contents)"] }
    for slot in slots { await slot.proxy.stop() }
    report.count = await ledger.count
    report.kinds = await Dictionary(
      uniqueKeysWithValues: ledger.faults.map { ($0.key.rawValue, $0.value) })
    report.broken += await ledger.broken
    report.seconds = start.duration(to: .now) / .seconds(1)
    report.evaluate()
    return report
  }

  private func run(
    _ slots: [SessionSlot], _ body: @escaping @Sendable (SessionSlot) async -> Void
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for slot in slots { group.addTask { await body(slot) } }
    }
  }

  /// Waits for a condition, at most half a minute.
  private func until(_ isTrue: () async -> Bool) async {
    let limit = ContinuousClock.now + .seconds(30)
    while .now < limit {
      if await isTrue() { return }
      await rest(.milliseconds(50))
    }
  }

  private func tell(_ text: String) { if !options.isJSON { say(text) } }
}
