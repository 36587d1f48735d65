import BridgeFaults
import Foundation
import Testing

@Suite("Worlds", .timeLimit(.minutes(5)))
struct WorldTests {
  @Test func theirNamesAreTheirOwn() {
    #expect(Set(World.all.map(\.name)).count == World.all.count)
    #expect(World.named("sshd") != nil)
    #expect(World.named("none") == nil)
  }

  @Test func aWorldWhoseShellIsMissingSaysSo() async {
    let world = World("none", "a shell that is not there") { $0.shell = "/nowhere/shell" }
    let reason = await world.missing()
    #expect(reason == (geteuid() == 0 ? "/nowhere/shell is not installed" : "needs root"))
  }

  private func start(_ name: String) async throws -> RunningWorld? {
    let world = try #require(World.named(name))
    guard await world.missing() == nil else { return nil }
    return try await RunningWorld(world, host: "/bin/true")
  }

  private func client(_ world: RunningWorld) throws -> OpenSSHClient {
    let pinned = "\(world.scratch)/known_hosts"
    try world.knownHosts.write(toFile: pinned, atomically: true, encoding: .utf8)
    return OpenSSHClient(
      port: world.port, user: world.user, identityFile: world.identityFile, knownHosts: pinned)
  }

  @Test(arguments: ["sshd", "dropbear", "greeting", "home-renames"])
  func itsUserIsInAHomeOfTheirOwn(name: String) async throws {
    guard let world = try await start(name) else { return }
    let answer = try await client(world).run("id -un; pwd; ls .local/lib/bridge/bin")
    #expect(answer.status == 0, "\(answer.errors)")
    #expect(answer.output.hasPrefix("field\n/"))
    #expect(answer.output.hasSuffix("/home\nbridge-host\n"))
    await world.stop()
  }

  @Test(arguments: [
    ("home-read-only", "touch x", "Read-only file system"),
    ("home-full", "head -c 5000 /dev/zero >x", "No space left on device"),
    ("home-noexec", "cp /bin/true x && ./x", "Permission denied"),
    ("home-0711", "ls", "Permission denied"),
    ("no-locks", "flock x true", "No locks available"),
  ])
  func aDiskRefusesWhatItsWorldSays(name: String, command: String, reason: String) async throws {
    guard let world = try await start(name) else { return }
    let answer = try await client(world).run(command)
    #expect(answer.status != 0)
    #expect(answer.errors.contains(reason), "\(answer.errors)")
    await world.stop()
  }

  @Test func whatItsUserLeftRunningIsGoneWithIt() async throws {
    guard let world = try await start("sshd") else { return }
    let beat = "\(world.scratch)/beat"
    let answer = try await client(world).run(
      "setsid sh -c 'sleep 1000; touch \(beat)' >/dev/null 2>&1 </dev/null & echo $!")
    #expect(answer.status == 0)
    func left() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { process in
        let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
        return line.range(of: Data(beat.utf8)) != nil
      }
    }
    #expect(try !left().isEmpty)
    await world.stop()
    #expect(try left().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: world.scratch))
  }
}
