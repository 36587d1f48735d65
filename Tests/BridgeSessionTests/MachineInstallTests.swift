import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeSession
import BridgeSessionProtocol
import Foundation
import Testing

@Suite("bridge-host is installed when that is wanted, and where there is none")
struct MachineInstallTests {
  private func directory(_ hosts: NamedHosts) -> String {
    hosts.server.folder.appending(path: ".local/lib/bridge/bin").path
  }

  private func names(_ hosts: NamedHosts) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory(hosts))) ?? []).sorted()
  }

  /// A program in the place of `bridge-host`.
  private func place(_ text: String, on hosts: NamedHosts) throws -> String {
    let path = directory(hosts) + "/bridge-host"
    try FileManager.default.createDirectory(
      atPath: directory(hosts), withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    return path
  }

  private static let missing = AppError.durableSessionHostUnusable(
    host: "build", reason: "bridge-host is not installed")

  @Test func withoutTheWishItIsAnError() async throws {
    try await NamedHosts.with { hosts in
      let machine = try await hosts.machine("build")
      let session = hosts.start("true", on: machine, by: nil)
      #expect(await failure { try await session.attach() } == Self.missing)
      #expect(names(hosts).isEmpty)
      await machine.close()
    }
  }

  /// All that begin at once wait for the one that installs it.
  @Test func itIsThereBeforeTheFirstSessions() async throws {
    try await NamedHosts.with { hosts in
      let machine = try await hosts.machine("build", installing: .ifMissing(SessionServer.program))
      let sessions = (0..<4).map { hosts.start("exit \($0)", on: machine, by: nil) }
      try await withThrowingTaskGroup { group in
        for session in sessions { group.addTask { _ = try await session.attach() } }
        try await group.waitForAll()
      }
      for (number, session) in sessions.enumerated() {
        #expect(try await session.exitStatus() == .exited(status: UInt8(number)))
        await session.close()
      }
      let digest = try HostBinary(path: SessionServer.program).digest
      #expect(names(hosts) == [digest, "bridge-host"].sorted())
      await machine.close()
    }
  }

  /// The copy begins again over the next link, and the session waits for that.
  @Test func aLinkThatIsCutUnderTheCopyEndsNoSession() async throws {
    try await NamedHosts.with(hops: 1) { hosts in
      try await hosts.proxy?.inject(.cut(after: 200_000, .toServer))
      let machine = try await hosts.machine("build", installing: .ifMissing(SessionServer.program))
      let session = hosts.start("exit 6", on: machine, by: nil)
      _ = try await session.attach()
      #expect(try await session.exitStatus() == .exited(status: 6))
      #expect(await hosts.logins[0] > 1, "the link was cut")
      await session.close()
      await machine.close()
    }
  }

  /// It may be newer, and other programs' sessions depend on it.
  @Test func oneThatIsThereStays() async throws {
    try await NamedHosts.with { hosts in
      let text = "#!/bin/sh\necho bridge-host protocol 99\n"
      let path = try place(text, on: hosts)
      let machine = try await hosts.machine("build", installing: .ifMissing(SessionServer.program))
      try await machine.connect()
      let session = hosts.start("true", on: machine, by: nil)
      let error = await failure { try await session.attach() }
      #expect(error?.caseName == "durableSessionHostUnusable")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
      #expect(names(hosts) == ["bridge-host"])
      await machine.close()
    }
  }

  /// What it says of itself is for a person: nothing else takes its place.
  @Test func oneThatFailsStays() async throws {
    try await NamedHosts.with { hosts in
      let path = try place("#!/bin/sh\necho broken\nexit 3\n", on: hosts)
      let machine = try await hosts.machine("build", installing: .ifMissing(SessionServer.program))
      let error = await failure { try await machine.connect() }
      #expect(error?.caseName == "durableSessionHostUnusable" && error != Self.missing)
      #expect(try String(contentsOfFile: path, encoding: .utf8).contains("broken"))
      await machine.close()
    }
  }

  /// The next session tries again.
  @Test func aProgramThatIsNoneIsTheErrorOfTheSession() async throws {
    try await NamedHosts.with { hosts in
      let path = hosts.file("program")
      let machine = try await hosts.machine("build", installing: .ifMissing(path))
      let session = hosts.start("true", on: machine, by: nil)
      #expect(await failure { try await session.attach() } == .fileNotFound(path: path))
      #expect(await failure { try await machine.connect() } == .fileNotFound(path: path))
      try FileManager.default.copyItem(atPath: SessionServer.program, toPath: path)
      let next = hosts.start("exit 5", on: machine, by: nil)
      _ = try await next.attach()
      #expect(try await next.exitStatus() == .exited(status: 5))
      await next.close()
      await machine.close()
    }
  }
}
