import ArgumentParser
import BridgeCommands
import BridgeErrors
import Foundation
import Testing

@Suite struct ConnectRequestTests {
  private func request(_ arguments: String...) throws -> ConnectRequest {
    try ConnectRequest(ConnectOptions.parse(BridgeCommand.normalized(arguments)))
  }

  /// On a fast link nothing is shown but what the host sends.
  @Test(
    arguments: [(nil, false), (0, false), (59, false), (60, true), (300, true)] as [(Int?, Bool)])
  func keysAreShownBeforeTheirEchoOverASlowLink(milliseconds: Int?, isShown: Bool) {
    let roundTrip = milliseconds.map { Duration.milliseconds($0) }
    #expect(Prediction.auto.isWanted(over: roundTrip) == isShown)
    #expect(Prediction.always.isWanted(over: roundTrip))
    #expect(!Prediction.never.isWanted(over: roundTrip))
  }

  @Test(arguments: [
    ["-p", "0", "h"], ["-p", "3", "h:4"], ["-l", "a", "b@h"], ["-l", "-a", "h"], ["-t", "-T", "h"],
    ["-q", "-v", "h"], ["--host-key", "never", "h"], ["--password-fd", "1", "h"],
    ["--password-fd", "x", "h"], ["--events-fd", "0", "h"], ["--events-fd", "1", "h"],
    ["--retry", "-1", "h"], ["--retry", "often", "h"], ["--no-reconnect", "--retry", "3", "h"],
    ["--idempotent", "h"], ["-N", "h", "--", "true"], ["-i", "", "h"], ["--wait=soon", "h"],
    ["--color", "red", "h"], ["--no-color", "--color", "always", "h"],
    ["--predict", "soon", "h"], ["--catch-up", "", "h"], ["--durable", "yes", "h"],
    ["--keepalive", "5", "h"], ["--dead-after", "0s", "h"], ["h", "--", "a\u{0}b"],
  ])
  func refusesWhatMakesNoSense(_ arguments: [String]) {
    #expect(throws: (any Error).self) {
      try ConnectRequest(ConnectOptions.parse(BridgeCommand.normalized(arguments)))
    }
  }

  @Test func anOptionOfSomeWordsNamesThem() throws {
    #expect(try request("--predict", "always", "h").screen.prediction == .always)
    #expect(try request("h").screen == ScreenRequest())
    #expect(
      throws: AppError.validationError(
        field: "--predict", message: "\"so\\x1bon\" is not one of auto, always, never.")
    ) { try request("--predict", "so\u{1B}on", "h") }
  }

  @Test func theFirstPortAndUserCount() throws {
    let request = try request("-p", "22", "-l", "ann", "-p23", "-l", "bob", "h")
    #expect(request.port == 22 && request.user == "ann")
  }

  @Test func anOptionIsNeverReadFromWhatFollowsTheTerminator() throws {
    let request = try request("h", "--", "-p", "22", "--wait")
    #expect(request.port == nil)
    #expect(request.command == "-p 22 --wait")
  }

  @Test(
    arguments: [
      (["h", "uname", "-a"], ["h", "--", "uname", "-a"]),
      (["-p", "22", "h", "uname"], ["-p", "22", "h", "--", "uname"]),
      (["-tp", "22", "h", "ls"], ["-tp", "22", "h", "--", "ls"]),
      (["-p22", "h", "ls"], ["-p22", "h", "--", "ls"]),
      (["-o", "a=b", "h", "-T", "ls", "-l"], ["-o", "a=b", "h", "-T", "--", "ls", "-l"]),
      (["--wait", "h", "ls", "--wait"], ["--wait=forever", "h", "--", "ls", "--wait"]),
      (["--retry=3", "h", "a", "--", "b"], ["--retry=3", "h", "--", "a", "--", "b"]),
      (["--events-fd", "3", "h"], ["--events-fd", "3", "h"]),
      (["h", "--", "a", "b"], ["h", "--", "a", "b"]), ([], []),
      (["--", "h"], ["h"]),
      (["-p", "1", "--", "h", "a", "-b"], ["-p", "1", "h", "--", "a", "-b"]),
      (["--", "h", "--", "a"], ["h", "--", "a"]),
    ] as [([String], [String])])
  func commandBeginsWithTheSecondWord(_ words: [String], _ marked: [String]) {
    #expect(BridgeCommand.normalized(["connect"] + words) == ["connect"] + marked)
    #expect(BridgeCommand.normalized(["errors"] + words.prefix(0)) == ["errors"])
  }

  /// The parser takes the next word for the value: the host, or another option.
  @Test(arguments: [
    (["connect", "--name=", "h"], true), (["run", "--detach", "--name=", "--new", "h"], true),
    (["connect", "h", "ls", "--color="], false), (["connect", "--name=x=", "h"], false),
    (["cp", "-o", "a=", "b", "h:"], false),
  ])
  func anOptionWithoutItsValueIsRefused(_ words: [String], _ isRefused: Bool) {
    let result = Result { try BridgeCommand.requireValues(in: BridgeCommand.normalized(words)) }
    #expect("\(result)".contains("--name= has no value") == isRefused)
  }

  /// The parser says what is missing.
  @Test(arguments: ["connect", "run"], ConnectOptions.valued.sorted() + ["-tp", "-"])
  func aLineMayEndBehindAnOption(_ verb: String, _ option: String) {
    for words in [[option], ["h", option], [option, "x", option]] {
      let line = [verb] + words
      let marked = BridgeCommand.normalized(line)
      #expect(marked.filter { $0 != "--" } == line)
    }
  }

  /// The parser knows them; this list must not know fewer.
  @Test func everyOptionWithAValueIsKnown() throws {
    let dump = try JSONDecoder().decode(
      Dump.self, from: Data(ConnectCommand._dumpHelp().utf8))
    let options = dump.command.arguments.filter { $0.kind == "option" }
    let names = options.flatMap { $0.names ?? [] }.map {
      ($0.kind == "long" ? "--" : "-") + $0.name
    }
    #expect(Set(names).subtracting(["--wait"]) == ConnectOptions.valued)
    #expect(names.contains("--wait"))
  }

  private struct Dump: Decodable {
    struct Command: Decodable { var arguments: [Argument] }
    struct Argument: Decodable {
      var kind: String
      var names: [Name]?
    }
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    var command: Command
  }

  @Test(
    arguments: [
      ([], .automatic), (["--color", "auto"], .automatic), (["--color=always"], .always),
      (["--color", "never"], .never), (["--no-color"], .never),
      (["--no-color", "--color=never"], .never),
    ] as [([String], ConnectRequest.ColorWish)])
  func colorsAreAWish(_ options: [String], _ wish: ConnectRequest.ColorWish) throws {
    let arguments = BridgeCommand.normalized(options + ["h"])
    #expect(try ConnectRequest(ConnectOptions.parse(arguments)).color == wish)
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
