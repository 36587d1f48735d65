import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// A connection by way of a program (ProxyCommand).
@Suite(.timeLimit(.minutes(5))) struct ProxyCommandTests {
  /// A program that carries its standard streams to `port`.
  private func carrier(
    to port: Int, first: String = "", then end: String = ""
  ) -> String {
    """
    python3 -c '
    import socket,sys,os,threading
    os.write(1,b"\(first)")
    s=socket.create_connection(("127.0.0.1",\(port)))
    def up():
        while True:
            d=os.read(0,65536)
            if not d: break
            s.sendall(d)
        s.shutdown(socket.SHUT_WR)
    threading.Thread(target=up,daemon=True).start()
    while True:
        d=s.recv(65536)
        if not d: break
        os.write(1,d)
    \(end)
    '
    """
  }

  private func connection(
    to server: SSHServer, _ line: String, _ shell: String = "/bin/sh",
    errors: @escaping @Sendable (String) -> Void = { _ in }
  ) -> SSHConnection {
    SSHConnection(
      to: Endpoint(host: "behind.example", port: server.port), configuration: trusting(server),
      by: ProxyCommand(line: line, shell: shell, standardError: errors))
  }

  /// As with ssh they are pipes: a socket cannot be opened by name.
  @Test func aScriptOpensItsStreamsByName() async throws {
    try await withServer { server in
      let (lines, line) = AsyncStream.makeStream(of: String.self)
      let carrier = carrier(to: server.port).replacingOccurrences(of: "'", with: "'\\''")
      let script = """
        sh -c 'set -e
        echo "by name" > /dev/stderr
        exec </dev/stdin >/dev/stdout 2>>/dev/stderr
        \(carrier)'
        """
      let connection = connection(to: server, script) { line.yield($0) }
      try await connection.connect()
      let command = try await connection.execute("echo $SSH_CONNECTION; exit 5")
      _ = try await text(command.standardOutput)
      #expect(try await command.exitStatus() == .status(5))
      for await line in lines {
        #expect(line == "by name")
        break
      }
      await connection.close()
    }
  }

  /// A program that reads nothing any more: the write that finds it so is no signal for us.
  @Test func aProgramThatClosesItsInputEndsTheConnection() async throws {
    try await withServer { server in
      let connection = connection(to: server, "sh -c 'exec 0<&-; sleep 0.2'")
      let error = await failure { try await connection.connect() }
      #expect(error?.caseName == "sshConnectionFailed", "\(String(describing: error))")
      await connection.close()
    }
  }

  @Test func aCommandRunsBehindAProgram() async throws {
    try await withServer { server in
      let connection = connection(to: server, carrier(to: server.port))
      try await connection.connect()
      let command = try await connection.execute("head -c 3000000 /dev/zero | tr '\\0' x; exit 5")
      let output = try await text(command.standardOutput)
      #expect(output.utf8.count == 3_000_000)
      #expect(try await command.exitStatus() == .status(5))
      _ = try await connection.probe(within: .seconds(20))
      await connection.close()
    }
  }

  /// What `aws ssm start-session` and its kin print before the bytes of the host.
  @Test func aProgramThatPrintsFirst() async throws {
    try await withServer { server in
      let first = "\\n\\r\\n\\nStarting session with SessionId: x\\n"
      let connection = connection(to: server, carrier(to: server.port, first: first))
      try await connection.connect()
      let command = try await connection.execute("exit 5")
      #expect(try await command.exitStatus() == .status(5))
      await connection.close()
    }
  }

  @Test func aProgramThatEndsIsNamedWithItsStatus() async throws {
    try await withServer { server in
      let (lines, line) = AsyncStream.makeStream(of: String.self)
      let connection = connection(
        // It ends after our first line: nothing that is sent to it comes too late.
        to: server,
        "sh -c 'echo first >&2; printf \"\\033[1msecond\" >&2; read line; exit 7'",
        errors: { line.yield($0) })
      let error = await failure { try await connection.connect() }
      #expect(await connection.lastFailure?.kind == .dropped)
      #expect("\(String(describing: error))".contains("ended with status 7: \\\\x1b[1msecond"))
      var seen: [String] = []
      for await line in lines {
        seen.append(line)
        if seen.count == 2 { break }
      }
      #expect(seen == ["first", "\u{1B}[1msecond"])
      await connection.close()
    }
  }

  /// Deadlines of the connection and of its supervisor.
  @Test func aProgramThatBringsNothingIsNoHostThatAccepted() async throws {
    try await withServer { server in
      var configuration = trusting(server)
      configuration.timeouts.handshake = .milliseconds(100)
      let connection = SSHConnection(
        to: Endpoint(host: "behind.example", port: server.port), configuration: configuration,
        by: ProxyCommand(line: "sleep 1000", shell: "/bin/sh", standardError: { _ in }))
      _ = await failure { try await connection.connect() }
      let context = await connection.lastFailure
      #expect(context?.kind == .silent && context?.detail != nil)
      #expect(
        connection.timeout(in: .banner, after: .seconds(1)).context?.detail == context?.detail)
      await connection.close()
    }
  }

  @Test func aShellThatIsNotThereIsSaid() async throws {
    try await withServer { server in
      let connection = connection(to: server, "true", "/no/such/shell")
      let error = await failure { try await connection.connect() }
      #expect("\(String(describing: error))".contains("cannot be started: No such file"))
      await connection.close()
    }
  }

  @Test(arguments: ["exec sleep 1000", "trap '' HUP; while :; do sleep 0.05; done"])
  func theProgramIsEndedWithItsConnection(_ line: String) async throws {
    try await withServer { server in
      let directory = try TemporaryDirectory()
      let script = try directory.write("echo $$ >&2\n\(line)\n", to: "script")
      let (lines, started) = AsyncStream.makeStream(of: String.self)
      let connection = connection(to: server, "sh \(script)", errors: { started.yield($0) })
      let connecting = Task { await failure { try await connection.connect() } }
      let first = await lines.first { _ in true }
      let process = try #require(first.flatMap { pid_t($0) })
      await connection.close()
      #expect(await connecting.value == .cancelled)
      // Ended and reaped: no process has its number.
      try await eventually { kill(process, 0) != 0 && errno == ESRCH }
    }
  }
}
