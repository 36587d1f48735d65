import BridgeFaults
import Foundation
import Testing

private let canBecomeAnother =
  geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")

/// Copies to a user who may write where they go, and not change all that is there.
@Suite(.timeLimit(.minutes(5)), .enabled(if: canBecomeAnother)) struct OtherOwnerTests {
  private static let user = 65534

  /// A server that runs each command as a user of its own, in the directory `user` of a home.
  private func asUser(
    installs: Bool, _ body: (SSHServer, Home) async throws -> Void
  ) async throws {
    let place = try Home()
    FileDetails.setMode(place.path, 0o755)
    let folder = place.file("user/.local/lib/bridge/bin")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    if installs {
      try FileManager.default.copyItem(
        atPath: SessionFolder.program, toPath: folder + "/bridge-host")
    }
    var configuration = SSHServerConfiguration()
    configuration.forceCommand =
      "exec setpriv --reuid=\(Self.user) --regid=\(Self.user) --clear-groups "
      + "env HOME=\(place.file("user")) sh -c \"$SSH_ORIGINAL_COMMAND\""
    try await withServer(configuration) { server, home in
      FileDetails.setMode(home.path, 0o755)
      try await body(server, home)
    }
  }

  /// Copies the content of `a` into `b`, over connections that each break after so many bytes.
  private func copy(
    _ server: SSHServer, _ home: Home, cutAfter count: Int? = nil
  ) async throws -> Outcome {
    let proxy = try await FaultProxy(to: server.port)
    if let count { try await proxy.inject(.cut(after: count, .toServer), on: .all) }
    let outcome = try await server.copy(
      ["-r", home.file("a") + "/.", "127.0.0.1:\(home.file("b"))"], home, port: proxy.port)
    await proxy.stop()
    return outcome
  }

  private func make(_ path: String, _ mode: mode_t, isOfUser: Bool) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    FileDetails.setMode(path, mode)
    guard isOfUser else { return }
    try FileManager.default.setAttributes([.ownerAccountID: Self.user], ofItemAtPath: path)
  }

  private func mode(_ path: String) -> Int { FileDetails.of(path)[0] & 0o7777 }

  /// What is copied into it is there, and what could not be done is said once.
  @Test(arguments: [true, false])
  func aDirectoryOfAnotherUserKeepsItsMode(installs: Bool) async throws {
    try await asUser(installs: installs) { server, home in
      try home.write("z", to: "a/d/z")
      _ = try home.fill("a/d/large", 3 << 20)
      try make(home.file("b"), 0o755, isOfUser: true)
      try make(home.file("b/d"), 0o777, isOfUser: false)
      // The directory is entered once more after the break.
      let outcome = try await copy(server, home, cutAfter: 2 << 20)
      #expect(outcome.code == 73, "\(outcome.error)")
      let reports = outcome.error.components(separatedBy: "its mode stays as it is").count - 1
      #expect(reports == 2, "one line, and the last one: \(outcome.error)")
      #expect(outcome.error.contains("copied 2 files"), "\(outcome.error)")
      #expect(home.data("b/d/large") == home.data("a/d/large"))
      #expect(home.read("b/d/z") == "z")
      #expect(mode(home.file("b/d")) == 0o777)
    }
  }

  @Test(arguments: [true, false])
  func aDirectoryOfAnotherUserWithTheSameModeIsNoFailure(installs: Bool) async throws {
    try await asUser(installs: installs) { server, home in
      try home.write("z", to: "a/d/z")
      FileDetails.setMode(home.file("a/d"), 0o777)
      try make(home.file("b"), 0o755, isOfUser: true)
      try make(home.file("b/d"), 0o777, isOfUser: false)
      let outcome = try await copy(server, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(home.read("b/d/z") == "z")
    }
  }

  /// A link that breaks gives a copy no more rights than it had: what it has closed itself it
  /// opens again, and nothing else.
  @Test(arguments: [true, false])
  func aDirectoryThatIsClosedStaysClosedAfterABreak(installs: Bool) async throws {
    try await asUser(installs: installs) { server, home in
      try home.write("z", to: "a/n/z")
      _ = try home.fill("a/m", 3 << 20)
      try make(home.file("b"), 0o755, isOfUser: true)
      try make(home.file("b/n"), 0o555, isOfUser: true)
      let outcome = try await copy(server, home, cutAfter: 2 << 20)
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("/n/z: Permission denied"), "\(outcome.error)")
      #expect(home.data("b/m") == home.data("a/m"))
      #expect(!FileManager.default.fileExists(atPath: home.file("b/n/z")))
    }
  }

  /// The break is in the middle of a directory that its own mode closes once it is complete.
  @Test(arguments: [true, false])
  func aDirectoryWithoutTheRightToWriteGoesOnAfterABreak(installs: Bool) async throws {
    try await asUser(installs: installs) { server, home in
      try home.write("", to: "a/d/f")
      for index in 0..<40 { _ = try home.fill("a/d/f\(index)", 100_000 + index) }
      FileDetails.setMode(home.file("a/d"), 0o555)
      try make(home.file("b"), 0o755, isOfUser: true)
      let outcome = try await copy(server, home, cutAfter: 1 << 20)
      #expect(outcome.code == 0, "\(outcome.error)")
      for index in 0..<40 { #expect(home.data("b/d/f\(index)") == home.data("a/d/f\(index)")) }
      #expect(mode(home.file("b/d")) == 0o555)
    }
  }

  /// What a directory gives to that which is made in it stays, and who may remove that.
  @Test(arguments: [true, false])
  func aDirectoryKeepsItsSetgidAndStickyBits(installs: Bool) async throws {
    try await asUser(installs: installs) { server, home in
      try home.write("y", to: "a/d/y")
      try home.write("z", to: "a/e/z")
      for name in ["d", "e"] { FileDetails.setMode(home.file("a/\(name)"), 0o750) }
      try make(home.file("b"), 0o755, isOfUser: true)
      try make(home.file("b/e"), 0o755, isOfUser: true)
      for name in ["b", "b/e"] {
        try FileManager.default.setAttributes(
          [.groupOwnerAccountID: Self.user], ofItemAtPath: home.file(name))
      }
      FileDetails.setMode(home.file("b"), 0o2755)
      FileDetails.setMode(home.file("b/e"), 0o3777)
      let outcome = try await copy(server, home)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(mode(home.file("b/d")) == 0o2750)
      #expect(mode(home.file("b/e")) == 0o3750)
    }
  }
}
