import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// File systems and kernels that refuse a system call: home directories of NFS, CephFS, 9p and the
/// like, old kernels, containers.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")))
struct RefusedCallTests {
  /// `bridge-host` whose calls are answered with an error by strace(1); those of its keeper only
  /// with `-f` in `options`.
  private func bench(
    _ call: String, _ error: String, _ options: String = ""
  ) throws -> SessionBench {
    let bench = try SessionBench()
    // The leak sanitizer does not work under ptrace(2).
    bench.environment["ASAN_OPTIONS"] = "detect_leaks=0"
    bench.prelude =
      "exec /usr/bin/strace -qq -o /dev/null \(options) -e trace=\(call) "
      + "-e inject=\(call):error=\(error)"
    return bench
  }

  private func expectRun(_ bench: SessionBench, _ spec: SessionSpec) throws {
    guard case .status(let status) = try bench.start(spec) else { Issue.record("none"); return }
    #expect(status.session == spec.session)
    bench.prelude = nil
    #expect(try bench.run(["wait", "--session", spec.session.description]).status == 0)
    #expect(bench.text("runs") == "run\n")
  }

  @Test func aFileSystemWithoutFlagsOfRenameHoldsSessions() throws {
    let bench = try bench("renameat2", "EINVAL")
    let spec = bench.spec("echo run >>runs")
    try expectRun(bench, spec)
    #expect(bench.sessions == [spec.session])
  }

  @Test func aFileSystemThatSyncsNoDirectoryHoldsSessions() throws {
    let bench = try bench("fsync", "EINVAL", "-f")
    try FileManager.default.createDirectory(
      at: bench.sessionsFolder, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    bench.prelude? += " -P \(bench.sessionsFolder.path)"
    let spec = bench.spec("echo run >>runs")
    try expectRun(bench, spec)
    #expect(bench.sessions == [spec.session])
  }

  /// The first calls are for the home directory: that of its id comes before those of a session.
  @Test(arguments: [
    ("bind", "EPERM:when=1"), ("bind", "EOPNOTSUPP:when=1"), ("fcntl", "ENOLCK:when=1..2"),
    ("fcntl", "ENOSYS:when=1..2"),
  ])
  func aFileSystemWithoutSocketsOrLocksLeavesTheOtherPlace(call: String, error: String) throws {
    let bench = try bench(call, error)
    let spec = bench.spec("echo run >>\(bench.file("runs"))")
    let place = "/var/tmp/bridge-\(Programs.user)/s/\(spec.session)"
    defer { try? FileManager.default.removeItem(atPath: place) }
    try expectRun(bench, spec)
    #expect(bench.names.isEmpty && FileManager.default.fileExists(atPath: place))
  }

  /// The locks of the id and of the names: the latter is held in the other place then.
  @Test func withoutALockInTheHomeDirectoryASessionOfANameIsStarted() throws {
    let bench = try bench("fcntl", "ENOLCK:when=1..2")
    let spec = bench.spec("echo run >>\(bench.file("runs"))") {
      $0.name = Array("build".utf8)
      $0.isOnlyOfItsName = true
    }
    try expectRun(bench, spec)
  }

  /// A client that knows the id would take another one for another machine.
  @Test func anIdOfADirectoryThatCannotBeReadNowIsKept() throws {
    let bench = try bench("openat", "EMFILE")
    let prelude = bench.prelude
    bench.prelude = nil
    _ = try bench.start(bench.spec("true"))
    let file = bench.sessionsFolder.appending(path: ".place")
    let id = try Data(contentsOf: file)
    #expect(id.count == 16)
    bench.prelude = prelude.map { "\($0) -P \(file.path)" }
    _ = try bench.run(["list"])
    #expect(try Data(contentsOf: file) == id)
  }

  /// Kernels before 5.3 have no descriptors of processes, and some containers do not allow them.
  @Test(arguments: ["ENOSYS", "EPERM"])
  func withoutDescriptorsOfProcessesTheProgramOfADeadKeeperIsSignaled(error: String) throws {
    let bench = try bench("pidfd_open", error)
    let prelude = bench.prelude
    bench.prelude = nil
    let spec = bench.spec("trap '' HUP; echo $$ >\(bench.file("pid")); exec sleep 1000")
    _ = try bench.start(spec)
    try waitUntil { !bench.text("pid").isEmpty }
    let process = try #require(
      Int32(bench.text("pid").trimmingCharacters(in: .whitespacesAndNewlines)))
    try bench.killKeeper(of: spec.session)
    #expect(Programs.startTime(of: process) != nil, "it outlives its keeper")
    bench.prelude = prelude
    _ = try bench.run(["kill", "--session", spec.session.description])
    try waitUntil { !TestMachine.isAlive(process) }
  }

  /// A session that is there is not called missing because something keeps it from being read.
  @Test(arguments: ["attach", "read", "wait", "kill"])
  func aSessionThatCannotBeOpenedIsNotCalledMissing(verb: String) throws {
    let bench = try bench("openat", "EACCES")
    let (prelude, spec) = (bench.prelude, bench.spec("true"))
    bench.prelude = nil
    _ = try bench.start(spec)
    try bench.waitForEnd(spec.session)
    bench.prelude = prelude
    bench.prelude? += " -P \(spec.session)"
    let (frames, status) = try bench.run([verb, "--session", spec.session.description])
    guard case .refused(let refusal)? = frames.last else { Issue.record("\(frames)"); return }
    #expect(refusal.code == .directory && refusal.text.contains("Permission denied"), "\(refusal)")
    #expect(status == HostStatus.of(.directory))
  }
}
