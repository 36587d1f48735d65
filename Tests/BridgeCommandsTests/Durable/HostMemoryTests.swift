import BridgeCommands
import Foundation
import Testing

@Suite("Which hosts have bridge-host is remembered by their keys") struct HostMemoryTests {
  private static let day: UInt64 = 86_400

  private func way(
    _ fingerprint: String, _ user: String = "me", login: String = "key"
  ) -> HostMemory.Entrance {
    HostMemory.Entrance(fingerprint: fingerprint, user: user, login: login)
  }

  @Test func aHostIsItsKeyTheUserThereAndTheLogin() {
    var memory = HostMemory()
    var isNew = memory.record(.present, at: way("SHA256:a"), now: 1)
    #expect(isNew)
    #expect(memory.finding(at: way("SHA256:a"), now: 2) == .present)
    #expect(memory.finding(at: way("SHA256:b"), now: 2) == nil)
    #expect(memory.finding(at: way("SHA256:a", "you"), now: 2) == nil)
    #expect(memory.finding(at: way("SHA256:a", login: "SHA256:other"), now: 2) == nil)
    // Known already: the file need not be written.
    isNew = memory.record(.present, at: way("SHA256:a"), now: 3)
    #expect(!isNew)
    isNew = memory.record(.absent, at: way("SHA256:a"), now: 4)
    #expect(isNew)
    #expect(memory.finding(at: way("SHA256:a"), now: 5) == .absent)
  }

  /// Another machine may install it; a host that was only slow is asked again sooner.
  @Test func whatWasNotThereIsLookedForAgain() {
    var memory = HostMemory()
    _ = memory.record(.absent, at: way("a"), now: 100)
    _ = memory.record(.silent, at: way("b"), now: 100)
    _ = memory.record(.present, at: way("c"), now: 100)
    let ends: [(String, UInt64)] = [("a", 100 + Self.day), ("b", 100 + 3600)]
    for (key, end) in ends {
      #expect(memory.finding(at: way(key), now: end - 1) != nil)
      #expect(memory.finding(at: way(key), now: end) == nil)
      // A clock that was set back.
      #expect(memory.finding(at: way(key), now: 99) == nil)
    }
    #expect(memory.finding(at: way("c"), now: 1 << 40) == .present)
  }

  /// nologin(5), a start-up file that ends the shell, a host that was slow: for a moment.
  @Test(arguments: [HostMemory.Finding.absent, .silent])
  func oneFailureOfAHostThatHadItIsNoProof(found: HostMemory.Finding) {
    var memory = HostMemory()
    _ = memory.record(found, isProven: false, at: way("other"), now: 100)
    #expect(memory.finding(at: way("other"), now: 101) == found)
    _ = memory.record(.present, at: way("a"), now: 100)
    for expected in [HostMemory.Finding.doubted, found] {
      _ = memory.record(found, isProven: false, at: way("a"), now: 101)
      #expect(memory.finding(at: way("a"), now: 102) == expected)
    }
    _ = memory.record(.present, at: way("a"), now: 103)
    _ = memory.record(found, at: way("a"), now: 104)
    #expect(memory.finding(at: way("a"), now: 105) == found)
  }

  @Test func theTextOfTheFileIsReadAgain() {
    var memory = HostMemory()
    for user in ["me", "a user", "ü\n", "%20"] {
      _ = memory.record(.present, at: way("SHA256:a+/=", user), now: 7)
    }
    #expect(HostMemory(memory.text) == memory)
    #expect(memory.text.split(separator: "\n").count == 4)
    #expect(HostMemory("a b\n\na b c d e\na b present 1\na b c present -1\n") == HostMemory())
  }

  @Test func theNewestFindingsAreKept() {
    var memory = HostMemory()
    for number in 0...HostMemory.limit {
      _ = memory.record(.present, at: way("\(number)"), now: 1)
    }
    #expect(memory.finding(at: way("0"), now: 1) == nil)
    #expect(memory.finding(at: way("1"), now: 1) == .present)
    let long = HostMemory(memory.text + memory.text + "z me key present 1\n")
    #expect(long.finding(at: way("z"), now: 1) == .present)
    #expect(long.text.split(separator: "\n").count == HostMemory.limit)
  }

  @Test func theFileIsThisUsersAndWrittenWhole() throws {
    let home = NSTemporaryDirectory() + "/bridge-memory-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: home) }
    let path = HostMemory.path(home: home, [:])
    #expect(path == "\(home)/.local/state/bridge/hosts")
    #expect(HostMemory.path(home: home, ["XDG_STATE_HOME": "/s"]) == "/s/bridge/hosts")
    #expect(HostMemory.path(home: home, ["XDG_STATE_HOME": "s"]) == path)
    #expect(HostMemory.read(path) == HostMemory())
    HostMemory.record(.present, at: way("a"), now: 1, in: path)
    HostMemory.record(.absent, at: way("b"), now: 1, in: path)
    #expect(
      try String(contentsOfFile: path, encoding: .utf8) == "a me key present 1\nb me key absent 1\n"
    )
    let folder = try FileManager.default.attributesOfItem(atPath: "\(home)/.local/state/bridge")
    #expect(folder[.posixPermissions] as? Int == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(home)/.local/state/bridge")
    #expect(names == ["hosts"])
  }
}
