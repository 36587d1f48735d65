import Foundation
import Testing

/// What an example of a broken link must promise and keep.
struct LinkExample: Sendable, CustomTestStringConvertible {
  var name: String
  var arguments: [String] = []
  /// Its faults and promises, in the order it tells them.
  var lines: [String]

  var testDescription: String { name }

  static let all = [
    LinkExample(
      name: "agent-session",
      lines: [
        "each link is reset 200 ms after its login",
        "the client was killed after 11 recorded answers",
        "the client was killed after 23 recorded answers",
        "kept: the exit status is that of the agent",
        "kept: every request was answered exactly once",
        "kept: more links than lives of the client", "kept: nothing is left on the host",
        "all 4 promises kept",
      ]),
    LinkExample(
      name: "supervised-fleet", arguments: ["--seconds", "6"],
      lines: [
        "40 links are up", "random faults for 6.0 s", "the storm is over",
        "kept: every link answers", "kept: no descriptor is left behind",
        "kept: every error has a type", "all 4 promises kept",
      ]),
    LinkExample(
      name: "websocket-close-codes",
      lines: [
        "kept: 1000, done: it is not tried again by itself",
        "kept: 1001, going away: it comes back",
        "kept: 1008, against the rules: it is not tried again by itself",
        "kept: 1012, restart: it comes back", "kept: RST: it comes back",
        "tries once more on a new session, then asks", "kept: text that is no UTF-8: it comes back",
        "all 14 promises kept",
      ]),
    LinkExample(
      name: "websocket-handshake-stall",
      lines: [
        "[timeout] The request took longer than 5 seconds. Please try again.",
        "[serverError] The server encountered an error (503). Please try again later.",
        "connected", "kept: silence had its time", "kept: half an answer had it too",
        "kept: the busy server was left alone", "kept: nothing is left half open",
        "all 7 promises kept",
      ]),
    LinkExample(
      name: "retry-storm",
      lines: [
        "200 links are up", "the host goes down with all its links", "the host is back",
        "kept: all are back within a minute", "kept: no person is asked for anything",
        "kept: sshd refused no connection",
        "kept: few dials while the port is closed", "kept: hardly more than one dial a link since",
        "all 6 promises kept",
      ]),
    LinkExample(
      name: "severity-queue",
      lines: [
        "100 tasks fail at once, one of them over a changed host key",
        "kept: the queue keeps its bound", "has read 64, and learns that 36 were dropped",
        "kept: the worst comes first", "kept: of its level the changed host key is first",
        "kept: nothing is lost in silence", "all 5 promises kept",
      ]),
    LinkExample(
      name: "ssh-auth-failure",
      lines: [
        "connected", "the server forgets the key and drops the link",
        "[sshAuthenticationFailed] Authentication failed using publickey. Check your credentials.",
        "kept: a person is asked", "kept: the key was offered once and refused once",
        "puts the key back and chooses Reconnect", "kept: the link carries commands again",
        "kept: no second refusal", "all 6 promises kept",
      ]),
    LinkExample(
      name: "ssh-host-key-change",
      lines: [
        "the host is reinstalled: same address, another key", "kept: it is the host key",
        "kept: it is not tried again by itself", "kept: nothing was dialed after it",
        "kept: the new host was not told the user's name", "kept: terminal is up again",
        "all 6 promises kept",
      ]),
    LinkExample(
      name: "ssh-network-drop",
      lines: [
        "the network resets the connection", "kept: a command runs on the new link",
        "a black hole: the socket stays open and nothing passes",
        "dials a second link beside the doubtful one", "the second link takes over",
        "a partition of 1.5 s: old links are dead, new ones wait",
        "a reset, and no listener for 1 s", "kept: no dial storm",
        "all 9 promises kept",
      ]),
  ]
}

@Suite("Examples that break links", .timeLimit(.minutes(5)))
struct LinkExamplesTests {
  @Test(arguments: LinkExample.all)
  func tellsItsStoryAndKeepsItsPromises(example: LinkExample) async throws {
    let run = try await Example.finished(example.name, ["--seed", "7"] + example.arguments)
    #expect(run.status == 0, "\(run.lines.joined(separator: "\n"))")
    var rest = run.lines[...]
    for line in example.lines {
      let index = rest.firstIndex { $0.hasSuffix(line) }
      #expect(index != nil, "not told, or not in order: \(line)")
      if let index { rest = rest[(index + 1)...] }
    }
  }

  @Test func everyLineIsAnObjectWhenAsked() async throws {
    let run = try await Example.finished("ssh-auth-failure", ["--json"])
    #expect(run.status == 0)
    for line in run.lines where !line.isEmpty {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(object.map { Set($0.keys) } == ["at", "text", "topic"])
    }
  }

  @Test(arguments: ["--loud", "--seed", "--seed=1"])
  func argumentsThatMakeNoSenseAreRefused(argument: String) async throws {
    let run = try await Example.finished("ssh-auth-failure", [argument])
    #expect(run.status == 64)
    #expect(run.lines.first == "usage: ssh-auth-failure [--json] [--seed N] [--slow] [--seconds N]")
  }
}

extension Example {
  /// As `run`, without holding a thread while the program runs.
  static func finished(_ name: String, _ arguments: [String]) async throws -> Run {
    let products = URL(filePath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
    let process = Process()
    process.executableURL = products.appending(path: name)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    let status: Int32 = try await withCheckedThrowingContinuation { caller in
      process.terminationHandler = { caller.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { caller.resume(throwing: error) }
    }
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    let lines = String(decoding: data, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    return Run(status: status, lines: lines.map(String.init))
  }
}
