import BridgeFaults
import Foundation
import Testing

/// Hosts whose `bridge-host` or login is another one than usual.
@Suite(.timeLimit(.minutes(5))) struct OtherHostTests {
  /// A `bridge-host` that answers everything with these bytes after the marker.
  private func install(_ answer: [UInt8], in folder: SessionFolder) throws {
    let bin = "\(folder.path)/.local/lib/bridge/bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    try Data(answer).write(to: URL(filePath: "\(bin)/answer"))
    let script = """
      #!/bin/sh
      while [ $# -gt 0 ]; do case $1 in --marker) printf %s "$2";; esac; shift; done
      exec cat "${0%/*}/answer"

      """
    try Data(script.utf8).write(to: URL(filePath: "\(bin)/bridge-host"))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: "\(bin)/bridge-host")
  }

  /// A frame of type 3, refused.
  private static func refused(_ code: UInt8, _ text: String) -> [UInt8] {
    let text = Array(text.utf8)
    return [3, 0, 0, 0, 0, 0, 0, UInt8(text.count + 2)] + [UInt8](repeating: 0, count: 8)
      + [0, code] + text
  }

  private static let otherVersion = refused(2, "Only version 0 is spoken here.")

  /// A full disk is no reason not to let the user in; without the request it is said.
  @Test(arguments: [
    (UInt8(10), "mkdir: No space left on device", 73), (3, "Too many sessions.", 75),
  ])
  func aHostThatHasNoSpaceForASessionRunsThePlainCommand(
    _ code: UInt8, _ text: String, _ exit: Int32
  ) async throws {
    try await withSessions(installs: false) { server, home, folder in
      try install(Self.refused(code, text), in: folder)
      let plain = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "echo ran; exit 5"])
      #expect(plain.code == 5 && plain.text == "ran\n", "\(plain.error)")
      #expect(plain.error.contains("what runs now ends with its link"), "\(plain.error)")
      let required = try await home.run(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1", "--", "echo ran"])
      #expect(required.code == exit && required.output.isEmpty, "\(required.error)")
    }
  }

  @Test func anotherVersionThatStartedNothingIsDoneWithout() async throws {
    try await withSessions(installs: false) { server, home, folder in
      try install(Self.otherVersion, in: folder)
      let plain = try await home.run(
        ["connect", "-v"] + server.link(home) + ["127.0.0.1", "--", "echo ran; exit 5"])
      #expect(plain.code == 5 && plain.text == "ran\n", "\(plain.error)")
      #expect(plain.error.contains("another version of the protocol"), "\(plain.error)")
      let required = try await home.run(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1", "--", "echo ran"])
      #expect(required.code == 78 && required.output.isEmpty)
      #expect(required.lastLine.contains("[durableSessionHostUnusable]"), "\(required.error)")
    }
  }

  /// Installing bridge-host again would not help.
  @Test func aDirectoryThatCannotBeUsedIsNamed() async throws {
    try await withSessions { server, home, folder in
      let state = "\(folder.path)/.local/state/bridge"
      try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
      FileDetails.setMode(state, 0o755)
      let plain = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "echo ran; exit 5"])
      #expect(plain.code == 5 && plain.text == "ran\n")
      #expect(plain.error.contains("what runs now ends with its link"), "\(plain.error)")
      #expect(plain.error.contains("\(state): not a directory that only"), "\(plain.error)")
      let doctor = try await home.run(
        ["doctor", "--json"] + server.link(home) + ["127.0.0.1"])
      let line = doctor.error.split(separator: "\n").first { $0.contains(#""bridgeHost""#) }
      #expect(line?.contains("\"warning\"") == true, "\(doctor.error)")
      #expect(line?.contains("only this user may use") == true, "\(doctor.error)")
    }
  }

  /// A frame of a type that version 1 does not have.
  @Test func anAnswerOfALaterProtocolIsATypedError() async throws {
    try await withSessions(installs: false) { server, home, folder in
      try install([99] + [UInt8](repeating: 0, count: 15), in: folder)
      let outcome = try await home.run(["sessions"] + server.link(home) + ["127.0.0.1"])
      #expect(outcome.code == 76, "\(outcome.error)")
    }
  }

  /// A start-up file that reads standard input takes away what starts a session.
  @Test func aLoginThatReadsStandardInputIsDoneWithout() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = #"head -c 20 >/dev/null; eval "$SSH_ORIGINAL_COMMAND""#
    try await withServer(configuration) { server, home in
      let folder = SessionFolder(of: server)
      try folder.install()
      try await home.knowsBridgeHost(on: server)
      let plain = try await home.run(
        ["connect"] + server.link(home) + ["127.0.0.1", "--", "echo ran; exit 5"])
      #expect(plain.code == 5 && plain.text == "ran\n", "\(plain.error)")
      #expect(plain.error.contains("a start-up file of the login"), "\(plain.error)")
      let detached = try await home.run(
        ["run", "--detach"] + server.link(home) + ["127.0.0.1", "--", "echo ran"])
      #expect(detached.code == 78, "\(detached.error)")
      #expect(detached.error.contains("a start-up file of the login"), "\(detached.error)")
      #expect(folder.ids.isEmpty)
      let copy = try await home.run(
        ["cp"] + server.link(home) + [server.identityFile, "127.0.0.1:copy"])
      #expect(copy.code == 78, "\(copy.error)")
      #expect(copy.error.contains("a start-up file of the login"), "\(copy.error)")
    }
  }

  @Test func whatALoginPrintsIsNoPartOfTheAnswer() async throws {
    var configuration = SSHServerConfiguration()
    configuration.forceCommand =
      #"echo "Welcome to $HOME"; head -c 100000 /dev/zero; eval "$SSH_ORIGINAL_COMMAND""#
    try await withServer(configuration) { server, home in
      let folder = SessionFolder(of: server)
      try folder.install()
      try await home.knowsBridgeHost(on: server)
      let run = try await home.run(
        ["connect", "--durable=require"] + server.link(home)
          + ["127.0.0.1", "--", "echo only this; exit 7"])
      #expect(run.code == 7 && run.text == "only this\n", "\(run.error)")
      let list = try await home.run(["sessions"] + server.link(home) + ["127.0.0.1"])
      #expect(list.code == 0 && !list.text.contains("Welcome"))
      await folder.killAll(home)
    }
  }
}
