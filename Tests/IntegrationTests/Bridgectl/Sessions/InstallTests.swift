import BridgeFaults
import Foundation
import Testing

/// `bridgectl install` and `uninstall` over a real sshd.
@Suite(.timeLimit(.minutes(5))) struct InstallTests {
  private func install(
    _ server: SSHServer, _ home: Home, _ options: [String] = [], port: Int? = nil
  ) async throws -> Outcome {
    try await home.run(["install"] + options + server.link(home, port: port) + ["127.0.0.1"])
  }

  private func bin(_ folder: SessionFolder) -> String { "\(folder.path)/.local/lib/bridge/bin" }

  /// The names in the directory of programs, without the one that has the digest's name.
  private func names(_ folder: SessionFolder) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: bin(folder))) ?? []).sorted()
  }

  @Test func itIsCopiedVerifiedAndRun() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let outcome = try await install(server, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.error.hasPrefix("bridgectl: installed bridge-host protocol 1 in "))
      // The link and the directory that the digest names.
      let names = names(folder)
      #expect(names.count == 2 && names.contains("bridge-host"))
      let target = try FileManager.default.destinationOfSymbolicLink(
        atPath: "\(bin(folder))/bridge-host")
      #expect(target.count == 64 + "/bridge-host".count)
      #expect(
        FileManager.default.contentsEqual(
          atPath: "\(bin(folder))/\(target)", andPath: SessionFolder.program))
      let run = try await home.run(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1", "--", "exit 6"])
      #expect(run.code == 6, "\(run.error)")
      // Again is the same; then it is gone, and nothing beside it.
      let again = try await install(server, home)
      #expect(again.code == 0)
      #expect(again.error.hasPrefix("bridgectl: found bridge-host protocol 1 in "))
      #expect(self.names(folder) == names)
      let gone = try await home.run(["uninstall"] + server.link(home) + ["127.0.0.1"])
      #expect(gone.code == 0 && gone.error.contains("removed"), "\(gone.error)")
      #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/.local/lib/bridge"))
      let none = try await home.run(["uninstall"] + server.link(home) + ["127.0.0.1"])
      #expect(none.code == 0 && none.error.contains("was not installed"))
    }
  }

  /// As after a power cut: without its content, or with the beginning of it.
  @Test(arguments: [0, 100_000]) func aDamagedOneIsReplaced(size: Int) async throws {
    try await withSessions { server, home, folder in
      let program = "\(bin(folder))/bridge-host"
      let whole = try Data(contentsOf: URL(fileURLWithPath: SessionFolder.program))
      try FileManager.default.removeItem(atPath: program)
      try whole.prefix(size).write(to: URL(fileURLWithPath: program))
      FileDetails.setMode(program, 0o755)
      let sessions = try await home.run(["sessions"] + server.link(home) + ["127.0.0.1"])
      #expect(sessions.code == 78 && sessions.error.contains("bridgectl install"))
      let data = try home.fill("a", 1000)
      let operands = [home.file("a"), "127.0.0.1:\(home.file("b"))"]
      let copied = try await server.copy(operands, home)
      #expect(size > 0 || copied.code == 0 && home.data("b") == data, "\(copied.error)")
      #expect(copied.code == 0 || copied.error.contains("bridgectl install"), "\(copied.error)")
      #expect(try await install(server, home).code == 0)
      let again = try await home.run(["sessions"] + server.link(home) + ["127.0.0.1"])
      #expect(again.code == 0, "\(again.error)")
    }
  }

  /// It is not asked for its version.
  @Test func oneThatDoesNotAnswerIsReplaced() async throws {
    try await withSessions(installs: false) { server, home, folder in
      #expect(try await install(server, home).code == 0)
      let program = "\(bin(folder))/bridge-host"
      let place = URL(fileURLWithPath: program).resolvingSymlinksInPath()
      try Data("#!/bin/sh\nexec sleep 600\n".utf8).write(to: place)
      FileDetails.setMode(place.path, 0o755)
      #expect(try await install(server, home).code == 0)
      #expect(FileManager.default.contentsEqual(atPath: place.path, andPath: SessionFolder.program))
    }
  }

  @Test func whileSessionsRunItStays() async throws {
    try await withSessions { server, home, folder in
      let start = try await home.run(
        ["run", "--detach"] + server.link(home) + ["127.0.0.1", "--", "exec sleep 600"])
      #expect(start.code == 0)
      let outcome = try await home.run(["uninstall"] + server.link(home) + ["127.0.0.1"])
      #expect(outcome.code == 64)
      #expect(outcome.error.contains("1 durable session runs there"))
      #expect(names(folder) == ["bridge-host"])
    }
  }

  /// A file that begins like an executable of this processor and is none.
  private func program(machine: UInt8, in home: Home) throws -> String {
    var bytes = [UInt8](repeating: 0, count: 4096)
    bytes.replaceSubrange(0..<8, with: [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0])
    (bytes[16], bytes[18], bytes[20]) = (2, machine, 1)
    try Data(bytes).write(to: URL(filePath: home.file("program-\(machine)")))
    return home.file("program-\(machine)")
  }

  private static var ownMachine: UInt8 {
    FileManager.default.contents(atPath: SessionFolder.program).map { $0[18] } ?? 0
  }

  @Test func anotherProcessorIsNamedAndNothingIsCopied() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let other: UInt8 = Self.ownMachine == 62 ? 183 : 62
      let outcome = try await install(
        server, home, ["--binary", try program(machine: other, in: home)])
      #expect(outcome.code == 78)
      #expect(outcome.error.contains("was built for \(other == 62 ? "x86_64" : "aarch64")"))
      #expect(names(folder).isEmpty)
    }
  }

  @Test func anotherProgramIsRefused() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let outcome = try await install(server, home, ["--binary", "/bin/true"])
      #expect(outcome.code == 64)
      #expect(outcome.error.contains("The file is not bridge-host."), "\(outcome.error)")
      #expect(names(folder).isEmpty)
    }
  }

  @Test func aProgramThatDoesNotRunGetsNoName() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let outcome = try await install(
        server, home, ["--binary", try program(machine: Self.ownMachine, in: home)])
      #expect(outcome.code == 78)
      #expect(outcome.error.contains("bridge-host does not run there"), "\(outcome.error)")
      #expect(names(folder).isEmpty)
    }
  }

  @Test func aFileThatIsNoProgramIsRefusedHere() async throws {
    try await withSessions(installs: false) { server, home, folder in
      try home.write("#!/bin/sh\n", to: "script")
      let script = try await install(server, home, ["--binary", home.file("script")])
      #expect(script.code == 66 && script.error.contains("not an executable for Linux"))
      let missing = try await install(server, home, ["--binary", home.file("nothing")])
      #expect(missing.code == 66 && missing.lastLine.contains("[fileNotFound]"))
    }
  }

  /// The hash of what arrived is computed there: a tool that says another one stands in for it.
  @Test func anotherHashIsNotInstalled() async throws {
    let home = try Home()
    let tools = home.file("tools")
    try home.write("#!/bin/sh\ncat > /dev/null; echo 0badc0de -\n", to: "tools/sha256sum")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: "\(tools)/sha256sum")
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = "PATH=\(tools):$PATH; eval \"$SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server, home in
      let outcome = try await install(server, home)
      #expect(outcome.code == 73)
      #expect(outcome.error.contains("another SHA-256"), "\(outcome.error)")
      #expect(names(SessionFolder(of: server)).isEmpty)
    }
  }

  /// No link lives as long as the whole takes: on a phone in a train, for instance.
  @Test func aCutInTheMiddleIsGoneOnWith() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let size = try Data(contentsOf: URL(filePath: SessionFolder.program)).count
      let proxy = try await FaultProxy(to: server.port)
      try await proxy.inject(.cut(after: size / 3, .toServer), on: .all)
      let outcome = try await install(server, home, port: proxy.port)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(names(folder).count == 2)
      await proxy.stop()
    }
  }

  @Test func aDamagedPartIsCopiedAnew() async throws {
    try await withSessions(installs: false) { server, home, folder in
      let outcome = try await install(server, home)
      let digest = try #require(names(folder).first { $0.count == 64 })
      let bin = "\(folder.path)/.local/lib/bridge/bin"
      try FileManager.default.removeItem(atPath: bin)
      try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
      try Data(repeating: 7, count: 5000).write(to: URL(filePath: "\(bin)/.part.\(digest)"))
      let again = try await install(server, home)
      #expect(outcome.code == 0 && again.code == 0, "\(again.error)")
      #expect(Set(names(folder)) == [digest, "bridge-host"])
    }
  }
}
