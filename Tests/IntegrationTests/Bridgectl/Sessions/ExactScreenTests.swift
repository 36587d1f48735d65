import BridgeFaults
import Foundation
import Testing

/// Programs that draw once and then change little, as agents do, seen from another terminal.
@Suite(.timeLimit(.minutes(2))) struct ExactScreenTests {
  @Test func aQuestionThatWasDrawnLongAgoIsSeenAndAnswered() async throws {
    try await withSessions { server, home, _ in
      var screen = try home.start(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1"], on: Terminal())
      screen.type("PS1=; stty -echo; cd; echo rea''dy\r")
      try await screen.see("ready\r\n")
      let spinner =
        "awk 'BEGIN { while (n++ < 20000) "
        + "printf \"\\0337\\033[1;1H\\033[3%dm*\\033[m\\0338\", n % 8 }'"
      screen.type(
        "printf '\\033[2J\\033[5HAllow th''is? '; \(spinner); printf '\\a\\033]0;du''e\\a'; "
          + "read word; echo got $word\r")
      try await screen.see("due\u{7}")
      screen.type("~d")
      #expect(await screen.end() == 0)
      var other = try home.start(["attach"] + server.link(home) + ["127.0.0.1"], on: Terminal())
      try await other.see("Allow this?")
      #expect(other.transcript.utf8.count < 16 << 10)
      other.type("yes\r")
      try await other.see("got yes")
      other.type("exit 4\r")
      #expect(await other.end() == 4)
    }
  }
}
