import BridgeFaults
import Foundation
import Testing

/// Descriptors that a caller hands over, or does not, and the standard output that takes no more.
@Suite(.timeLimit(.minutes(5))) struct DescriptorTests {
  @Test(arguments: ["--events-fd", "--password-fd", "--bearer-fd"], [3, 4, 5, 7, 9, 99])
  func aDescriptorOfOursIsNotTheCallers(_ option: String, _ descriptor: Int) async throws {
    let host = option == "--bearer-fd" ? "ws://127.0.0.1:1" : "127.0.0.1:1"
    let outcome = try await Home().run(["connect", option, "\(descriptor)", host])
    #expect(outcome.code == 64, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [validationError] "))
    #expect(outcome.lastLine.contains(option))
    #expect(outcome.lastLine.contains("Descriptor \(descriptor) is not open."))
  }

  @Test(arguments: [
    ("--events-fd", "9</dev/null", "Descriptor 9 is not open for writing."),
    ("--password-fd", "9>/dev/null", "Descriptor 9 is not open for reading."),
    ("--password-fd", "9</dev/null", "The first line on descriptor 9 is empty."),
    ("--password-fd", "9<<< ''", "The first line on descriptor 9 is empty."),
    ("--password-fd", "9< /", "Descriptor 9 cannot be read: Is a directory."),
    (
      "--password-fd", "9< <(head -c 9000 /dev/zero | tr '\\0' x; echo)",
      "The first line on descriptor 9 is longer than 8192 bytes."
    ),
    ("--bearer-fd", "9</dev/null", "The first line on descriptor 9 is empty."),
    ("--bearer-fd", "9< /", "Descriptor 9 cannot be read: Is a directory."),
    (
      "--bearer-fd", "9< <(head -c 9000 /dev/zero | tr '\\0' x; echo)",
      "The first line on descriptor 9 is longer than 8192 bytes."
    ),
  ])
  func whatADescriptorCannotGiveIsTold(
    _ option: String, _ redirection: String, _ problem: String
  ) async throws {
    let host = option == "--bearer-fd" ? "ws://127.0.0.1:1" : "127.0.0.1:1"
    let outcome = try await Home().run(
      ["connect", "--json", option, "9", host], through: "exec \"$0\" \"$@\" \(redirection)")
    #expect(outcome.code == 64, "\(outcome.error)")
    #expect(outcome.error.contains(option))
    #expect(outcome.error.contains(problem), "\(outcome.error)")
    #expect(outcome.lastLine.contains("\"event\":\"exit\",\"code\":64"))
  }

  /// A part of a file is not all of it: a failed read is no end of the input.
  @Test(arguments: [[], ["--idempotent"]])
  func standardInputThatCannotBeReadIsNoEnd(_ option: [String]) async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + option + ["127.0.0.1", "--", "cat; exit 0"],
        through: "exec \"$0\" \"$@\" </")
      #expect(outcome.code == 66, "\(outcome.error)")
      #expect(outcome.lastLine.contains("standard input"))
      #expect(outcome.lastLine.contains("Is a directory"))
    }
  }

  /// So nohup(1) leaves it of a terminal.
  @Test(arguments: [[], ["--idempotent"]])
  func standardInputForWritingOnlyIsEmpty(_ option: [String]) async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + option + ["127.0.0.1", "--", "cat; echo done; exit 3"],
        through: "exec \"$0\" \"$@\" 0>/dev/null")
      #expect(outcome.code == 3, "\(outcome.error)")
      #expect(outcome.text == "done\n")
    }
  }

  @Test(arguments: [1500, 8192])
  func aLongBearerTokenArrivesWhole(_ count: Int) async throws {
    let peer = try await ScriptedTCPPeer([
      .readUntil("\r\n\r\n"), .send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"),
      .finish,
    ])
    let token = String(repeating: "t", count: count)
    let outcome = try await Home().run(
      ["connect", "--bearer-fd", "0", "ws://127.0.0.1:\(peer.port)/"],
      input: Array("\(token)\n".utf8))
    #expect(outcome.code == 77, "\(outcome.error)")
    let request = String(decoding: await peer.received[0], as: UTF8.self)
    #expect(request.lowercased().contains("authorization: bearer \(token)\r\n"))
    await peer.stop()
  }

  private static let isFull = "No space left on device"

  @Test(arguments: [
    (">/dev/full", isFull), ("> \"$HOME/out\"", "File too large"),
    ("1</dev/null", "Bad file descriptor"),
  ])
  func anOutputThatCannotBeWrittenIsTold(_ redirection: String, _ reason: String) async throws {
    try await withServer { server, home in
      let outcome = try await home.run(
        server.options(home) + ["127.0.0.1", "--", "head -c 3000000 /dev/zero"],
        through: "ulimit -f 1000; exec \"$0\" \"$@\" \(redirection)")
      #expect(outcome.code == 73, "\(outcome.error)")
      #expect(outcome.lastLine.hasPrefix("bridgectl: [fileWriteError] "), "\(outcome.error)")
      #expect(outcome.lastLine.contains("standard output could not be written: \(reason)"))
    }
  }

  @Test(arguments: [["errors"], ["version"], ["--help"], ["--version"]])
  func norIsALookUpWithoutAWord(_ arguments: [String]) async throws {
    let outcome = try await Home().run(arguments, through: "exec \"$0\" \"$@\" >/dev/full")
    #expect(outcome.code == 73, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [fileWriteError] "))
  }

  @Test func messagesThatCannotBeWrittenAreReported() async throws {
    let peer = try await ScriptedWebSocketPeer([WebSocketScript([.text("hello")], echoes: true)])
    let outcome = try await Home().run(
      ["connect", "ws://127.0.0.1:\(peer.port)/"],
      through: "exec \"$0\" \"$@\" >/dev/full < <(exec sleep 1000)")
    #expect(outcome.code == 73, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [fileWriteError] "), "\(outcome.error)")
    await peer.stop()
  }

  /// Not even the first thread of the runtime can be made, or its timers, which would end the
  /// process.
  @Test(arguments: 4...7) func withFewerNothingCrashes(_ count: Int) async throws {
    let outcome = try await Home().run(
      ["connect", "127.0.0.1:1"], through: "ulimit -n \(count); exec \"$0\" \"$@\"")
    #expect(outcome.code == 75 && outcome.error.contains("no file descriptors left"))
    let other = try await Home().run(
      ["ssh", "127.0.0.1", "true"], through: "ulimit -n \(count); exec \"$0\" \"$@\"")
    #expect(other.code == 255 && other.error.contains("no file descriptors left"))
  }

  /// What the runtime would wait for without an end is looked for before; with a little more all is
  /// done.
  @Test(.enabled(if: !Child.isSanitized), arguments: [false, true])
  func whereThreadsCannotBeStartedNothingHangs(isSSH: Bool) async throws {
    try await withServer { server, home in
      let link =
        isSSH
        ? ["ssh", "-F", "none", "-p", "\(server.port)", "-i", server.identityFile]
          + ["-o", "UserKnownHostsFile=\(home.file("known_hosts"))"]
        : server.options(home)
      var ends: Set<String> = []
      // From what the program cannot be loaded with to what is enough, in KiB.
      for size in stride(from: 40_000, through: 320_000, by: 40_000) {
        let outcome = try await home.run(
          link + ["127.0.0.1", "--", "seq 3"],
          through: "ulimit -v \(size); exec \"$0\" \"$@\"")
        let isShort = outcome.error.contains("lets the process have no more threads")
        switch outcome.code {
        case 0 where outcome.text == "1\n2\n3\n": ends.insert("done")
        case 75 where isShort, 255 where isShort: ends.insert("refused")
        case 127: ends.insert("not loaded")
        case let code: Issue.record("\(size): \(code), \(outcome.error)")
        }
      }
      #expect(ends.isSuperset(of: ["done", "refused"]))
    }
  }

  /// With so few, not even the event loop can be made: that ends neither us nor who uses us.
  @Test(
    arguments: 8...16,
    [("127.0.0.1:1", "sshConnectionFailed"), ("ws://127.0.0.1:1", "webSocketConnectionFailed")])
  func withoutDescriptorsThisMachineIsNamed(
    _ count: Int, _ host: (String, name: String)
  ) async throws {
    let outcome = try await Home().run(
      ["connect", "--batch", host.0], through: "ulimit -n \(count); exec \"$0\" \"$@\"")
    #expect(outcome.code == 75, "\(outcome.error)")
    #expect(outcome.lastLine.hasPrefix("bridgectl: [\(host.name)] "), "\(outcome.error)")
    #expect(outcome.lastLine.contains("no file descriptors left"))
  }
}
