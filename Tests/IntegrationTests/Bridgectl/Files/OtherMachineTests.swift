import BridgeFaults
import Foundation
import Testing

/// Under one name another machine answers after the link was lost, or the same one with another
/// home directory: a round robin, a failover, a container that was made anew.
@Suite(.timeLimit(.minutes(3))) struct OtherMachineTests {
  private struct World {
    let server: SSHServer
    let proxy: FaultProxy
    let home: Home
    /// The home directories, of before and of after.
    let folders: [String]

    func copy(_ arguments: [String]) async throws -> Outcome {
      try await server.copy(arguments, home, port: proxy.port)
    }

    func names(_ directory: String, in folder: Int) -> Int {
      let path = "\(folders[folder])/\(directory)"
      return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).count
    }
  }

  /// The first command with `word` in it is in the one, all later ones are in the other.
  private func with(
    usesTools: Bool, cutAfter count: Int, _ direction: Direction, installsOther: Bool = true,
    _ body: (World) async throws -> Void
  ) async throws {
    let place = try Home()
    let other = place.file("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let word = usesTools ? "dd bs=1" : " files "
    var configuration = SSHServerConfiguration()
    configuration.forceCommand = """
      if [ -e '\(place.file("switch"))' ]; then export HOME='\(other)'; cd; fi; \
      case $SSH_ORIGINAL_COMMAND in *'\(word)'*) : > '\(place.file("switch"))' ;; esac; \
      eval "$SSH_ORIGINAL_COMMAND"
      """
    try await withSessions(configuration, installs: !usesTools) { server, home, folder in
      if !usesTools, installsOther { try SessionFolder(path: other).install() }
      let proxy = try await FaultProxy(to: server.port)
      if count > 0 { try await proxy.inject(.cut(after: count, direction), on: .next) }
      try await body(
        World(server: server, proxy: proxy, home: home, folders: [folder.path, other]))
      await proxy.stop()
    }
  }

  /// The tree is on neither of them, so nothing says that it is copied.
  @Test(arguments: [false, true])
  func aTreeIsNotGoneOnWith(usesTools: Bool) async throws {
    try await with(usesTools: usesTools, cutAfter: 2_000_000, .toServer) { world in
      try world.home.write("", to: "t/empty")
      for index in 1..<40 { _ = try world.home.fill("t/f\(index)", 100_000 + index) }
      let outcome = try await world.copy(["-r", world.home.file("t"), "127.0.0.1:t"])
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("another machine answers now"), "\(outcome.error)")
      #expect(outcome.error.contains("The same command copies all of it"), "\(outcome.error)")
      #expect(world.names("t", in: 0) > 0 && world.names("t", in: 1) == 0)
      // As it says.
      let again = try await world.copy(["-r", world.home.file("t"), "127.0.0.1:t"])
      #expect(again.code == 0 && world.names("t", in: 1) == 40, "\(again.error)")
    }
  }

  @Test(arguments: [false, true])
  func aTreeOfAHostIsNotGoneOnWith(usesTools: Bool) async throws {
    try await with(usesTools: usesTools, cutAfter: 2_000_000, .toClient) { world in
      for index in 0..<40 {
        for (number, folder) in world.folders.enumerated() {
          try FileManager.default.createDirectory(
            atPath: "\(folder)/t", withIntermediateDirectories: true)
          let bytes = Data(repeating: UInt8(number), count: 100_000)
          try bytes.write(to: URL(filePath: "\(folder)/t/f\(index)"))
        }
      }
      let outcome = try await world.copy(["-r", "127.0.0.1:t", world.home.file("got")])
      #expect(outcome.code != 0, "\(outcome.error)")
      #expect(outcome.error.contains("another machine answers now"), "\(outcome.error)")
    }
  }

  @Test func severalSourcesAreOnOneMachine() async throws {
    try await with(usesTools: false, cutAfter: 2_500_000, .toServer) { world in
      for folder in world.folders {
        try FileManager.default.createDirectory(
          atPath: "\(folder)/d", withIntermediateDirectories: true)
      }
      let names = ["a", "b", "c", "d"]
      for name in names { _ = try world.home.fill(name, 1_000_000) }
      let outcome = try await world.copy(names.map(world.home.file) + ["127.0.0.1:d"])
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("another machine answers now"), "\(outcome.error)")
      #expect(world.names("d", in: 1) == 0)
    }
  }

  /// The other one is known by what the usual tools of a host say.
  @Test func aTreeIsNotGoneOnWithWhereNoBridgeHostIs() async throws {
    try await with(usesTools: false, cutAfter: 2_000_000, .toServer, installsOther: false) {
      world in
      try world.home.write("", to: "t/empty")
      for index in 1..<40 { _ = try world.home.fill("t/f\(index)", 100_000 + index) }
      let outcome = try await world.copy(["-r", world.home.file("t"), "127.0.0.1:t"])
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("another machine answers now"), "\(outcome.error)")
    }
  }

  @Test func theStreamsOfAFileReachOneMachine() async throws {
    try await with(usesTools: false, cutAfter: 0, .toServer) { world in
      _ = try world.home.fill("a", 4_000_000)
      let outcome = try await world.copy(
        ["--streams", "2", world.home.file("a"), "127.0.0.1:a"])
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.error.contains("its streams reach different machines"), "\(outcome.error)")
    }
  }

  /// Of one file nothing is in place yet: it is copied to the machine that answers.
  @Test func aFileBeginsAgain() async throws {
    try await with(usesTools: false, cutAfter: 2_000_000, .toServer) { world in
      let bytes = try world.home.fill("a", 4_000_000)
      let outcome = try await world.copy([world.home.file("a"), "127.0.0.1:a"])
      #expect(outcome.code == 0, "\(outcome.error)")
      let copy = try Data(contentsOf: URL(filePath: "\(world.folders[1])/a"))
      #expect(copy == bytes)
    }
  }
}
