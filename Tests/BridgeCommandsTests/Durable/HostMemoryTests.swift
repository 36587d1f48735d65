import BridgeCommands
import Foundation
import Testing

@Suite("Which hosts have bridge-host is remembered by their keys") struct HostMemoryTests {
  private static let day: UInt64 = 86_400

  @Test func aHostIsItsKeyAndTheUserThere() {
    var memory = HostMemory()
    var isNew = memory.record(.present, fingerprint: "SHA256:a", user: "me", now: 1)
    #expect(isNew)
    #expect(memory.finding(fingerprint: "SHA256:a", user: "me", now: 2) == .present)
    #expect(memory.finding(fingerprint: "SHA256:b", user: "me", now: 2) == nil)
    #expect(memory.finding(fingerprint: "SHA256:a", user: "you", now: 2) == nil)
    // Known already: the file need not be written.
    isNew = memory.record(.present, fingerprint: "SHA256:a", user: "me", now: 3)
    #expect(!isNew)
    isNew = memory.record(.absent, fingerprint: "SHA256:a", user: "me", now: 4)
    #expect(isNew)
    #expect(memory.finding(fingerprint: "SHA256:a", user: "me", now: 5) == .absent)
  }

  /// Another machine may install it; a host that was only slow is asked again sooner.
  @Test func whatWasNotThereIsLookedForAgain() {
    var memory = HostMemory()
    _ = memory.record(.absent, fingerprint: "a", user: "me", now: 100)
    _ = memory.record(.silent, fingerprint: "b", user: "me", now: 100)
    _ = memory.record(.present, fingerprint: "c", user: "me", now: 100)
    let ends: [(String, UInt64)] = [("a", 100 + Self.day), ("b", 100 + 3600)]
    for (key, end) in ends {
      #expect(memory.finding(fingerprint: key, user: "me", now: end - 1) != nil)
      #expect(memory.finding(fingerprint: key, user: "me", now: end) == nil)
      // A clock that was set back.
      #expect(memory.finding(fingerprint: key, user: "me", now: 99) == nil)
    }
    #expect(memory.finding(fingerprint: "c", user: "me", now: 1 << 40) == .present)
  }

  @Test func theTextOfTheFileIsReadAgain() {
    var memory = HostMemory()
    for user in ["me", "a user", "ü\n", "%20"] {
      _ = memory.record(.present, fingerprint: "SHA256:a+/=", user: user, now: 7)
    }
    #expect(HostMemory(memory.text) == memory)
    #expect(memory.text.split(separator: "\n").count == 4)
    #expect(HostMemory("a b\n\na b c d\na b present -1\n") == HostMemory())
  }

  @Test func theNewestFindingsAreKept() {
    var memory = HostMemory()
    for number in 0...HostMemory.limit {
      _ = memory.record(.present, fingerprint: "\(number)", user: "me", now: 1)
    }
    #expect(memory.finding(fingerprint: "0", user: "me", now: 1) == nil)
    #expect(memory.finding(fingerprint: "1", user: "me", now: 1) == .present)
    let long = HostMemory(memory.text + memory.text + "z me present 1\n")
    #expect(long.finding(fingerprint: "z", user: "me", now: 1) == .present)
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
    HostMemory.record(.present, fingerprint: "a", user: "me", now: 1, at: path)
    HostMemory.record(.absent, fingerprint: "b", user: "me", now: 1, at: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "a me present 1\nb me absent 1\n")
    let folder = try FileManager.default.attributesOfItem(atPath: "\(home)/.local/state/bridge")
    #expect(folder[.posixPermissions] as? Int == 0o700)
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(home)/.local/state/bridge")
    #expect(names == ["hosts"])
  }
}
