import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// A link that is lost while the reader of bridgectl's output does not read: what came is printed
/// once, what did not come is fetched again or said.
@Suite(.timeLimit(.minutes(5))) struct SlowOutputTests {
  /// Of a run whose reader waits at a gate.
  private struct Gated {
    let home: Home
    let running: Home.Running

    /// `redirection` sends what is slow into the pipe.
    init(_ home: Home, _ arguments: [String], _ redirection: String) throws {
      self.home = home
      running = try home.start(
        arguments,
        through: """
          mkfifo "$HOME/gate"
          "$0" "$@" \(redirection) | { read go <"$HOME/gate"; sleep 0.5; cat; }
          exit ${PIPESTATUS[0]}
          """)
    }

    func open() throws {
      try FileHandle(forWritingTo: URL(fileURLWithPath: home.file("gate")))
        .write(contentsOf: Data("go\n".utf8))
    }
  }

  private static let numbers = (1...150_000).map { "\($0)\n" }.joined()

  /// Whether what stands between messages is `whole`. A message that comes amid a line breaks it:
  /// it begins on one of its own.
  private static func are(_ parts: ArraySlice<Substring>, _ whole: Substring) -> Bool {
    guard let first = parts.first else { return whole.isEmpty }
    let ends = parts.count > 1 && first.hasSuffix("\n") ? [first, first.dropLast()] : [first]
    return ends.contains {
      whole.hasPrefix($0) && are(parts.dropFirst(), whole.dropFirst($0.count))
    }
  }

  @Test(arguments: ["", "2>&1 >/dev/null"])
  func logsArePrintedWholeAndOnce(redirection: String) async throws {
    try await withSessions { server, home, _ in
      let command = redirection.isEmpty ? "seq 1 150000" : "seq 1 150000 >&2"
      let link = server.link(home)
      let started = try await home.run(["run", "--detach"] + link + ["127.0.0.1", "--", command])
      let id = started.text.trimmingCharacters(in: .newlines)
      #expect(try await home.run(["wait"] + link + ["127.0.0.1", id]).code == 0)
      let proxy = try await FaultProxy(to: server.port)
      // More than pipe and buffers take: the reader is waited for when the link is cut.
      try await proxy.inject(.cut(after: 300_000), on: .all)
      let logs = try Gated(
        home, ["logs"] + server.link(home, port: proxy.port) + ["127.0.0.1", id], redirection)
      _ = try await proxy.first { $0.connection == 2 && $0.kind == .connected }
      try await proxy.heal()
      try logs.open()
      let outcome = try await logs.running.outcome()
      #expect(outcome.code == 0, "\(outcome.error.prefix(500))")
      let parts = outcome.text.split(separator: /bridgectl: .*\n/, omittingEmptySubsequences: false)
      let isWhole = Self.are(parts[...], Self.numbers[...])
      #expect(isWhole, "\(parts.map(\.utf8.count)) of \(Self.numbers.utf8.count) bytes")
      await proxy.stop()
    }
  }

  /// The output of a run of which the link is lost is still being written when the next link is
  /// up: the command is not sent again.
  @Test(arguments: [(rest: "sleep 60", code: Int32(74)), (rest: "exit 7", code: 7)])
  func aPlainCommandRunsOnce(row: (rest: String, code: Int32)) async throws {
    try await withServer { server, home in
      let marks = home.file("runs")
      // The time that what is under way may take.
      let mark = "(sleep 5; echo >>\(marks)) </dev/null >/dev/null 2>&1 &"
      let command = "echo run >>\(marks); head -c 600000 /dev/zero; \(mark) \(row.rest)"
      let run = try Gated(
        home,
        server.options(home) + [
          "--durable=never", "--host-key", "accept-new", "127.0.0.1", "--", command,
        ], "")
      try await eventually {
        (try? String(contentsOfFile: marks, encoding: .utf8)) == "run\n\n"
      }
      await server.killSessions()
      try await eventually { await server.log.ranges(of: "Accepted publickey for").count == 2 }
      try run.open()
      let outcome = try await run.running.outcome()
      #expect(outcome.code == row.code, "\(outcome.error.prefix(500))")
      #expect(outcome.output.count == 600_000)
      #expect(try String(contentsOfFile: marks, encoding: .utf8) == "run\n\n")
    }
  }

  /// The last link is lost when all has come and the reader is slow: the output is written, and the
  /// status is that of the command.
  @Test(arguments: ["--idempotent", "shell"])
  func whatEndsWithItsLastLinkIsPrintedWhole(kind: String) async throws {
    try await withServer { server, home in
      let marks = home.file("runs")
      let mark = "(sleep 5; echo >>\(marks)) </dev/null >/dev/null 2>&1 &"
      let script = home.file("script")
      try "head -c 600000 /dev/zero; \(mark) exit 7".write(
        toFile: script, atomically: true, encoding: .utf8)
      let isShell = kind == "shell"
      let run = try Gated(
        home,
        server.options(home) + (isShell ? [] : [kind]) + [
          "--durable=never", "--no-reconnect", "--host-key", "accept-new", "127.0.0.1",
        ] + (isShell ? [] : ["--", "sh \(script)"]), isShell ? "<\(script)" : "")
      try await eventually { (try? String(contentsOfFile: marks, encoding: .utf8)) == "\n" }
      await server.killSessions()
      try run.open()
      let outcome = try await run.running.outcome()
      #expect(outcome.code == 7, "\(outcome.error.prefix(500))")
      #expect(outcome.output.count == 600_000)
    }
  }

  /// Sends 600,000 bytes to the one who connects, and closes at once or when that does.
  private final class Target: Sendable {
    let port: Int
    private let process = Process()

    init(staysOpen: Bool) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
      process.arguments = [
        "-c",
        """
        import socket
        s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(1)
        print(s.getsockname()[1],flush=True)
        c,_=s.accept(); c.sendall(b"x"*600000)
        \(staysOpen ? "c.recv(1)" : "c.close()")
        """,
      ]
      let output = Pipe()
      process.standardOutput = output
      process.standardInput = FileHandle.nullDevice
      try process.run()
      let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      port = try #require(Int(text.trimmingCharacters(in: .newlines)))
    }

    func end() {
      if process.isRunning { process.terminate() }
      process.waitUntilExit()
    }
  }

  @Test func aTunnelOfStandardStreamsSaysThatItsLinkWasLost() async throws {
    try await withServer { server, home in
      let target = try Target(staysOpen: true)
      let proxy = try await FaultProxy(to: server.port)
      // In order: a reset takes what is under way with it.
      try await proxy.inject(.cut(after: 300_000, by: .finish), on: .all)
      let tunnel = try Gated(
        home,
        server.options(home, port: proxy.port) + [
          "--no-reconnect", "--host-key", "accept-new", "-W", "127.0.0.1:\(target.port)",
          "127.0.0.1",
        ], "")
      _ = try await proxy.first { $0.connection == 1 && $0.isClosed }
      try tunnel.open()
      let outcome = try await tunnel.running.outcome()
      #expect(outcome.code == 69, "\(outcome.error)")
      #expect(outcome.lastLine.contains("The connection was lost."))
      // All that came before the cut, which counts the login and what belongs to the protocol.
      #expect(outcome.output.count > 200_000)
      await proxy.stop()
      target.end()
    }
  }

  /// As with ssh.
  @Test func aTunnelOfStandardStreamsEndsWithItsTarget() async throws {
    try await withServer { server, home in
      let target = try Target(staysOpen: false)
      let outcome = try await home.start(
        server.options(home) + ["-W", "127.0.0.1:\(target.port)", "127.0.0.1"],
        through: #"mkfifo "$HOME/open"; exec "$0" "$@" <>"$HOME/open""#
      ).outcome()
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(outcome.output.count == 600_000)
      target.end()
    }
  }
}

extension FaultEvent {
  fileprivate var isClosed: Bool { if case .closed = kind { true } else { false } }
}
