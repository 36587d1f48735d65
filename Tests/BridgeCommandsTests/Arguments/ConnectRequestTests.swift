import ArgumentParser
import BridgeCommands
import BridgeErrors
import Testing

@Suite struct ConnectRequestTests {
  private func request(_ arguments: String...) throws -> ConnectRequest {
    try ConnectRequest(ConnectOptions.parse(BridgeCommand.normalized(arguments)))
  }

  @Test(arguments: [
    ["-p", "0", "h"], ["-p", "3", "h:4"], ["-l", "a", "b@h"], ["-l", "-a", "h"], ["-t", "-T", "h"],
    ["-q", "-v", "h"], ["--host-key", "never", "h"], ["--password-fd", "1", "h"],
    ["--password-fd", "x", "h"], ["--events-fd", "0", "h"], ["--events-fd", "1", "h"],
    ["--retry", "-1", "h"], ["--retry", "often", "h"], ["--no-reconnect", "--retry", "3", "h"],
    ["--idempotent", "h"], ["-N", "h", "--", "true"], ["-i", "", "h"], ["--wait=soon", "h"],
    ["--keepalive", "5", "h"], ["--verdict", "0s", "h"], ["h", "--", "a\u{0}b"],
  ])
  func refusesWhatMakesNoSense(_ arguments: [String]) {
    #expect(throws: (any Error).self) {
      try ConnectRequest(ConnectOptions.parse(BridgeCommand.normalized(arguments)))
    }
  }

  @Test func anOptionIsNeverReadFromWhatFollowsTheTerminator() throws {
    let request = try request("h", "--", "-p", "22", "--wait")
    #expect(request.port == nil)
    #expect(request.command == "-p 22 --wait")
  }

  @Test func wordsAreJoinedWithSpacesAndSentAsTheyAre() throws {
    #expect(try request("h", "--", "echo", "a  b", "$(x)", "'").command == "echo a  b $(x) '")
  }

  @Test func withoutACommandThereIsAShell() throws {
    let request = try request("me@h:2200")
    #expect(request.command == nil)
    #expect(request.user == "me")
    #expect(request.port == 2200)
    #expect(request.terminal == .automatic)
    #expect(request.recovery == ConnectRequest.Recovery())
  }

  @Test func aRepeatedValueThatAgreesIsFine() throws {
    #expect(try request("-p", "22", "-l", "me", "me@h:22").port == 22)
  }

  @Test(
    arguments: [
      ([], nil), (["--wait"], .forever), (["--wait=3s"], .upTo(.seconds(3))),
      (["--wait=forever"], .forever),
    ] as [([String], ConnectRequest.Limit<Duration>?)])
  func waitHasAnEndOrNone(
    _ options: [String], _ wait: ConnectRequest.Limit<Duration>?
  ) throws {
    let arguments = BridgeCommand.normalized(options + ["h"])
    #expect(try ConnectRequest(ConnectOptions.parse(arguments)).recovery.wait == wait)
  }

  @Test(
    arguments: [
      ([], .forever), (["--retry", "forever"], .forever), (["--retry", "3"], .upTo(3)),
      (["--no-reconnect"], .upTo(0)),
    ] as [([String], ConnectRequest.Limit<Int>)])
  func retriesAreCounted(_ options: [String], _ retries: ConnectRequest.Limit<Int>) throws {
    #expect(try ConnectRequest(ConnectOptions.parse(options + ["h"])).recovery.retries == retries)
  }

  @Test(
    arguments: [
      ([], .automatic), (["-t"], .wanted), (["-t", "-t"], .forced), (["-tt"], .forced),
      (["-T"], .unwanted),
    ] as [([String], ConnectRequest.TerminalWish)])
  func aTerminalIsWantedOrNot(
    _ options: [String], _ wish: ConnectRequest.TerminalWish
  ) throws {
    #expect(try ConnectRequest(ConnectOptions.parse(options + ["h"])).terminal == wish)
  }

  @Test func shortOptionsMayTouchTheirValue() throws {
    let request = try request("-p2200", "-ime", "-oPort=3", "-lyou", "-Fa=b", "h")
    #expect(request.port == 2200)
    #expect(request.identities == ["me"])
    #expect(request.options == ["Port=3"])
    #expect(request.user == "you")
    #expect(request.config == "a=b")
  }
}
