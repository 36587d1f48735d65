import BridgeFaults
import BridgeTerminalState
import Foundation
import Testing

/// A session of a large terminal, looked at from a phone.
@Suite(.timeLimit(.minutes(2))) struct ViewTests {
  /// What a terminal of this size shows after all that was written to it.
  private func rows(_ screen: Screen, rows: Int, columns: Int) -> [String] {
    var terminal = TerminalScreen(rows: rows, columns: columns)
    terminal.track(Array(screen.transcript.utf8))
    return (0..<rows).map { terminal.text(ofRow: $0) }
  }

  /// What is said of the end is not written into the screen that is left.
  @Test func aWindowSaysHowTheSessionEnded() async throws {
    try await withSessions { server, home, folder in
      var writer = try home.start(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1"],
        on: Terminal(columns: 100, rows: 30))
      writer.type("PS1=; stty -echo; echo rea''dy\r")
      try await writer.see("ready\r\n")
      var phone = try home.start(
        ["attach", "--view"] + server.link(home) + ["127.0.0.1"],
        on: Terminal(columns: 45, rows: 20))
      try await phone.see("Viewing 100x30")
      let id = try #require(folder.ids.first)
      _ = try await home.run(["kill"] + server.link(home) + ["127.0.0.1", id])
      #expect(await phone.end() == 129)
      let shown = rows(phone, rows: 20, columns: 45)
      #expect(shown.contains { $0.hasPrefix("bridgectl: SIGHUP ended it.") }, "\(shown)")
      _ = await writer.end()
    }
  }

  @Test func aPhoneSeesThePartWithTheCursor() async throws {
    try await withSessions { server, home, _ in
      let large = try Terminal(columns: 160, rows: 40)
      var writer = try home.start(
        ["connect", "--durable=require"] + server.link(home) + ["127.0.0.1"], on: large)
      writer.type("PS1=; stty -echo; cd; echo rea''dy\r")
      try await writer.see("ready\r\n")
      writer.type(
        "printf '\\033[2J\\033[10;120Hfar aw''ay\\033[40;1HAllow th''is? '; read word\r")
      try await writer.see("Allow this?")
      var phone = try home.start(
        ["attach", "--view"] + server.link(home) + ["127.0.0.1"],
        on: Terminal(columns: 45, rows: 20))
      try await phone.see("Allow this?")
      // It says what it is.
      try await phone.see("Viewing 160x40: arrows move, ~? lists keys.")
      phone.type("q")
      try await phone.see("You only view: ~. leaves, ~? lists keys.")
      // It follows what is printed, and moves with the keys.
      writer.type("yes\r")
      writer.type("printf 'got %s\\n' $word\r")
      try await phone.see("got yes")
      phone.type("kkllll")
      try await phone.see("far away")
      phone.type("f")
      while !rows(phone, rows: 20, columns: 45).contains("got yes") { try await phone.readMore() }
      // The program's terminal becomes as large as the phone's, which shows all of it then.
      large.resize(columns: 45, rows: 20)
      // What is typed does not wait for the new size.
      writer.type("until [ \"$(stty size)\" = '2''0 45' ]; do :; done; stty size; echo do''ne\r")
      try await phone.see("20 45")
      try await phone.see("done")
      phone.type("~d")
      #expect(await phone.end() == 0)
      #expect(phone.isRestored)
      #expect(phone.transcript.contains("bridgectl attach --view "))
      let shown = rows(phone, rows: 20, columns: 45)
      #expect(shown.contains("20 45") && shown.contains("done"))
      // What was painted under the hint is shown with it.
      let (begun, ended) = ("\u{1B}[?2026h", "\u{1B}[?2026l")
      #expect(phone.transcript.ranges(of: begun).count == phone.transcript.ranges(of: ended).count)
      writer.type("exit 4\r")
      #expect(await writer.end() == 4)
    }
  }

  /// An agent that draws its question once, wider than the phone on which it is answered.
  @Test func aPhoneAnswersAndTheProgramKeepsItsSize() async throws {
    try await withSessions { server, home, _ in
      let link = server.link(home) + ["127.0.0.1"]
      var first = try home.start(
        ["connect", "--durable=require"] + link, on: Terminal(columns: 100, rows: 30))
      first.type("PS1=; stty -echo; cd; echo rea''dy\r")
      try await first.see("ready\r\n")
      first.type(
        "printf '\\033[H\\033[2J\\033[29;1HMay I remove %s fi''les?%40s\\n' 40 'ye''s/no'; "
          + "read word; stty size; echo got $word\r")
      try await first.see("yes/no")
      let phone = try Terminal(columns: 45, rows: 20)
      var answer = try home.start(["attach", "--keep-size", "--take"] + link, on: phone)
      try await answer.see("May I remove 40 files?")
      #expect(await first.end() == 75)
      try await answer.see("Window on 100x30: Alt-arrows move, ~? helps.")
      answer.type("~l")
      try await answer.see("yes/no")
      phone.resize(columns: 40, rows: 20)
      // What is typed shows where it goes; from there the window is moved as well.
      answer.type("sure")
      while !rows(answer, rows: 20, columns: 40).contains("May I remove 40 files?") {
        try await answer.readMore()
      }
      answer.type("\u{1B}[1;3C\u{1B}[1;3C")
      while !rows(answer, rows: 20, columns: 40).contains(where: { $0.hasSuffix("yes/no") }) {
        try await answer.readMore()
      }
      answer.type("\r")
      try await answer.see("30 100")
      try await answer.see("got sure")
      answer.type("~d")
      #expect(await answer.end() == 0)
      #expect(answer.isRestored)
      #expect(answer.transcript.contains("bridgectl attach --keep-size "))
      var again = try home.start(["attach"] + link, on: Terminal(columns: 100, rows: 30))
      let question = "May I remove 40 files?" + String(repeating: " ", count: 34) + "yes/no"
      while !rows(again, rows: 30, columns: 100).contains("got sure") {
        try await again.readMore()
      }
      let shown = rows(again, rows: 30, columns: 100).filter { !$0.isEmpty }
      #expect(shown == [question, "30 100", "got sure"])
      again.type("exit 5\r")
      #expect(await again.end() == 5)
    }
  }

  /// As after Ctrl-S: the keys are painted later, and reach the program at once.
  @Test func whatIsTypedDoesNotWaitForATerminalThatTakesNothing() async throws {
    try await withSessions { server, home, _ in
      let link = server.link(home) + ["127.0.0.1"]
      var first = try home.start(
        ["connect", "--durable=require"] + link, on: Terminal(columns: 100, rows: 30))
      first.type("PS1=; stty -echo; cd; echo rea''dy; read word; echo go''t $word\r")
      try await first.see("ready\r\n")
      let phone = try Terminal(columns: 45, rows: 20)
      var writer = try home.start(["attach", "--keep-size", "--take"] + link, on: phone)
      try await writer.see("Window on 100x30: Alt-arrows move, ~? helps.")
      var viewer = try home.start(
        ["attach", "--view"] + link, on: Terminal(columns: 100, rows: 30))
      try await viewer.see("ready")
      phone.stopOutput()
      writer.type("\u{1B}[1;3Bsu\u{1B}[1;3Are\u{1B}[1;3C\r")
      try await viewer.see("got sure")
      phone.resumeOutput()
      while !rows(writer, rows: 20, columns: 45).contains("got sure") {
        try await writer.readMore()
      }
      writer.type("exit 6\r")
      #expect(await writer.end() == 6)
      #expect(await viewer.end() == 6)
    }
  }
}
