import BridgeFaults
import Foundation
import Testing

/// `--json` and `--events-fd` as docs/events.md has them.
@Suite(.timeLimit(.minutes(5))) struct EventTests {
  private func events(_ text: String) throws -> [[String: Any]] {
    try text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
      return try #require(object as? [String: Any])
    }
  }

  @Test func standardErrorIsJSONLinesOnly() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + [
          "--json", "127.0.0.1", "--", #"printf 'a\033é' >&2; echo out; exit 3"#,
        ])
      #expect(outcome.text == "out\n")
      #expect(outcome.code == 3)
      #expect(!outcome.error.utf8.contains(0x1B))
      let events = try events(outcome.error)
      #expect(events.allSatisfy { $0["v"] as? Int == 1 && $0["time"] is String })
      let names = events.compactMap { $0["event"] as? String }
      #expect(
        names.filter { $0 != "phase" } == [
          "attempt", "recovered", "connected", "started", "stderr", "closed", "counters", "exit",
        ])
      #expect(events.first { $0["event"] as? String == "stderr" }?["text"] as? String == "a\u{1B}é")
      #expect(events.last?["code"] as? Int == 3)
    }
  }

  @Test("standard error is passed on whole, however long its chunks and whatever is in them")
  func longStandardError() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + ["--json", "127.0.0.1", "--", "head -c 3000000 /dev/zero >&2"])
      #expect(outcome.code == 0)
      let texts = try events(outcome.error).compactMap { $0["text"] as? String }
      #expect(texts.map(\.utf8.count).reduce(0, +) == 3_000_000)
      #expect(texts.allSatisfy { $0.utf8.count <= 16 << 10 })
    }
  }

  @Test func aHostKeyThatWasNotKnownIsToldOnce() async throws {
    try await withServer(isKnown: false) { server, home in
      for isNew in [true, false] {
        let outcome = try await home.run(
          server.options(home) + [
            "--host-key", "accept-new", "--json", "127.0.0.1", "--", "true",
          ])
        let added = try events(outcome.error).first { $0["event"] as? String == "hostKeyAdded" }
        #expect((added != nil) == isNew, "\(outcome.error)")
        guard let added else { continue }
        #expect(added["keyType"] as? String == "ED25519")
        #expect((added["fingerprint"] as? String)?.hasPrefix("SHA256:") == true)
        #expect(added["file"] as? String == home.file("known_hosts"))
      }
    }
  }

  @Test(arguments: [
    (["connect", "--json", "a b"], "validationError", 64),
    (["connect", "--json", "--nonsense", "a"], "validationError", 64),
    (["connect", "--json", "-oRefuseConnection=closed", "a"], "featureUnavailable", 78),
  ])
  func aFailureIsAnObjectToo(_ arguments: [String], _ name: String, _ code: Int) async throws {
    let outcome = try await Home().run(arguments)
    let events = try events(outcome.error)
    let failure = try #require(events.first { $0["event"] as? String == "error" })
    #expect(failure["case"] as? String == name)
    #expect(failure["exitCode"] as? Int == code)
    #expect(Int(outcome.code) == code)
  }
}
