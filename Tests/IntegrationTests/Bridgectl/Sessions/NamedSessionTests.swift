import BridgeFaults
import Foundation
import Testing

/// A name is one session: who asks for it again returns to it.
@Suite(.timeLimit(.minutes(2))) struct NamedSessionTests {
  @Test func aShellIsReturnedToByItsName() async throws {
    try await withSessions { server, home, folder in
      let arguments = ["connect", "--name", "work"] + server.link(home) + ["127.0.0.1"]
      var first = try home.start(arguments, on: Terminal())
      first.type("PS1=; stty -echo; kept=value; echo rea''dy\r")
      try await first.see("ready\r\n")
      first.type("~d")
      #expect(await first.end() == 0)
      var second = try home.start(arguments, on: Terminal())
      try await second.see("bridgectl: back in work, which was started ")
      second.type("echo is=$kept; exit 4\r")
      try await second.see("is=value\r\n")
      #expect(await second.end() == 4)
      #expect(folder.ids.count == 1)
    }
  }

  @Test func aCommandIsReturnedToAndNoOtherOneIsTakenForIt() async throws {
    try await withSessions { server, home, folder in
      let go = home.file("go")
      let options = ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--"]
      let command = "echo here; until [ -e \(go) ]; do sleep 0.02; done; exit 3"
      let first = try home.start(options + [command])
      try await first.prints("here\n")
      first.child.signal(SIGTERM)
      #expect(try await first.outcome().code == 143)
      let other = try await home.run(options + ["true"])
      #expect(other.code == 64)
      #expect(other.error.contains("job runs another command: --new starts this one beside it"))
      let beside = try await home.run(["connect", "--new"] + options.dropFirst() + ["exit 5"])
      #expect(beside.code == 5)
      let second = try home.start(options + [command])
      try await second.prints("here\n")
      try home.write("", to: "go")
      let outcome = try await second.outcome()
      #expect(outcome.code == 3 && outcome.text == "here\n", "\(outcome.error)")
    }
  }

  /// Whose run has a name is to be returned to.
  @Test func withoutBridgeHostTheNameIsSaidToBeNone() async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--", "echo ran; exit 3"])
      #expect(outcome.code == 3 && outcome.text == "ran\n")
      #expect(
        outcome.error.contains("has no bridge-host, so what runs now ends with its link, and"))
      #expect(outcome.error.contains("job names nothing there: `bridgectl install "))
    }
  }

  @Test func withoutOneThatRunsANewOneIsStarted() async throws {
    try await withSessions { server, home, folder in
      let options = ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--"]
      for status: Int32 in [3, 4] {
        let outcome = try await home.run(options + ["exit \(status)"])
        #expect(outcome.code == status, "\(outcome.error)")
      }
      #expect(folder.ids.isEmpty)
    }
  }

  @Test func withoutBridgeHostItRunsPlainly() async throws {
    try await withSessions(installs: false) { server, home, _ in
      let options = ["connect", "--name", "job"] + server.link(home) + ["127.0.0.1", "--"]
      let outcome = try await home.run(options + ["echo here; exit 6"])
      #expect(outcome.code == 6 && outcome.text == "here\n", "\(outcome.error)")
    }
  }
}
