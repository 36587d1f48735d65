import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// Where sessions are kept, and who may use them.
@Suite struct PlaceTests {
  private func refusal(_ bench: SessionBench) throws -> Refusal? {
    guard case .refused(let refusal) = try bench.start(bench.spec("echo run >runs")) else {
      return nil
    }
    return refusal
  }

  @Test func aDirectoryThatOthersMayEnterIsRefused() throws {
    let bench = try SessionBench()
    try FileManager.default.createDirectory(
      at: bench.sessionsFolder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o755])
    let refusal = try #require(try refusal(bench))
    #expect(refusal.code == .directory && refusal.text.contains("0700"))
    #expect(bench.text("runs").isEmpty)
    #expect(try bench.run(["list"]).status == 78)
  }

  @Test func aSymbolicLinkInItsPlaceIsRefused() throws {
    let bench = try SessionBench()
    let real = bench.folder.appending(path: "real")
    try FileManager.default.createDirectory(
      at: real.appending(path: "s"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.createSymbolicLink(
      at: bench.folder.appending(path: "bridge"), withDestinationURL: real)
    #expect(try refusal(bench)?.code == .directory)
    #expect(bench.text("runs").isEmpty)
  }

  @Test func aStateDirectoryBehindASymbolicLinkIsFollowed() throws {
    let bench = try SessionBench()
    let real = bench.folder.appending(path: "real")
    try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
    let link = bench.folder.appending(path: ".local")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
    bench.environment["XDG_STATE_HOME"] = nil
    let spec = bench.spec("exit 3")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    #expect(try client.close() == 0)
    let place = real.appending(path: "state/bridge/s").path
    #expect(FileManager.default.fileExists(atPath: place))
  }

  /// Started while the home directory could hold no files, and found again once it can.
  @Test func aSessionOfTheOtherPlaceIsFoundAndNotStartedTwice() throws {
    let bench = try SessionBench()
    let state = bench.environment["XDG_STATE_HOME"]
    bench.environment["XDG_STATE_HOME"] = "/proc/none"
    let spec = bench.spec("echo run >>\(bench.file("runs")); exec sleep 1000")
    let id = spec.session.description
    let place = "/var/tmp/bridge-\(Programs.user)/s/\(id)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    let first = try bench.start(spec)
    #expect(FileManager.default.fileExists(atPath: place))
    bench.environment["XDG_STATE_HOME"] = state
    // Now the home directory has sessions of its own.
    let other = bench.spec("read word")
    _ = try bench.start(other)
    #expect(try bench.start(spec) == first)
    let listed = try bench.run(["list"]).frames.compactMap { frame -> SessionID? in
      guard case .status(let status) = frame else { return nil }
      return status.session
    }
    #expect(Set(listed).isSuperset(of: [spec.session, other.session]))
    try waitUntil { !bench.text("runs").isEmpty }
    #expect(try bench.run(["kill", "--session", id, "--signal", "KILL"]).status == 0)
    #expect(try bench.run(["wait", "--session", id]).status == 0)
    #expect(bench.text("runs") == "run\n")
  }

  /// The home directory is full: the other place takes new sessions.
  @Test(.enabled(if: SmallDisk.canMount)) func aFullHomeDirectoryLeavesTheOtherPlace() throws {
    let bench = try SessionBench()
    guard let disk = try SmallDisk(at: bench.folder, size: "1m") else { return }
    bench.environment["XDG_STATE_HOME"] = disk.path
    _ = try bench.run(["list"])
    let ballast = URL(fileURLWithPath: disk.path).appending(path: "ballast")
    _ = FileManager.default.createFile(atPath: ballast.path, contents: nil)
    let file = try FileHandle(forWritingTo: ballast)
    while (try? file.write(contentsOf: Data(count: 4096))) != nil {}
    let spec = bench.spec("echo run >>\(bench.file("runs")); exit 4")
    let id = spec.session.description
    let place = "/var/tmp/bridge-\(Programs.user)/s/\(id)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    guard case .status(let status) = try bench.start(spec) else { Issue.record("none"); return }
    #expect(status.session == spec.session)
    #expect(FileManager.default.fileExists(atPath: place))
    #expect(try bench.run(["wait", "--session", id]).status == 0)
    // Once there is space, the same start is the same session.
    try file.truncate(atOffset: 0)
    _ = try bench.start(spec)
    #expect(bench.text("runs") == "run\n")
    withExtendedLifetime(disk) {}
  }

  @Test func aSessionsDirectoryThatOthersMayEnterIsNoSession() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    let place = bench.sessionsFolder.appending(path: spec.session.description)
    try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: place.path)
    let attach = try bench.run(["attach", "--session", spec.session.description])
    guard case .refused(let refusal)? = attach.frames.last else { Issue.record("none"); return }
    #expect(refusal.code == .unknownSession && attach.status == 66)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.path)
  }

  @Test func filesAndDirectoriesAreTheUsersOnly() throws {
    let bench = try SessionBench()
    let spec = bench.spec("echo x; read word")
    _ = try bench.start(spec)
    try waitUntil { try bench.status(spec.session)?.newest == 2 }
    let place = bench.sessionsFolder.appending(path: spec.session.description)
    let names = try FileManager.default.contentsOfDirectory(atPath: place.path)
    #expect(Set(names).isSuperset(of: ["spec", "state", "lock", "sock", "live"]))
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: place.appending(path: name).path)
      let mode = try #require(attributes[.posixPermissions] as? NSNumber).intValue
      #expect(mode & 0o077 == 0, "\(name) has mode \(String(mode, radix: 8))")
    }
  }

  private static let canBecomeAnother =
    TestMachine.isRoot && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

  @Test(.enabled(if: canBecomeAnother)) func anotherUserCanDoNothing() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: bench.folder.path)
    let id = spec.session.description
    let verbs = [
      ["attach", "--session", id], ["read", "--session", id], ["kill", "--session", id], ["list"],
      ["wait", "--session", id],
    ]
    for verb in verbs {
      let process = try RunningProcess(
        ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
          + [SessionBench.program] + verb, environment: bench.environment)
      let (output, status) = process.finish()
      #expect(status != 0 || verb == ["list"], "\(verb)")
      #expect(!String(decoding: output, as: UTF8.self).contains(id), "\(verb)")
    }
    #expect(try bench.status(spec.session)?.state == .running)
  }

  /// The parent of a process, its parent, and so on.
  private static func ancestors(of process: Int32) -> Set<Int32> {
    var found: Set<Int32> = []
    var current = process
    while current > 1,
      let text = try? String(contentsOfFile: "/proc/\(current)/stat", encoding: .utf8),
      let parent = text.split(separator: ")").last?.split(separator: " ").dropFirst().first,
      let number = Int32(parent)
    {
      found.insert(number)
      current = number
    }
    return found
  }

  /// What ends a tree of processes by descent, below an SSH connection, does not find it.
  @Test func aKeeperIsNotBelowTheProcessThatStartedIt() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    let machine = ClientSession(.init(session: spec.session, client: bench.client))
    let client = AttachedClient(machine, bench: bench)
    try client.connect(starting: spec)
    try client.greet()
    let starter = try #require(client.process?.process)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    #expect(!Self.ancestors(of: keeper).contains(starter))
  }

  @Test func keepersLeaveTheSessionOfTheirStarterAndHoldNothingOfIt() throws {
    let bench = try SessionBench()
    let spec = bench.spec("read word")
    _ = try bench.start(spec)
    let keeper = try #require(bench.keepers(of: spec.session).first)
    let folder = "/proc/\(keeper)"
    for number in 0...2 {
      let link = try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\(number)")
      #expect(link == "/dev/null")
    }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/cwd") == "/")
    let text = try String(contentsOfFile: "\(folder)/stat", encoding: .utf8)
    let fields = try #require(text.split(separator: ")").last).split(separator: " ")
    #expect(fields[3] == "\(keeper)", "the leader of its own session")
    let open = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")
    // Null three times, directory, lock, socket, children, live, journal (2), pipes (3).
    #expect(open.count <= 13)
  }

  @Test func killEndsTheProgramOfAKeeperThatDied() throws {
    let bench = try SessionBench()
    let spec = bench.spec(
      "trap '' TERM; echo $$ >\(bench.file("pid")); while :; do sleep 0.05; done")
    let id = spec.session.description
    _ = try bench.start(spec)
    try waitUntil { !bench.text("pid").isEmpty }
    let process = try #require(
      Int32(bench.text("pid").trimmingCharacters(in: .whitespacesAndNewlines)))
    for keeper in bench.keepers(of: spec.session) { TestMachine.kill(keeper) }
    try waitUntil { try bench.status(spec.session)?.state != .running }
    #expect(Programs.startTime(of: process) != nil, "it outlives its keeper")
    // Delivered, and ignored: what may still run is not called ended.
    let (frames, status) = try bench.run(["kill", "--session", id, "--signal", "TERM"])
    guard case .refused(let refusal)? = frames.last else { Issue.record("none"); return }
    #expect(refusal.code == .outcomeUnknown && status == 74)
    let (ended, _) = try bench.run(["kill", "--session", id])
    guard case .status(let last)? = ended.last else { Issue.record("none"); return }
    #expect(last.state == .keeperDied)
    try waitUntil { Programs.startTime(of: process) == nil }
  }

  @Test func killEndsAProgramThatIgnoresTheGentleSignals() throws {
    let bench = try SessionBench()
    let spec = bench.spec("trap '' HUP; echo ready; exec sleep 1000")
    _ = try bench.start(spec)
    let client = try bench.attach(spec.session)
    try client.pump { $0.text == "ready\n" }
    #expect(try bench.run(["kill", "--session", spec.session.description]).status == 0)
    #expect(try client.close() == 0)
    #expect(client.end == .signaled(number: 15, dumpedCore: false))
  }

  @Test func listShowsEverySessionAndWaitAndReadItsEnd() throws {
    let bench = try SessionBench()
    let running = bench.spec("read word") { $0.name = Array("shell".utf8) }
    let ended = bench.spec("echo text; echo error >&2; exit 2")
    _ = try bench.start(running)
    _ = try bench.start(ended)
    _ = try bench.run(["wait", "--session", ended.session.description])
    #expect(try bench.status(running.session)?.state == .running)
    #expect(try bench.status(running.session)?.name == Array("shell".utf8))
    #expect(try bench.status(ended.session)?.end == .exited(status: 2))
    let (frames, status) = try bench.run(["read", "--session", ended.session.description])
    #expect(status == 0)
    let streams = frames.compactMap { frame -> ProgramStream? in
      guard case .output(_, let stream, _) = frame else { return nil }
      return stream
    }
    #expect(Set(streams) == [.standardOutput, .standardError])
    #expect(frames.last == .ended(at: 11, .exited(status: 2)))
    #expect(
      try bench.run(["read", "--session", Identifier(high: 0, low: 0).description]).status == 66)
  }
}
